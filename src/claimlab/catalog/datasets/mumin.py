"""MuMiN: claims of fact-checkers in many languages."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.columns import languages
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.table import Table
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

MASKS = {"train": "train_mask", "dev": "val_mask", "test": "test_mask"}


def load(bundle: Bundle) -> Loaded:
    """One JSON object per claim; three masks say the split. A `language` field is used where a release has one."""
    raw = Table.read(bundle, bundle.one("claims_*.jsonl", "*.jsonl"))
    records = raw.frame.select(
        text=raw.need("claim"),
        kind=pl.lit("claim"),
        label_raw=raw.need("verdict"),
        language=languages(raw.maybe("language")),
        split=pl.coalesce(pl.when(raw.need(mask) == "true").then(pl.lit(split)) for split, mask in MASKS.items()),
        meta=raw.meta(["claim_en"]),
    )
    return Loaded(records)


VERDICTS = {"factual": "true", "misinformation": "false"}
SAMPLE = (
    '{"claim":"A ponte de Rioverde é de queijo?","claim_en":"Is the Rioverde bridge made of cheese?","verdict":"misinformation","train_mask":true,"val_mask":false,"test_mask":false}\n'
    '{"claim":"Die Brücke \\"Am Fluss\\" wurde 1931 eröffnet","claim_en":"The bridge was opened in 1931","verdict":"factual","train_mask":false,"val_mask":true,"test_mask":false}\n'
    '{"claim":"ภาพสะพาน\\u2028ริเวอร์ตัน","claim_en":"A picture of the bridge","verdict":"misinformation","train_mask":false,"val_mask":false,"test_mask":true}\n'
)

DATASET = Entry(
    card=Card(
        name="mumin",
        title="MuMiN",
        summary="Fact-checked claims in many languages with their English translation, the core of a graph that ties them "
        "to tweets, users, articles and images (the graph must be fetched from Twitter).",
        size=21_565_018,
        modality=("articles", "tweets", "images"),
        topic="Various",
        region="International",
        language_count=41,
        labelling="Human expert (ratings of fact-checkers, classed by a model)",
        licence="MIT",
        access="Compile it with the package mumin-build and Twitter access; the claims themselves (large version) are a "
        "JSON Lines file.",
        homepage="https://mumin-dataset.github.io",
        citation="Nielsen and McConville (2022), MuMiN: A Large-Scale Multilingual Multimodal Fact-Checked Misinformation "
        "Social Network Dataset, SIGIR.",
        errata=(
            "The published size counts tweets; the claims file holds 13,205 claims, 95 % of them misinformation.",
            "The claims file names no language and no date.",
            "The masks keep the authors' clusters of like claims together, but the clusters themselves are not in the file.",
        ),
        survey="cdl-listed",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("mumin/a5", VERDICTS)},
    variants={"claims": load},
    sample=Sample(files={"claims_large.jsonl": SAMPLE}, rows={"claims": 3}, veracity={"true": 1, "false": 2}),
    real_rows={"claims": 13_205},
    real_labels={"misinformation": 12_543, "factual": 662},
)
