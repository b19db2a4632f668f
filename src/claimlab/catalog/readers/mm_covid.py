"""MM-COVID: fact-checked news about the pandemic in six languages."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    dated,
    host,
    languages,
    lists_of,
    meta_column,
)

LISTS = lists_of("mm-covid")
EXTRA: list[str] = LISTS["extra"]


def load(bundle: Bundle) -> Loaded:
    """Two CSV files that overlap: each news item once, in the order of the first file, then the
    second's own.

    They write one date in two ways (2020/03/24 and 24/03/2020). Clusters and headings come from the
    clustered file.
    """
    names = bundle.match("news_dataset_cl.csv") + bundle.match("clustered_df_eng.csv")
    if not names:
        bundle.one("news_dataset_cl.csv", "clustered_df_eng.csv")  # raises, and says what is there
    raw = pl.concat(
        [Table.read(bundle, n).pick(LISTS["needed"], [*LISTS["others"], *EXTRA]) for n in names]
    )
    raw = raw.with_columns(pl.all().replace("NONE", None)).with_columns(
        pl.col(EXTRA).drop_nulls().first().over("news_id")
    )
    raw = raw.unique("news_id", keep="first", maintain_order=True)
    records = raw.select(
        id="mm-covid-" + pl.col("news_id"),
        text="claim",
        label_raw="label",
        language=languages(raw["lang"]),
        **dated({"time column": raw["time"]}, "%Y/%m/%d", "%d/%m/%Y"),
        url="ref_source_url",
        topic=pl.lit("COVID-19"),
        group="fact_url",
        meta=meta_column(raw, ["statement", "loc", "orginated", *EXTRA]),
    )
    evidence = raw.select(
        record_id=records["id"],
        evidence_id=records["id"] + "-check",
        rank=pl.lit(1),
        text=pl.col("explain").str.strip_prefix("Explanation: "),
        url="fact_url",
        domain=host(pl.col("fact_url")),
        published=records["date"],
        provider=pl.lit("fact_url column"),
        publisher="agency",
        rating="label",
    )
    return Loaded(records, {"evidence": evidence})
