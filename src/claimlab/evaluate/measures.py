"""Every measure of one run on one set of records, from its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from claimlab.core.stats.scores import (
    Counts,
    accuracy,
    f1_per_class,
    measured_macro_f1,
    ratio,
    taken_for,
)
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import confusion
from claimlab.evaluate.metric import MetricValue, metrics
from claimlab.evaluate.metrics.table_scores import (
    RATES,
    Calibration,
    calibration,
    positive_of,
)
from claimlab.evaluate.sufficiency import unmeasured

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class ClassScore:
    name: str
    n: int
    # null when the class was never answered, and when it is the only class of the truth
    precision: float | None
    recall: float | None  # null where no record was answered
    f1: float | None  # null there, and when it is the only class: nothing could be mistaken for it


@dataclass(frozen=True)
class Rate:
    """The true-positive rate where at most `fpr` of the negatives pass for positives; null, and
    why, if unknown.
    """

    fpr: float
    tpr: float | None
    why: str | None = None


@dataclass(frozen=True)
class Scores:
    """Every measure of one run on one set of records. What could not be measured is null with a
    reason. `metrics` has every metric of the registry by its key; some have a field as well.
    """

    n: int
    classes: dict[str, int]
    failed: int
    other: int
    answered: int  # records with an answer, whatever it says
    positive: str | None  # the class that AUROC and the true-positive rates look for
    accuracy: float | None  # null where no record was answered
    macro_f1: float | None  # null there, and where the truth holds only one class
    why: str | None  # macro-F1 is null, where it is
    answered_accuracy: float | None
    answered_macro_f1: float | None
    per_class: list[ClassScore]
    auroc: float | None
    auroc_why: str | None
    rates: list[Rate]
    calibration: Calibration
    metrics: dict[str, MetricValue]


def measure(answers: Answers) -> Scores:
    """Every measure of one run."""
    counts = confusion(answers)
    k = len(answers.classes)
    answered = counts[:, : k + 1]  # without "no answer"
    measured = {metric.key: metric.measure(answers) for metric in metrics()}
    rates = {fpr: measured[f"tpr_at_{100 * fpr:g}"] for fpr in RATES}
    return Scores(
        n=answers.n,
        classes=dict(zip(answers.classes, counts.sum(axis=1).tolist(), strict=True)),
        failed=int(counts[:, k + 1].sum()),
        other=int(counts[:, k].sum()),
        answered=answers.answered,
        positive=positive_of(answers),
        accuracy=measured["accuracy"].value,
        macro_f1=measured["macro_f1"].value,
        why=unmeasured(answers),
        answered_accuracy=float(accuracy(answered)) if answers.answered else None,
        answered_macro_f1=measured_macro_f1(answered) if answers.answered else None,
        per_class=per_class(counts, answers.classes),
        auroc=measured["auroc"].value,
        auroc_why=measured["auroc"].why,
        rates=[Rate(fpr, rate.value, rate.why) for fpr, rate in rates.items()],
        calibration=calibration(answers),
        metrics=measured,
    )


def per_class(counts: Counts, classes: tuple[str, ...]) -> list[ClassScore]:
    k, spoke = len(classes), bool(counts[:, :-1].sum())
    hits = np.diagonal(counts).astype(np.float64)
    size, answered = counts.sum(axis=1), taken_for(counts)
    recall, f1 = ratio(hits, size, nothing=0.0), f1_per_class(counts)
    return [
        ClassScore(
            name,
            int(size[i]),
            float(hits[i] / answered[i]) if answered[i] and k > 1 else None,
            float(recall[i]) if spoke else None,
            float(np.nan_to_num(f1[i])) if spoke and k > 1 else None,
        )
        for i, name in enumerate(classes)
    ]
