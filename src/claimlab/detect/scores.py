"""The two figures that a run prints at once; everything finer is the work of evaluation."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.scores import UNANSWERED, accuracy, confusion, measured_macro_f1
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.tasks import Task


def answered(predictions: pl.DataFrame) -> int:
    """How many predictions are answers: a label, or a stated abstention."""
    withheld = (
        pl.col("meta")
        .cast(pl.String)
        .str.contains('"abstained"', literal=True)
        .fill_null(value=False)
    )
    return int(predictions.select((pl.col("label").is_not_null() | withheld).sum()).item())


def scores_of(run: Dataset, task: Task) -> JsonObject:
    """Macro-F1 and accuracy on the test rows; a prediction that failed or abstained counts as
    wrong, and is counted. Both are null where no prediction is an answer; rows of one class have no
    macro-F1."""
    truths = run.records.select("id", truth=task.labels(run.records)).drop_nulls("truth")
    joined = truths.join(run.tables["predictions"], left_on="id", right_on="record_id")
    truth = joined["truth"].to_list()
    notes = [json.loads(m) if m else {} for m in joined["meta"].to_list()]
    none = ["(abstained)" if note.get("abstained") else "(failed)" for note in notes]
    guess = [
        g if g is not None else why for g, why in zip(joined["label"].to_list(), none, strict=True)
    ]
    classes = sorted(set(truth))
    number = {c: i for i, c in enumerate(classes)}
    y, answers = (
        np.array([number.get(w, len(classes)) for w in words], np.int64) for words in (truth, guess)
    )
    counts = confusion(y, answers, len(classes), extra=1)
    failed = guess.count("(failed)")
    spoke = failed < len(truth)
    return {
        "macro_f1": measured_macro_f1(counts) if spoke else None,
        "accuracy": float(accuracy(counts)) if spoke else None,
        "n": len(truth),
        "failed": failed,
        "abstained": guess.count("(abstained)"),
        "classes": {c: truth.count(c) for c in classes},
    }


def headline(detector: str, scores: JsonObject) -> str:
    n = f"on {several(scores['n'], 'test record')}"
    if scores["accuracy"] is None:
        return f"{detector} {n}: {UNANSWERED}."
    accuracy = f"accuracy {100 * scores['accuracy']:.1f}"
    failed = (
        f"; {scores['failed']:,} failed and {verb(scores['failed'], 'counts', 'count')} as wrong"
    )
    n += failed if scores["failed"] else ""
    if scores["macro_f1"] is None:
        only = ", ".join(scores["classes"])
        return f"{detector} scores {accuracy} {n}; macro-F1 not measured: only one class ({only})."
    return f"{detector} scores macro-F1 {100 * scores['macro_f1']:.1f} and {accuracy} {n}."
