"""FA-KES: news articles on the Syrian war, checked by crowd workers against a record of casualties."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, both, dated, unique_ids

TITLE = ("article_title", "title")


def load(bundle: Bundle) -> Loaded:
    """One CSV in latin-1 (copies in UTF-8 circulate), month first in its dates."""
    name = bundle.one("FA-KES-Dataset.csv", "FA-KES*.csv", "FA_KES*.csv", "FINAL LABELED ARTICLES.csv")
    raw = Table.read(bundle, name, western=True)
    records = raw.frame.select(
        id=unique_ids("fa-kes", raw.maybe("unit_id", "id")),
        text=raw.need("article_content", "content", "text").fill_null(raw.maybe(*TITLE)),
        kind=pl.lit("article"),
        label_raw=raw.need("labels", "label").str.strip_suffix(".0"),
        language=pl.lit("eng"),
        **dated({"date column": raw.maybe("date")}, "%m/%d/%Y"),
        source=raw.maybe("source"),
        meta=raw.meta({"title": TITLE, "location": "location"}),
    )
    return Loaded(records)


A5 = {"1": "true", "0": "false", "true": "true", "fake": "false", "false": "false"}

DATASET = Entry(
    card=Card(
        name="fa-kes",
        title="FA-KES",
        summary="News articles on incidents of the Syrian war from outlets of many leanings, labelled by comparing their facts with the Violations Documentation Center's records.",
        size=804,
        modality=("articles",),
        topic="Syrian war",
        region="Syria",
        languages=("eng",),
        time_start="2011",
        time_end="2018",
        labelling="crowd-sourced",
        licence="CC BY",
        access="Download FA-KES-Dataset.csv from Zenodo, record 2607278.",
        homepage="https://doi.org/10.5281/zenodo.2607278",
        citation="Abu Salem, Al Feel, Elbassuoni, Jaber and Farah (2019), FA-KES: A Fake News Dataset around the Syrian War, ICWSM.",
        errata=(
            "The file is latin-1; read as UTF-8 it fails, or loses characters.",
            "Its temporal score in the guide's Table 8 matches a true hold-out, unlike the tweet-id rows beside it, which were fitted on their own test rows.",
            "Many texts open with their date and close with the agency's name, so the outlet and the day can be read from the text.",
            "The guide describes it as drawn from fact-checking sites in several languages; the articles are English news.",
        ),
    ),
    maps=both(A5),
    variants={"articles": load},
)
