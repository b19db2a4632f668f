"""HoVer: claims that take two to four Wikipedia pages to check."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog.datasets._fever import PARTS, Row, loaded, read_splits
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, frame_of, meta_column
from claimlab.core.words import several

FIELDS = ["uid", "claim", "label", "num_hops", "hpqa_id", "split"]
FILES = {s: (f"hover_{s}_release*.json*", f"hover_{s}*.json*", f"{s}*.json*") for s in PARTS}


def load(bundle: Bundle) -> Loaded:
    """The development claims, the only labelled ones besides the training part."""
    return read(bundle, ["dev"])


def load_all(bundle: Bundle) -> Loaded:
    """Every part that is there; the test claims are published without labels."""
    return read(bundle, PARTS)


def read(bundle: Bundle, splits: Sequence[str]) -> Loaded:
    """Claims made from one HotpotQA question are a group."""
    rows = read_splits(bundle, FILES, splits, ["uid", "claim"])
    raw = frame_of(rows, FIELDS)
    more = {"group": pl.col("hpqa_id"), "meta": meta_column(raw, ["num_hops"])}
    result = loaded("hover", "uid", raw, rows, _pages, **more)
    bare = result.records["label_raw"].null_count()
    result.notes += [f"{several(bare, 'claim')} published without a label."] if bare else []
    return result


def _pages(row: Row) -> list[Row]:
    facts = row.get("supporting_facts") or []
    return [{"evidence_id": f"{title}:{sentence}", "title": title} for title, sentence in facts]


VERDICTS = {"SUPPORTED": "true", "NOT_SUPPORTED": "false"}

DATASET = Entry(
    card=Card(
        name="hover",
        title="HoVer",
        summary=(
            "Claims rewritten from multi-hop questions, which two to four Wikipedia pages together"
            " support or do not support."
        ),
        size=26_171,
        modality=("claims",),
        topic="Various",
        languages=("eng",),
        labelling="Crowd-sourced",
        licence="MIT",
        access=(
            "Download the three JSON files from the project's page (its download_data.sh names"
            " them)."
        ),
        homepage="https://hover-nlp.github.io",
        citation=(
            "Jiang, Bordia, Zhong, Dognin, Singh and Bansal (2020), HoVer: A Dataset for Many-Hop"
            " Fact Extraction And Claim Verification, Findings of EMNLP."
        ),
        errata=(
            (
                "The guide's 15.28% 'unknown' are the 4,000 test claims, whose labels are not"
                " published: here they have no verdict at all. Its shares need all three parts; the"
                " development part is 2,000 to 2,000."
            ),
            (
                "The label is supported or NOT supported: the second joins what is refuted with"
                " what cannot be known, so reading it as false is generous."
            ),
            (
                "The 4,000 development claims were made from 1,592 questions, 584 of which have"
                " claims under both labels: split by group."
            ),
            "The guide's zero-shot baselines are on the validation part.",
        ),
        has_evidence=True,
    ),
    maps=both(VERDICTS),
    variants={"dev": load, "all": load_all},
    real_rows={"dev": 4_000, "all": 8_000},
    real_labels={"SUPPORTED": 2_000, "NOT_SUPPORTED": 2_000},
)
