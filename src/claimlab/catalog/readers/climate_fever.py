"""Climate-Fever: claims about the climate, each with five Wikipedia sentences and people's votes on
them.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
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
