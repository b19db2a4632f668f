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

TARGETS = {"veracity": ("true", "false"), "veracity-mixed": ("true", "false", "mixed")}


@dataclass(frozen=True)
class Parts:
    train: pl.DataFrame
    dev: pl.DataFrame
    test: pl.DataFrame


def detect(dataset: Dataset, detector: Detector, *, target: str = "veracity", seed: int = 0) -> Dataset:
    """Train on split "train", tune on "dev", predict "test"; the result carries the predictions and their warnings."""
    column, parts = divide(dataset.records, target)
    detector.fit(
        parts.train,
        parts.train[column].to_list(),
        dev=parts.dev,
        dev_labels=parts.dev[column].to_list(),
        seed=seed,
    )
    predictions = detector.predict(parts.test)
    run = f"{detector.name}-{seed}"
    step = Lineage(
        step="detect",
        parameters={"detector": detector.name, "settings": detector.parameters(), "target": target},
        seed=seed,
        inputs={dataset.name: dataset.digest()},
        counts={"train": parts.train.height, "dev": parts.dev.height, "test": parts.test.height},
    )
    result = dataset.derive(parts.test, step, {"predictions": as_table(parts.test, predictions, run)})
    result.notes += suspicious(predictions)
    return result


def divide(records: pl.DataFrame, target: str) -> tuple[str, Parts]:
    """The labelled rows of each split; a sentence when there is nothing to train or to test on."""
    column = "veracity" if target in TARGETS else target
    if column not in records.columns:
        raise DataError(f"There is no column '{column}' to predict.", "Use veracity or a record column.")
    usable = pl.col(column).is_in(list(TARGETS[target])) if target in TARGETS else pl.col(column).is_not_null()
    labelled = records.filter(usable.fill_null(False))
    sides = {name: labelled.filter(pl.col("split") == name) for name in ("train", "dev", "test")}
    for name in ("train", "test"):
        if sides[name].is_empty():
            raise DataError(
                f"No labelled record is in split '{name}'.",
                "Give the dataset a split first: claimlab audit --fix writes one that keeps copies together.",
            )
    if sides["train"][column].n_unique() < 2:
        raise DataError("The training rows hold one class only.", "Use data with at least two classes.")
    return column, Parts(sides["train"], sides["dev"], sides["test"])


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
