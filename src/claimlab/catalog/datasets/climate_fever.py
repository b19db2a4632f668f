"""Climate-Fever: claims about the climate, each with five Wikipedia sentences and people's votes on
them.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    both,
    frame_of,
    meta_json,
    read_objects,
    side_rows,
)
from claimlab.core.types import JsonObject


def load(bundle: Bundle) -> Loaded:
    """One file of JSON lines; the votes on each evidence sentence become annotations."""
    name = bundle.one("climate-fever.jsonl", "*climate*fever*.json*", "*.jsonl")
    rows = read_objects(bundle, name, ["claim_id", "claim", "claim_label", "evidences"])
    raw = frame_of(rows, ["claim_id", "claim", "claim_label"])
    records = raw.select(
        id=pl.format("climate-fever-{}", "claim_id"),
        text=pl.col("claim").str.strip_chars(),
        kind=pl.lit("claim"),
        label_raw="claim_label",
    )
    pairs = [
        (record, e)
        for record, row in zip(records["id"], rows, strict=True)
        for e in row["evidences"]
    ]
    evidence = side_rows("evidence", (_evidence(record, e) for record, e in pairs))
    ranks = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("record_id")
    return Loaded(
        records,
        {
            "evidence": evidence.with_columns(rank=ranks),
            "annotations": side_rows(
                "annotations", (v for record, e in pairs for v in _votes(record, e))
            ),
        },
    )


def _evidence(record: str, e: JsonObject) -> JsonObject:
    return {
        "record_id": record,
        "evidence_id": e["evidence_id"],
        "title": e.get("article"),
        "text": e["evidence"],
        "provider": "Wikipedia",
        "stance": e["evidence_label"],
        "meta": meta_json({"entropy": e.get("entropy")}),
    }


def _votes(record: str, e: JsonObject) -> list[JsonObject]:
    """Two to five people voted on a sentence, in five numbered places; an empty place is no
    vote.
    """
    return [
        {
            "record_id": record,
            "annotator": f"place-{place}",
            "annotator_kind": "human",
            "question": f"stance of {e['evidence_id']}",
            "value": vote,
            "meta": meta_json({"evidence_id": e["evidence_id"]}),
        }
        for place, vote in enumerate(e.get("votes") or [], 1)
        if vote
    ]


VERDICTS = {
    "SUPPORTS": "true",
    "REFUTES": "false",
    "DISPUTED": "mixed",
    "NOT_ENOUGH_INFO": "unknown",
}

DATASET = Entry(
    card=Card(
        name="climate-fever",
        title="Climate-Fever",
        summary=(
            "Claims about climate change found on the web, each with five sentences from Wikipedia"
            " that people judged to support it, refute it or leave it open."
        ),
        size=7_675,
        modality=("claims",),
        topic="Climate",
        languages=("eng",),
        labelling="Human expert",
        licence=None,
        access=(
            "Download climate-fever.jsonl from the authors' repository, or load climate_fever from"
            " the Hugging Face hub."
        ),
        homepage="http://climatefever.ai",
        citation=(
            "Diggelmann, Boyd-Graber, Bulian, Ciaramita and Leippold (2020), CLIMATE-FEVER: A"
            " Dataset for Verification of Real-World Climate Claims, arXiv:2012.00614."
        ),
        errata=(
            (
                "The guide's size (7,675) counts pairs of claim and evidence sentence; there are"
                " 1,535 claims, and its label shares are shares of claims."
            ),
            (
                "The guide describes the labels as supports, refutes or disputed; the most frequent"
                " after 'supports' is not-enough-info (474 of 1,535)."
            ),
            (
                "The label says what five Wikipedia sentences show, not what is true: claims that"
                " science rejects can be marked as supported."
            ),
        ),
        has_evidence=True,
    ),
    maps=both(VERDICTS),
    variants={"claims": load},
    real_rows={"claims": 1_535},
    real_labels={"SUPPORTS": 654, "NOT_ENOUGH_INFO": 474, "REFUTES": 253, "DISPUTED": 154},
)
