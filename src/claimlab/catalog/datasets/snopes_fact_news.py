"""Snopes Fact-news: claims with Snopes' rating and what its articles say of them."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._guide import guide
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, numbered, repeated

DETAILS = {
    "summary": "summary",
    "true_part": "what's true",
    "false_part": "what's false",
    "unknown_part": "what's unknown",
}


def load(bundle: Bundle) -> Loaded:
    """One CSV; the article behind a rating is evidence, and with it Snopes' own remarks on what is
    true and false in the claim.
    """
    raw = Table.read(bundle, bundle.one("snopeswithsum.csv", "snopes.csv", "*snopes*.csv"))
    text, ids = raw.need("claim"), numbered("snopes-fact-news", raw.height, 5)
    records = raw.frame.select(
        id=ids,
        text=text,
        kind=pl.lit("claim"),
        label_raw=raw.need("rate", "rating", "label"),
        source=pl.lit("Snopes"),
        group=repeated(text, ids),
        meta=raw.meta(["question", "comment"]),
    )
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-article",
        rank=pl.lit(1),
        text=raw.maybe("origin"),
        provider=pl.lit("snopes-fact-news"),
        publisher=pl.lit("Snopes"),
        domain=pl.lit("snopes.com"),
        rating="label_raw",
        meta=raw.meta(DETAILS),
    )
    return Loaded(
        records,
        {"evidence": evidence.filter(pl.any_horizontal(pl.col("text", "meta").is_not_null()))},
    )


A5 = {
    "True": "true",
    "Mostly True": "true",
    "Correct Attribution": "true",
    "False": "false",
    "Mostly False": "false",
    "Miscaptioned": "false",
    "Misattributed": "false",
    "Scam": "false",
    "Legend": "false",
    "Fake": "false",
    "Mixture": "mixed",
    "Outdated": "mixed",
    "Unproven": "unknown",
    "Labeled Satire": "unknown",
    "Originated as Satire": "unknown",
    "Research In Progress": "unknown",
    "Lost Legend": "unknown",
    "Recall": "unknown",
    "Unfounded": "unknown",
}
CDL = {
    "Outdated": "unknown",
    "Labeled Satire": "false",
    "Originated as Satire": "false",
    "Lost Legend": "false",
}

DATASET = Entry(
    card=Card(
        name="snopes-fact-news",
        title="Snopes Fact-news",
        summary=(
            "Claims scraped from Snopes with its rating, the text on the claim's origin, a summary"
            " of it, and Snopes' notes on what in the claim is true or false."
        ),
        size=4_550,
        modality=("claims",),
        topic="Various",
        region="USA",
        languages=("eng",),
        labelling="Human expert",
        access="Download snopeswithsum.csv from Kaggle, ambityga/snopes-factnews-data.",
        homepage="https://www.kaggle.com/datasets/ambityga/snopes-factnews-data",
        citation="Shekhar (2020), Snopes Factnews Data, Kaggle.",
        errata=(
            (
                "The guide says that its labels are six; Snopes' other ratings (Miscaptioned, Scam,"
                " Correct Attribution, Labeled Satire and more) are there too."
            ),
            (
                "The article text, the summary and the notes state the verdict: they are evidence,"
                " never a feature."
            ),
            "Claims carry no date; a rating holds for the day it was given.",
            (
                "Satire and lost legends are neither true nor false under the guide's rule A.5 and"
                " are unknown in map 'a5'; map 'cdl' counts them as false, and 'Outdated' as"
                " unknown."
            ),
        ),
        has_evidence=True,
    ),
    maps={"a5": A5, "cdl": {**A5, **CDL}},
    variants={"claims": load, "guide": guide("snopes-fact-news", "snopes", language="eng")},
)
