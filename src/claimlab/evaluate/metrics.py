"""Scores from confusion counts and from the ranking of scores; each equals scikit-learn's where
that has one.

A confusion table here has a row per class and two columns more than classes: answers that are none
of the classes, and no answer. Both count as wrong; leaving out the last column gives the score over
what was answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from claimlab.core.stats import scores
from claimlab.core.stats.interval import DRAWS, Interval, intervals
from claimlab.core.stats.scores import (
    Counts,
    Floats,
    Ints,
    accuracy,
    f1_per_class,
    measured_macro_f1,
    ratio,
)
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.small import unmeasured

RATES = (0.01, 0.05)  # false-positive rates at which the true-positive rate is given
BINS = 10
SUMS_TO_ONE = 1e-3


@dataclass(frozen=True)
class ClassScore:
    name: str
    n: int
    precision: (
        float | None
    )  # null when the class was never answered, and when it is the only class of the truth
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
class Bin:
    """Answers given with about the same confidence: how sure the run was, and how often it was
    right.
    """

    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """`ece`: mean distance between confidence and accuracy over ten bins. `why` says what is
    missing when null.
    """

    n: int = 0
    ece: float | None = None
    brier: float | None = None
    curve: list[Bin] = field(default_factory=list)
    why: str | None = None


@dataclass(frozen=True)
class Scores:
    """Every measure of one run on one set of records. What could not be measured is null with a
    reason.
    """

    n: int
    classes: dict[str, int]
    failed: int
    other: int
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


def confusion(answers: Answers) -> Ints:
    """(K, K+2) counts: truth in rows; answers, others and no answer in columns."""
    return scores.confusion(answers.truth, answers.guess, len(answers.classes), extra=2)


def macro_f1_of(answers: Answers) -> float | None:
    """Macro-F1; null where no record was answered, and where the truth holds only one class."""
    return measured_macro_f1(confusion(answers)) if answers.answered else None


def accuracy_of(answers: Answers) -> float | None:
    """Accuracy; null where no record was answered."""
    return float(accuracy(confusion(answers))) if answers.answered else None


def table_interval(
    answers: Answers, statistic: Callable[[Floats], Floats], *, seed: int = 0, draws: int = DRAWS
) -> list[Interval | None]:
    """Intervals of one or several figures of the confusion table (statistic over (..., K, K+2))."""
    k = len(answers.classes)
    return intervals(
        answers.cluster,
        answers.cell,
        answers.cells,
        lambda flat: statistic(flat.reshape(-1, k, k + 2)),
        seed=seed,
        draws=draws,
    )


def per_class(counts: Counts, classes: tuple[str, ...]) -> list[ClassScore]:
    k, spoke = len(classes), bool(counts[:, :-1].sum())
    hits = np.diagonal(counts).astype(np.float64)
    size, answered = counts.sum(axis=1), counts[:, :k].sum(axis=0)
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


def measure(answers: Answers, positive: str | None = None) -> Scores:
    """Every measure of one run; `positive` is the class that a binary ranking looks for."""
    counts = confusion(answers)
    k = len(answers.classes)
    answered = counts[:, : k + 1]  # without "no answer"
    area, why = auroc(answers, positive)
    return Scores(
        n=answers.n,
        classes={c: int(n) for c, n in zip(answers.classes, counts.sum(axis=1), strict=True)},
        failed=int(counts[:, k + 1].sum()),
        other=int(counts[:, k].sum()),
        accuracy=accuracy_of(answers),
        macro_f1=macro_f1_of(answers),
        why=unmeasured(answers),
        answered_accuracy=float(accuracy(answered)) if answers.answered else None,
        answered_macro_f1=measured_macro_f1(answered) if answers.answered else None,
        per_class=per_class(counts, answers.classes),
        auroc=area,
        auroc_why=why,
        rates=rates(answers, positive),
        calibration=calibration(answers),
    )


def auroc(answers: Answers, positive: str | None = None) -> tuple[float | None, str | None]:
    """Area under the ROC curve: of `positive` with two classes, else each class against the rest,
    averaged.
    """
    rows, why = ranked(answers)
    if rows is None:
        return None, why
    return (
        float(np.mean([rank_area(truth, score) for truth, score in targets(rows, positive)])),
        None,
    )


def rates(answers: Answers, positive: str | None = None) -> list[Rate]:
    """True-positive rates at the usual false-positive rates; only for a task with two classes."""
    rows, why = ranked(answers)
    if rows is None:
        return [Rate(fpr, None, why) for fpr in RATES]
    if len(answers.classes) != 2:
        return [Rate(fpr, None, "There are more than two classes.") for fpr in RATES]
    ((truth, score),) = targets(rows, positive)
    return [tpr_at(truth, score, fpr) for fpr in RATES]


def targets(rows: Answers, positive: str | None) -> list[tuple[npt.NDArray[np.bool_], Floats]]:
    """(is it the class, score of the class): once for two classes, for each class of more."""
    assert rows.scores is not None
    classes = range(len(rows.classes))
    wanted = (
        [rows.classes.index(positive) if positive in rows.classes else 1]
        if len(classes) == 2
        else classes
    )
    return [(rows.truth == c, rows.scores[:, c]) for c in wanted]


def rank_area(truth: npt.NDArray[np.bool_], score: Floats) -> float:
    """Chance that a positive is scored above a negative, ties counted half."""
    _, place, times = np.unique(score, return_inverse=True, return_counts=True)
    rank = np.cumsum(times) - (times - 1) / 2  # equal scores share the mean of their ranks
    up = int(truth.sum())
    down = len(truth) - up
    return float((rank[place][truth].sum() - up * (up + 1) / 2) / (up * down))


def tpr_at(truth: npt.NDArray[np.bool_], score: Floats, fpr: float) -> Rate:
    negatives = np.sort(score[~truth])[::-1]
    if len(negatives) < round(1 / fpr):
        why = (
            f"A rate of {100 * fpr:g}% needs {round(1 / fpr)} negatives; there are"
            f" {len(negatives)}."
        )
        return Rate(fpr, None, why)
    allowed = int(np.floor(fpr * len(negatives) + 1e-9))
    # Positives above the first negative that may not pass: ties with it would let it in.
    bar = negatives[allowed] if allowed < len(negatives) else -np.inf
    return Rate(fpr, float((score[truth] > bar).mean()))


def calibration(answers: Answers) -> Calibration:
    """How far a run's confidence is from how often it is right; needs scores that are
    probabilities.
    """
    if answers.scores is None:
        return Calibration(why=answers.unscored)
    has = ~np.isnan(answers.scores).any(axis=1)
    probs, truth = answers.scores[has], answers.truth[has]
    if not len(probs):
        return Calibration(why=answers.unscored)
    if probs.min() < 0 or np.abs(probs.sum(axis=1) - 1).max() > SUMS_TO_ONE:
        return Calibration(why="The scores are not probabilities: they do not sum to one.")
    if (probs == probs[0]).all():
        return Calibration(len(probs), why="Every record has the same scores.")
    best = probs.argmax(axis=1)
    sure, right = probs.max(axis=1), best == truth
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    size = np.bincount(place, minlength=BINS)
    mean_sure, mean_right = (np.bincount(place, weights=v, minlength=BINS) for v in (sure, right))
    curve = [
        Bin(int(n), float(s / n), float(r / n))
        for n, s, r in zip(size, mean_sure, mean_right, strict=True)
        if n
    ]
    hot = np.zeros_like(probs)
    hot[np.arange(len(truth)), truth] = 1.0
    square = ((probs - hot) ** 2).sum(axis=1).mean()
    # With two classes both errors are the same number: one of them is the usual Brier score.
    brier = square / 2 if probs.shape[1] == 2 else square
    return Calibration(
        len(probs), float(np.abs(mean_sure - mean_right).sum() / len(probs)), float(brier), curve
    )


def ranked(answers: Answers) -> tuple[Answers | None, str | None]:
    """The records with scores, when a ranking of them means something."""
    if answers.scores is None:
        return None, answers.unscored
    rows = answers.take(np.flatnonzero(~np.isnan(answers.scores).any(axis=1)))
    assert rows.scores is not None
    if len(answers.classes) < 2 or len(np.unique(rows.truth)) < len(answers.classes):
        return None, "A class has no record with scores."
    if (rows.scores == rows.scores[0]).all():
        return None, "Every record has the same scores."
    return rows, None
