"""What a run has predicted so far, shard by shard, so that a run that was stopped or killed goes on where it was.

A shard is one file, put in place in one step, under a fingerprint of everything that decides the answers: other data,
another detector, task, seed or evidence never meets it. A shard in which something failed is not taken up, so that
what failed is tried again; what a model has answered is in its recording, and is not paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claimlab.core.atomic import atomic_text
from claimlab.detect.detector import Prediction
from claimlab.search.evidence import Evidence


class Journal:
    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        text = json.dumps(key, sort_keys=True, default=str)
        self.root = folder
        self.folder = folder / hashlib.sha256(text.encode()).hexdigest()[:32]

    def read(self, number: int) -> list[Prediction] | None:
        """The predictions of a finished shard; null when it is not there, or when one of them failed."""
        file = self.folder / f"{number:06d}.json"
        if not file.is_file():
            return None
        kept = [_restored(raw) for raw in json.loads(file.read_text(encoding="utf-8"))]
        return None if any(p.failure for p in kept) else kept

    def write(self, number: int, predictions: Sequence[Prediction]) -> None:
        stored = [_stored(p) for p in predictions]
        atomic_text(self.folder / f"{number:06d}.json", json.dumps(stored, ensure_ascii=False, default=str))

    def clear(self) -> None:
        """The run is written: nothing is left to take up."""
        shutil.rmtree(self.root, ignore_errors=True)


def _stored(prediction: Prediction) -> dict[str, Any]:
    plain = {k: v for k, v in prediction.__dict__.items() if k != "found"}
    return {**plain, "notes": dict(prediction.notes), "found": [piece.as_json() for piece in prediction.found]}


def _restored(raw: dict[str, Any]) -> Prediction:
    found = tuple(Evidence.from_json(piece) for piece in raw["found"])
    return Prediction(**{**raw, "found": found, "evidence_ids": tuple(raw["evidence_ids"])})
