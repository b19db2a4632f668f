"""Snopes Fact-news: claims with Snopes' rating and what its articles say of them."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.datasets._layout import side_table
from claimlab.catalog.datasets._tolerant import (
    blank_to_null,
    constant,
    maybe,
    pick,
    read_any_table,
    repeated,
    unique_ids,
)
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column, meta_json
from claimlab.files.bundle import Bundle

DETAILS = {
    "summary": ("summary",),
    "true_part": ("what's true", "whats_true"),
    "false_part": ("what's false", "whats_false"),
    "unknown_part": ("what's unknown",),
}


def load(bundle: Bundle) -> Loaded:
    """One CSV; the article behind a rating is evidence, and with it Snopes' own remarks on what is true and false in the claim."""
    name = bundle.one("snopeswithsum.csv", "snopes.csv", "*snopes*.csv")
    raw = read_any_table(bundle, name)
    text = blank_to_null(pick(raw, "claim", where=name))
    ids = unique_ids("snopes-fact-news", pl.Series([f"{n:05d}" for n in range(1, raw.height + 1)], dtype=pl.String))
    extra = pl.DataFrame(
        {"question": blank_to_null(maybe(raw, "question")), "comment": blank_to_null(maybe(raw, "comment"))}
    )
    records = pl.DataFrame(
        {
            "id": ids,
            "text": text,
            "kind": constant("claim", raw.height),
            "label_raw": blank_to_null(pick(raw, "rate", "rating", "label", where=name)),
            "language": constant("eng", raw.height),
            "source": constant("Snopes", raw.height),
            "group": repeated(text, ids),
            "meta": meta_column(extra, extra.columns),
        }
    )
    return Loaded(records, {"evidence": side_table("evidence", _evidence(raw, records))})


def _evidence(raw: pl.DataFrame, records: pl.DataFrame) -> list[dict[str, Any]]:
    details = {key: blank_to_null(maybe(raw, *names)).to_list() for key, names in DETAILS.items()}
    articles = zip(
        records["id"].to_list(),
        blank_to_null(maybe(raw, "origin")).to_list(),
        records["label_raw"].to_list(),
        strict=True,
    )
    return [
        {
            "record_id": i, "evidence_id": f"{i}-article", "rank": 1, "text": text, "provider": "snopes-fact-news", "publisher": "Snopes",
            "domain": "snopes.com", "rating": rating, "meta": meta_json({key: values[row] for key, values in details.items()}),
        }
        for row, (i, text, rating) in enumerate(articles)
        if text is not None or any(values[row] for values in details.values())
    ]  # fmt: skip


A5 = {
    "True": "true", "Mostly True": "true", "Correct Attribution": "true", "False": "false", "Mostly False": "false", "Miscaptioned": "false",
    "Misattributed": "false", "Scam": "false", "Legend": "false", "Fake": "false", "Mixture": "mixed", "Outdated": "mixed", "Unproven": "unknown",
    "Labeled Satire": "unknown", "Originated as Satire": "unknown", "Research In Progress": "unknown", "Lost Legend": "unknown", "Recall": "unknown", "Unfounded": "unknown",
}  # fmt: skip
CDL = {"Outdated": "unknown", "Labeled Satire": "false", "Originated as Satire": "false", "Lost Legend": "false"}

DATASET = Entry(
    card=Card(
        name="snopes-fact-news",
        title="Snopes Fact-news",
        summary="Claims scraped from Snopes with its rating, the text on the claim's origin, a summary of it, and Snopes' notes on what in the claim is true or false.",
        size=4_550,
        modality=("claims",),
        topic="Various",
        region="USA",
        languages=("eng",),
        labelling="Human expert",
        shares=Shares(true=16.07, false=65.41, mixed=10.95, unknown=7.58),
        quality=Quality(keywords="pass", feasibility="fail"),
        published=Published(
            search_f1=90.6,
            offline_f1=81.4,
            keywords_tf=44.1,
            keywords_tf_baseline=51.7,
            keywords_tfm=27.6,
            keywords_tfm_baseline=31.8,
        ),
        access="Download snopeswithsum.csv from Kaggle, ambityga/snopes-factnews-data.",
        homepage="https://www.kaggle.com/datasets/ambityga/snopes-factnews-data",
        citation="Shekhar (2020), Snopes Factnews Data, Kaggle.",
        errata=(
            "The guide says that its labels are six; Snopes' other ratings (Miscaptioned, Scam, Correct Attribution, Labeled Satire and more) are there too.",
            "The article text, the summary and the notes state the verdict: they are evidence, never a feature.",
            "Claims carry no date; a rating holds for the day it was given.",
            "Satire and lost legends say nothing of truth under the house's rule and are unknown in map 'a5'; map 'cdl' counts them as false, and 'Outdated' as unknown.",
        ),
        has_evidence=True,
        survey="cdl-claims",
    ),
    maps={"a5": LabelMap("snopes-fact-news/a5", A5), "cdl": LabelMap("snopes-fact-news/cdl", {**A5, **CDL})},
    variants={"claims": load, "guide": guide("snopes-fact-news", "snopes", language="eng")},
    sample=Sample(
        files={
            "snopeswithsum.csv": "question,comment,claim,rate,origin,what's true,what's false,what's unknown,summary\n"
            'Did the lake turn purple?,A photo was edited.,"Lake Riverton turned ""purple"".",False,The photo is older than the lake.,,,,The photo is edited.\n'
            "Was the mill sold?,,The old mill was sold for one crown.,Mixture,The deed names a price.,It was sold.,Not for one crown.,,Sold for more.\n"
            "Is this a real letter?,,The mayor wrote a letter to the moon.,Labeled Satire,,,,,\n",
            **made_up(
                "snopes",
                {"claim": "lake riverton turned purple.", "label": "false"},
                {"claim": "the old mill was sold.", "label": "mixture"},
            ),
        },
        rows={"claims": 3, "guide": 2},
        veracity={"false": 1, "mixed": 1, "unknown": 1},
    ),
)
