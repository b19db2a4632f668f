"""MM-COVID: fact-checked news about the pandemic in six languages."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    dated,
    host,
    languages,
    meta_column,
)

NEEDED = ["news_id", "claim", "label", "lang", "time", "fact_url"]
OTHERS = ["agency", "ref_source_url", "explain", "statement", "loc", "orginated"]
EXTRA = ["Cluster", "Main heading", "Subcategory"]  # only in the clustered file


def load(bundle: Bundle) -> Loaded:
    """Two CSV files that overlap: each news item once, in the order of the first file, then the
    second's own.

    They write one date in two ways (2020/03/24 and 24/03/2020). Clusters and headings come from the
    clustered file.
    """
    names = bundle.match("news_dataset_cl.csv") + bundle.match("clustered_df_eng.csv")
    if not names:
        bundle.one("news_dataset_cl.csv", "clustered_df_eng.csv")  # raises, and says what is there
    raw = pl.concat([Table.read(bundle, n).pick(NEEDED, [*OTHERS, *EXTRA]) for n in names])
    raw = raw.with_columns(pl.all().replace("NONE", None)).with_columns(
        pl.col(EXTRA).drop_nulls().first().over("news_id")
    )
    raw = raw.unique("news_id", keep="first", maintain_order=True)
    records = raw.select(
        id="mm-covid-" + pl.col("news_id"),
        text="claim",
        kind=pl.lit("claim"),
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


DATASET = Entry(
    card=Card(
        name="mm-covid",
        title="MM-COVID",
        summary=(
            "News about the pandemic rated by fact-checkers (fake) or taken from trusted media"
            " (real) in six languages, matched with tweets."
        ),
        size=11_173,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        languages=("eng", "spa", "por", "hin", "fra", "ita"),
        language_count=6,
        labelling="Human expert",
        access="Download it from the authors' GitHub repository; tweets must be fetched by id.",
        homepage="https://github.com/bigheiniu/MM-COVID",
        citation=(
            "Li, Jiang, Shu and Liu (2020), MM-COVID: A Multilingual and Multimodal Data Repository"
            " for Combating COVID-19 Disinformation, arXiv:2011.04088."
        ),
        errata=(
            (
                "The part at hand (2,041 English items in two overlapping files) holds ONE class:"
                " all are fake."
            ),
            (
                "The claim of a fake item is the fact-checker's wording ('A photo shows ...'), that"
                " of a real item a news text: words such as 'clinic' or 'government' give the class"
                " away in the guide's analysis."
            ),
            "In 341 rows of the clustered file time, explanation and place are missing.",
            (
                "Place and origin were taken from the fact-checkers' index; five items differ"
                " between the two files in origin."
            ),
        ),
        has_evidence=True,
    ),
    maps={"a5": {"real": "true", "fake": "false"}},
    variants={"news": load},
    real_rows={"news": 2_041},
    real_labels={"fake": 2_041},
)
