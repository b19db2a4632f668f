"""CMU-MisCOV19: ids of tweets about Covid-19 in sixteen categories of information and
misinformation.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    answers,
    dated,
    distinct,
    meta_column,
)

QUESTIONS = ["annotation1", "annotation2"]


def load(bundle: Bundle) -> Loaded:
    """One CSV of ids, times and up to two categories each; the first is the label."""
    name = bundle.one("CMU_MisCov19_dataset.csv", "*miscov19*.csv")
    raw = Table.read(bundle, name).pick(["status_id", "status_created_at", *QUESTIONS])
    raw = raw.with_columns(id=distinct("cmu-miscov19-" + raw["status_id"]))
    records = raw.select(
        "id",
        kind=pl.lit("id-only"),
        label_raw="annotation1",
        **dated({"status_created_at column": raw["status_created_at"]}),
        tweet_id="status_id",
        meta=meta_column(raw, ["annotation2"]),
    )
    return Loaded(records, {"annotations": answers(raw, {q: q for q in QUESTIONS})})


TRUE = ("true prevention", "true public health response", "true treatment")
FALSE = (
    "conspiracy",
    "fake cure",
    "fake treatment",
    "false fact or prevention",
    "false public health response",
)
REPLIES = ("calling out or correction", "sarcasm or satire")
REST = (
    "ambiguous or hard to classify",
    "commercial activity or promotion",
    "emergency",
    "irrelevant",
    "news",
    "panic buying",
    "politics",
)
A5 = {
    **dict.fromkeys(TRUE, "true"),
    **dict.fromkeys(FALSE, "false"),
    **dict.fromkeys((*REPLIES, *REST), "unknown"),
}

DATASET = Entry(
    card=Card(
        name="cmu-miscov19",
        title="CMU-MisCOV19",
        summary=(
            "Tweets about Covid-19 by id, sorted by people into kinds of true information,"
            " misinformation, correction and everything else."
        ),
        size=4_573,
        modality=("claims",),
        topic="Covid-19",
        languages=("eng",),
        time_start="2020-01-09",
        time_end="2020-07-08",
        labelling="Human (expertise not stated)",
        licence=None,
        access=(
            "Download the CSV of ids and categories from Zenodo (record 4024154) and fetch the"
            " texts by tweet id."
        ),
        homepage="https://zenodo.org/record/4024154",
        citation=(
            "Memon and Carley (2020), Characterizing COVID-19 Misinformation Communities Using a"
            " Novel Twitter Dataset, arXiv:2008.00791."
        ),
        errata=(
            (
                "The guide's shares count 'calling out or correction' (1,331) and 'sarcasm or"
                " satire' (476) as false (map 'cdl'): tweets that fight misinformation. Without"
                " them 31.12% are false and 61.49% are neither (map 'a5')."
            ),
            (
                "The guide's temporal score uses an older map that leaves those two out (map"
                " 'cdl-time', 1,761 rows)."
            ),
            (
                "The guide says 17 categories and three days; the file holds 16 ('true treatment'"
                " never occurs) and tweets from 2020-01-09 to 2020-07-08, which is where this"
                " card's times are from."
            ),
            (
                "651 tweets have a second category, at times of the other side: it is in the"
                " annotations."
            ),
        ),
    ),
    maps={"a5": A5, "cdl": {**A5, **dict.fromkeys(REPLIES, "false")}, "cdl-time": A5},
    variants={"tweets": load},
    real_rows={"tweets": 4_573},
    real_labels={
        "calling out or correction": 1_331,
        "conspiracy": 924,
        "politics": 512,
        "sarcasm or satire": 476,
        "false fact or prevention": 321,
        "true prevention": 175,
        "true public health response": 163,
        "ambiguous or hard to classify": 143,
        "fake cure": 141,
        "irrelevant": 131,
        "news": 95,
        "panic buying": 70,
        "commercial activity or promotion": 37,
        "fake treatment": 34,
        "emergency": 17,
        "false public health response": 3,
    },
)
