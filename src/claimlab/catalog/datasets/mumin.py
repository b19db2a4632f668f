"""MuMiN: claims of fact-checkers in many languages."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, languages

MASKS = {"train": "train_mask", "dev": "val_mask", "test": "test_mask"}


def load(bundle: Bundle) -> Loaded:
    """One JSON object per claim; three masks say the split. A `language` field is used where a
    release has one.
    """
    raw = Table.read(bundle, bundle.one("claims_*.jsonl", "*.jsonl"))
    records = raw.frame.select(
        text=raw.need("claim"),
        kind=pl.lit("claim"),
        label_raw=raw.need("verdict"),
        language=languages(raw.maybe("language")),
        split=pl.coalesce(
            pl.when(raw.need(mask) == "true").then(pl.lit(split)) for split, mask in MASKS.items()
        ),
        meta=raw.meta(["claim_en"]),
    )
    return Loaded(records)


VERDICTS = {"factual": "true", "misinformation": "false"}

DATASET = Entry(
    card=Card(
        name="mumin",
        title="MuMiN",
        summary=(
            "Fact-checked claims in many languages with their English translation, the core of a"
            " graph that ties them to tweets, users, articles and images (the graph must be fetched"
            " from Twitter)."
        ),
        size=21_565_018,
        modality=("articles", "tweets", "images"),
        topic="Various",
        region="International",
        language_count=41,
        labelling="Human expert (ratings of fact-checkers, classed by a model)",
        licence="MIT",
        access=(
            "Compile it with the package mumin-build and Twitter access; the claims themselves"
            " (large version) are a JSON Lines file."
        ),
        homepage="https://mumin-dataset.github.io",
        citation=(
            "Nielsen and McConville (2022), MuMiN: A Large-Scale Multilingual Multimodal"
            " Fact-Checked Misinformation Social Network Dataset, SIGIR."
        ),
        errata=(
            (
                "The published size counts tweets; the claims file holds 13,205 claims, 95% of them"
                " misinformation."
            ),
            "The claims file names no language and no date.",
            (
                "The masks keep the authors' clusters of like claims together, but the clusters"
                " themselves are not in the file."
            ),
        ),
    ),
    maps={"a5": VERDICTS},
    variants={"claims": load},
    real_rows={"claims": 13_205},
    real_labels={"misinformation": 12_543, "factual": 662},
)
