"""Predictions as tables, and what a reader must be warned of before believing them.

The two figures that a run prints at once; everything finer is the work of evaluation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.record import meta_json, to_side_table
from claimlab.core.stats.scores import UNANSWERED, accuracy, confusion, measured_macro_f1
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.detect.detector import ABSTAINED, Prediction
from claimlab.search.evidence import Evidence
from claimlab.tasks import Task
from claimlab.text.urls import registrable_domain

# of a stored score: with six, a score that is nearly sure would be stored as exactly 1
SCORE_DECIMALS = 9


def as_table(records: pl.DataFrame, predictions: Sequence[Prediction], run: str) -> pl.DataFrame:
    """The `predictions` side table. `meta` holds the failure, an abstention, flags on the score,
    and more.
    """
    rows = [
        {
            "record_id": record,
            "run": run,
            **{name: getattr(p, name) for name in ("label", "rationale", "cost", "seconds")},
            "scores": json.dumps(
                {k: round(v, SCORE_DECIMALS) for k, v in p.scores.items()}, sort_keys=True
            )
            if p.scores
            else None,
            "evidence_ids": list(p.evidence_ids),
            "meta": meta_json(
                {**p.notes, "failure": p.failure, "abstained": p.abstained, "flag": flag}
            ),
        }
        for record, p, flag in zip(records["id"], predictions, flags(predictions), strict=True)
    ]
    return to_side_table("predictions", pl.DataFrame(rows, infer_schema_length=None))


def evidence_of(
    records: pl.DataFrame, predictions: Sequence[Prediction], before: pl.DataFrame | None
) -> pl.DataFrame | None:
    """The evidence of a run: that of the records, and what the detector found; null if there is
    none.

    A run keeps it so that every id a prediction cites can be looked up, and a rationale compared
    with a fact-check.
    """
    parts = []
    if before is not None:
        parts.append(before.join(records, left_on="record_id", right_on="id", how="semi"))
    rows = [
        piece.row(record, rank, registrable_domain)
        for record, p in zip(records["id"], predictions, strict=True)
        for rank, piece in enumerate(p.found, 1)
    ]
    if not rows:
        return parts[0] if parts else None
    parts.append(to_side_table("evidence", pl.DataFrame(rows, infer_schema_length=None)))
    both = pl.concat(parts, how="diagonal_relaxed")
    return both.unique(["record_id", "evidence_id"], keep="first", maintain_order=True)


def flags(predictions: Sequence[Prediction]) -> list[str | None]:
    """For each prediction what is wrong with its score: the same for all, clamped, or against its
    own label.
    """
    scored = {tuple(sorted(p.scores.items())) for p in predictions if p.scores}
    constant = len(scored) == 1 and sum(bool(p.scores) for p in predictions) > 1
    return [_flag(p, constant) for p in predictions]


def _flag(prediction: Prediction, constant: bool) -> str | None:
    best = max(prediction.scores.values(), default=None)
    if best is None:
        return None
    if constant:
        return "constant-score"
    if best in (0.0, 1.0):
        return "clamped-score"
    higher = prediction.scores.get(prediction.label or "", best) < best
    return "another-class-scores-higher" if higher else None


def suspicious(predictions: Sequence[Prediction]) -> list[str]:
    """What a reader must know before believing a score: constant or clamped scores, failed
    answers.
    """
    tally = Counter(flags(predictions))
    scored = sum(bool(p.scores) for p in predictions)
    notes = []
    if tally["constant-score"]:
        notes.append(
            "Every prediction has the same scores: AUROC and calibration mean nothing here."
        )
    if (edges := tally["clamped-score"]) > scored / 2:
        notes.append(
            f"{several_of(edges, scored, 'score')} {verb(edges)} exactly 0 or 1, as if clamped."
        )
    if against := tally["another-class-scores-higher"]:
        of = several_of(against, scored, "prediction")
        notes.append(
            f"{of} {verb(against, 'scores', 'score')} another class higher than the predicted one."
        )
    return notes + _unanswered(predictions)


def _unanswered(predictions: Sequence[Prediction]) -> list[str]:
    notes = []
    failed = Counter(
        p.failure or "no reason given" for p in predictions if p.label is None and not p.abstained
    )
    if n := failed.total():
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items()))
        named = f" ({why})" if set(failed) != {"no reason given"} else ""
        of = several_of(n, len(predictions), "prediction")
        notes.append(f"{of} failed and {verb(n)} null{named}.")
    abstained = Counter(p.abstained for p in predictions if p.abstained)
    if n := abstained.total():
        why = ", ".join(f"{kind} {abstained[kind]}" for kind in ABSTAINED if abstained[kind])
        of = several_of(n, len(predictions), "prediction")
        notes.append(f"{of} abstained ({why}): no class.")
    return notes


def stored(prediction: Prediction) -> JsonObject:
    """As JSON, for the journal."""
    evidence = [piece.to_json() for piece in prediction.found]
    return {**vars(prediction), "notes": dict(prediction.notes), "found": evidence}


def restored(raw: JsonObject) -> Prediction:
    evidence = tuple(Evidence.from_json(piece) for piece in raw["found"])
    return Prediction(**{**raw, "found": evidence, "evidence_ids": tuple(raw["evidence_ids"])})


def answered(predictions: pl.DataFrame) -> int:
    """How many predictions are answers: a label, or a stated abstention."""
    withheld = pl.col("meta").cast(pl.String).str.contains('"abstained"', literal=True)
    answers = pl.col("label").is_not_null() | withheld.fill_null(value=False)
    return int(predictions.select(answers.sum()).item())


def scores_of(run: Dataset, task: Task) -> JsonObject:
    """Macro-F1 and accuracy on the test rows; a prediction that failed or abstained counts as
    wrong, and is counted. Both are null where no prediction is an answer; rows of one class have no
    macro-F1."""
    truths = run.records.select("id", truth=task.labels(run.records)).drop_nulls("truth")
    joined = truths.join(
        run.tables["predictions"],
        left_on="id",
        right_on="record_id",
        how="left",
        maintain_order="left",
    )
    truth = joined["truth"].to_list()
    guess = [
        _unanswered_as(meta) if label is None else label
        for label, meta in joined.select("label", "meta").iter_rows()
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


def _unanswered_as(meta: str | None) -> str:
    """What stands for the label of a prediction that has none."""
    abstained = json.loads(meta).get("abstained") if meta else None
    return "(abstained)" if abstained else "(failed)"


def headline(detector: str, run: Dataset) -> str:
    """What a run scores, in a sentence; of a test without labels, what it answers."""
    scores = run.report["scores"]
    n = f"on {several(scores['n'], 'test record')}"
    if not scores["n"]:
        answers = several_of(answered(run.tables["predictions"]), run.records.height, "record")
        return f"{detector} answers {answers}; none of these has a label, so nothing is scored."
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
