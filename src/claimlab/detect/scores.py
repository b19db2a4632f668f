"""The two figures that a run prints at once; everything finer is the work of evaluation."""

from __future__ import annotations

import json
from typing import Any

from claimlab.core.dataset import Dataset
from claimlab.tasks.task import Task


def scores_of(run: Dataset, task: Task) -> dict[str, Any]:
    """Macro-F1 and accuracy on the test rows; a prediction that failed or abstained counts as wrong, and is counted."""
    from sklearn.metrics import accuracy_score, f1_score

    truths = run.records.select("id", truth=task.labels(run.records))
    joined = truths.join(run.tables["predictions"], left_on="id", right_on="record_id")
    truth = joined["truth"].to_list()
    notes = [json.loads(m) if m else {} for m in joined["meta"].to_list()]
    none = ["(abstained)" if note.get("abstained") else "(failed)" for note in notes]
    guess = [g if g is not None else why for g, why in zip(joined["label"].to_list(), none, strict=True)]
    classes = sorted(set(truth))
    return {
        "macro_f1": float(f1_score(truth, guess, labels=classes, average="macro", zero_division=0)),
        "accuracy": float(accuracy_score(truth, guess)),
        "n": len(truth),
        "failed": guess.count("(failed)"),
        "abstained": guess.count("(abstained)"),
        "classes": {c: truth.count(c) for c in classes},
    }


def headline(detector: str, scores: dict[str, Any]) -> str:
    return (
        f"{detector} scores macro-F1 {100 * scores['macro_f1']:.1f} and accuracy {100 * scores['accuracy']:.1f} "
        f"on {scores['n']:,} test records."
    )
