"""COVID19.BR: WhatsApp messages about the pandemic in Brazilian Portuguese."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    host,
    meta_column,
    numbered,
)


def load(bundle: Bundle) -> Loaded:
    """One CSV with line breaks inside quoted texts.

    `source` is the page by which a message was checked: evidence, not where the message came from.
    `meta` keeps the 0-based row, by which the published validation names its decisions.
    """
    raw = Table.read(bundle, bundle.one("wpp_2020.csv", "*.csv"))
    rows = raw.pick(["text", "misinformation"], ["source", "shares", "revision"]).with_row_index(
        "row"
    )
    records = rows.select(
        numbered("covid19-br", rows.height),
        "text",
        label_raw="misinformation",
        topic=pl.lit("COVID-19"),
        meta=meta_column(rows, ["row", "shares", "revision"]),
    )
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-check",
        rank=pl.lit(1),
        url=rows["source"],
        provider=pl.lit("source column"),
    ).with_columns(domain=host(pl.col("url")))
    return Loaded(records, {"evidence": evidence.drop_nulls("url")})
