"""Fit a detector on the training rows of a dataset and keep its prediction for every test row.

The run is a claimlab dataset: the test records with a `predictions` table beside them, so that a run can be audited,
evaluated, exported and reported like any other folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.detect.detector import Detector, Prediction
from claimlab.tasks.known.veracity import TASK as VERACITY
from claimlab.tasks.task import Task


@dataclass(frozen=True)
class Part:
    """The labelled records of one split."""

    records: pl.DataFrame
    labels: list[str]


def detect(dataset: Dataset, detector: Detector, *, task: Task = VERACITY, seed: int = 0) -> Dataset:
    """Train on split "train", tune on "dev", predict "test"; the result carries the predictions and their warnings."""
    parts = divide(dataset.records, task)
    train, dev, test = parts["train"], parts["dev"], parts["test"]
    detector.fit(train.records, train.labels, dev=dev.records, dev_labels=dev.labels, seed=seed)
    predictions = detector.predict(test.records)
    run = f"{detector.name}-{seed}"
    step = Lineage(
        step="detect",
        parameters={"detector": detector.name, "settings": detector.parameters(), "task": task.name},
        seed=seed,
        inputs={dataset.name: dataset.digest()},
        counts={name: part.records.height for name, part in parts.items()},
    )
    result = dataset.derive(test.records, step, {"predictions": as_table(test.records, predictions, run)})
    result.notes += suspicious(predictions)
    return result


def divide(records: pl.DataFrame, task: Task) -> dict[str, Part]:
    """The labelled rows of each split; a sentence when there is nothing to train or to test on."""
    labels = task.labels(records)
    parts = {}
    for name in ("train", "dev", "test"):
        mine = (records["split"] == name).fill_null(False) & labels.is_not_null()
        parts[name] = Part(records.filter(mine), labels.filter(mine).to_list())
    for name in ("train", "test"):
        if not parts[name].labels:
            raise DataError(
                f"No labelled record is in split '{name}'.",
                "Give the dataset a split first: claimlab split DIR -o NEW --by group",
            )
    if len(set(parts["train"].labels)) < 2:
        raise DataError("The training rows hold one class only.", "Use data with at least two classes.")
    return parts


def as_table(records: pl.DataFrame, predictions: list[Prediction], run: str) -> pl.DataFrame:
    rows = [
        {
            "record_id": record,
            "run": run,
            "label": p.label,
            "scores": json.dumps({k: round(v, 6) for k, v in p.scores.items()}, sort_keys=True) if p.scores else None,
            "rationale": p.rationale,
            "evidence_ids": list(p.evidence_ids),
            "cost": p.cost,
            "seconds": p.seconds,
            "meta": json.dumps({"failure": p.failure}) if p.failure else None,
        }
        for record, p in zip(records["id"].to_list(), predictions, strict=True)
    ]
    return to_side_table("predictions", pl.DataFrame(rows, infer_schema_length=None))


def suspicious(predictions: list[Prediction]) -> list[str]:
    """What a reader must know before believing a score: constant or clamped scores, failed answers."""
    notes = []
    scored = [tuple(sorted(p.scores.items())) for p in predictions if p.scores]
    if len(scored) > 1 and len(set(scored)) == 1:
        notes.append("Every prediction has the same scores: AUROC and calibration mean nothing here.")
    best = [max(p.scores.values()) for p in predictions if p.scores]
    edges = sum(b in (0.0, 1.0) for b in best)
    if best and len(set(scored)) > 1 and edges > len(best) / 2:
        notes.append(f"{edges} of {len(best)} scores are exactly 0 or 1: they look clamped.")
    failed = sum(p.label is None for p in predictions)
    if failed:
        notes.append(f"{failed} of {len(predictions)} predictions failed and are null.")
    return notes
