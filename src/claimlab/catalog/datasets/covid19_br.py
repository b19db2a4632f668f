"""COVID19.BR: WhatsApp messages about the pandemic in Brazilian Portuguese."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Shares,
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
        kind=pl.lit("post"),
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


DATASET = Entry(
    card=Card(
        name="covid19-br",
        title="COVID19.BR",
        summary=(
            "Messages from 236 public WhatsApp groups in Brazil, spring 2020, labelled as"
            " misinformation or not, with the number of times each was shared."
        ),
        size=2_899,
        modality=("posts",),
        topic="Covid-19",
        region="Brazil",
        languages=("por",),
        time_start="2020-04",
        time_end="2020-06",
        labelling="Human",
        shares=Shares(true=68.54, false=31.46),
        access="Download wpp_2020.csv from the authors' repository named in the paper.",
        homepage="https://doi.org/10.5753/dsw.2021.17422",
        citation=(
            "Martins, Cabral, Mourão, de Sá, Monteiro and Machado (2021), COVID19.BR: A Dataset of"
            " Misinformation about COVID-19 in Brazilian Portuguese WhatsApp Messages, Dataset"
            " Showcase Workshop."
        ),
        errata=(
            (
                "The published corpus has 2,899 rows (1,987 true, 912 fake); the file at hand lacks"
                " one empty row and one label (0-based row 105) seems to differ: 1,985 true, 913"
                " fake."
            ),
            "22 addresses have both labels, in 60 rows; 501 texts are only an address.",
            "Only 66 rows name the page by which they were checked.",
            "No dates: the period is that of the collection.",
        ),
        has_evidence=True,
    ),
    maps={"default": {"0": "true", "1": "false"}},
    variants={"messages": load},
    real_rows={"messages": 2_898},
    real_labels={"0": 1_985, "1": 913},
)
