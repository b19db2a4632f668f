"""Metrics of the scores that a run gives each class: how well they rank, and what they promise.

Each equals scikit-learn's where that has one. A record without scores, in a run that has some, is
at the wrong end of every ranking; what scores promise is measured of the records that have them.
For resamples, what they are made of is counted: the positives and negatives at every score, or the
records of about the same error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np

from claimlab.core.stats.scores import Counts, Flags, Floats, Ints, ratio
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import Cells, Statistic
from claimlab.evaluate.metric import MetricValue, ScoreMetric

RATES = (0.01, 0.05)  # false-positive rates at which the true-positive rate is given
BINS = 10
SUMS_TO_ONE = 1e-3
# distinct scores; beyond these, scores next to each other share a place in the ranking
MOST_SCORES = 1_000


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


def unranked(answers: Answers) -> str | None:
    """Why a ranking by these scores means nothing; null where it means something."""
    if answers.scores is None:
        return answers.unscored
    rows = answers.take(_scored(answers))
    assert rows.scores is not None
    if len(answers.classes) < 2 or len(np.unique(rows.truth)) < len(answers.classes):
        return "A class has no record with scores."
    if (rows.scores == rows.scores[0]).all():
        return "Every record has the same scores."
    return None


def positive_of(answers: Answers) -> str | None:
    """The class that a ranking looks for: with two classes, that of the task, else the second."""
    if len(answers.classes) != 2:
        return None
    return answers.positive if answers.positive in answers.classes else answers.classes[1]


def targets(answers: Answers) -> list[tuple[Flags, Floats]]:
    """(is it the class, score of the class): once for two classes, for each class of more. A record
    without scores is below all others of its class, and above all of another."""
    assert answers.scores is not None
    positive = positive_of(answers)
    wanted = range(len(answers.classes)) if positive is None else [answers.classes.index(positive)]
    return [_target(answers.truth == number, answers.scores[:, number]) for number in wanted]


def _target(is_class: Flags, score: Floats) -> tuple[Flags, Floats]:
    wrong_end = np.where(is_class, -np.inf, np.inf)
    return is_class, np.where(np.isnan(score), wrong_end, score)


def auroc(answers: Answers) -> MetricValue:
    """Area under the ROC curve: of the positive class with two, else each class against the rest,
    averaged.
    """
    if why := unranked(answers):
        return MetricValue(why=why)
    return MetricValue(float(np.mean([areas(ranking(*target)) for target in targets(answers)])))


def _area_cells(answers: Answers) -> Cells:
    """One record has a cell in the table of every class that is ranked."""
    tables = [_ranks(*target) for target in targets(answers)]
    sizes = [2 * places for _, places in tables]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.stack([cell + start for (cell, _), start in zip(tables, starts, strict=False)])

    def mean_area(counts: Floats) -> Floats:
        parts = [counts[:, start:end] for start, end in pairwise(starts)]
        of_classes = [areas(part.reshape(len(counts), -1, 2)) for part in parts]
        return np.asarray(np.mean(of_classes, axis=0))

    return Cells(cells, int(starts[-1]), mean_area)


def _rate_cells(answers: Answers, *, fpr: float) -> Cells:
    ((cell, places),) = [_ranks(*target) for target in targets(answers)]

    def rate(counts: Floats) -> Floats:
        return rates_at(counts.reshape(len(counts), -1, 2), fpr)

    return Cells(cell, 2 * places, rate)


def _scored(answers: Answers) -> Ints:
    assert answers.scores is not None
    return np.flatnonzero(~np.isnan(answers.scores).any(axis=1))


def _spread_out(answers: Answers, where: Ints, cell: Ints, size: int, figure: Statistic) -> Cells:
    """Cells of all records from those of the records `where`: the others count for nothing."""
    every = np.full((*cell.shape[:-1], answers.n), size)
    every[..., where] = cell
    return Cells(every, size + 1, lambda counts: figure(counts[:, :size]))


def _ranks(truth: Flags, score: Floats, most: float = MOST_SCORES) -> tuple[Ints, int]:
    """The cell of each record in a table of places in the ranking by class, and how many places
    there are.
    """
    distinct, place = np.unique(score, return_inverse=True)
    places = len(distinct)
    if places > most:
        first = np.searchsorted(np.sort(score), score)  # equal scores share the place of the first
        place, places = first * MOST_SCORES // len(score), MOST_SCORES
    return np.asarray(place * 2 + truth), places


def ranking(truth: Flags, score: Floats) -> Ints:
    """Negatives and positives at each score (places, 2), the lowest first."""
    cell, places = _ranks(truth, score, np.inf)
    return np.bincount(cell, minlength=2 * places).reshape(-1, 2)


def areas(counts: Counts) -> Floats:
    """AUROC of each table of negatives and positives by place (tables, places, 2): how often a
    positive outranks a negative, ties counted half."""
    down, up = counts[..., 0], counts[..., 1]
    below = np.cumsum(down, axis=-1) - down
    won = (up * (below + down / 2)).sum(axis=-1)
    pairs = up.sum(axis=-1) * down.sum(axis=-1)
    return ratio(won, pairs, nothing=np.nan)


def rates_at(counts: Counts, fpr: float) -> Floats:
    """The true-positive rate of each table of negatives and positives by place (tables, places, 2)
    where at most `fpr` of the negatives pass for positives."""
    negatives, positives = counts[..., 0], counts[..., 1]
    from_the_top = np.cumsum(negatives[..., ::-1], axis=-1)
    passed = from_the_top[..., ::-1]  # negatives at a place or above it
    total = negatives.sum(axis=-1, keepdims=True)
    allowed = np.floor(fpr * total + 1e-9)
    detected = positives * (passed <= allowed)
    return ratio(detected.sum(axis=-1), positives.sum(axis=-1), nothing=np.nan)


def true_positives(answers: Answers, *, fpr: float) -> MetricValue:
    """The true-positive rate where at most `fpr` of the negatives pass for positives; only for a
    task with two classes.
    """
    if why := unranked(answers):
        return MetricValue(why=why)
    if len(answers.classes) != 2:
        return MetricValue(why="There are more than two classes.")
    counts = ranking(*targets(answers)[0])
    negatives, needed = int(counts[:, 0].sum()), round(1 / fpr)
    if negatives < needed:
        why = f"A rate of {100 * fpr:g}% needs {needed} negatives; there are {negatives}."
        return MetricValue(why=why)
    return MetricValue(float(rates_at(counts, fpr)))


def calibration(answers: Answers) -> Calibration:
    """How far a run's confidence is from how often it is right; needs scores that are
    probabilities.
    """
    if answers.scores is None:
        return Calibration(why=answers.unscored)
    where = _scored(answers)
    probs, truth = answers.scores[where], answers.truth[where]
    if not len(probs):
        return Calibration(why=answers.unscored)
    if probs.min() < 0 or np.abs(probs.sum(axis=1) - 1).max() > SUMS_TO_ONE:
        return Calibration(why="The scores are not probabilities: they do not sum to one.")
    if (probs == probs[0]).all():
        return Calibration(len(probs), why="Every record has the same scores.")
    sure, right = probs.max(axis=1), probs.argmax(axis=1) == truth
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    size = np.bincount(place, minlength=BINS)
    mean_sure, mean_right = (np.bincount(place, weights=v, minlength=BINS) for v in (sure, right))
    curve = [
        Bin(int(n), float(s / n), float(r / n))
        for n, s, r in zip(size, mean_sure, mean_right, strict=True)
        if n
    ]
    brier = float(_square_errors(probs, truth).mean())
    ece = float(np.abs(mean_sure - mean_right).sum() / len(probs))
    return Calibration(len(probs), ece, brier, curve)


def _calibration_cells(answers: Answers) -> Cells:
    """Ten bins of confidence, right and wrong apart: each cell has the mean confidence of its
    records."""
    assert answers.scores is not None
    where = _scored(answers)
    probs, truth = answers.scores[where], answers.truth[where]
    sure, right = probs.max(axis=1), probs.argmax(axis=1) == truth
    cell = 2 * np.minimum((sure * BINS).astype(np.int64), BINS - 1) + right
    size = np.bincount(cell, minlength=2 * BINS)
    mean = ratio(np.bincount(cell, weights=sure, minlength=2 * BINS), size, nothing=0.0)
    excess = mean - np.arange(2 * BINS) % 2

    def error(counts: Floats) -> Floats:
        gaps = np.abs((counts * excess).reshape(len(counts), BINS, 2).sum(axis=-1))
        return ratio(gaps.sum(axis=-1), counts.sum(axis=-1), nothing=np.nan)

    return _spread_out(answers, where, cell, 2 * BINS, error)


def _brier_cells(answers: Answers) -> Cells:
    """Records of about the same error share a cell, which has their mean error."""
    assert answers.scores is not None
    where = _scored(answers)
    errors = _square_errors(answers.scores[where], answers.truth[where])
    place = np.unique(errors, return_inverse=True)[1]
    cell = place if place.max() < MOST_SCORES else place * MOST_SCORES // (place.max() + 1)
    size = int(cell.max()) + 1
    mean = np.bincount(cell, weights=errors) / np.maximum(np.bincount(cell), 1)

    def score(counts: Floats) -> Floats:
        return ratio(counts @ mean, counts.sum(axis=-1), nothing=np.nan)

    return _spread_out(answers, where, cell, size, score)


def _square_errors(probs: Floats, truth: Ints) -> Floats:
    """The squared distance between the probabilities and the truth, of each record."""
    hot = np.zeros_like(probs)
    hot[np.arange(len(truth)), truth] = 1.0
    square = ((probs - hot) ** 2).sum(axis=1)
    # With two classes both errors are the same number: one of them is the usual Brier score.
    return np.asarray(square / 2 if probs.shape[1] == 2 else square)


def _calibrated(answers: Answers, *, name: str) -> MetricValue:
    calibrated = calibration(answers)
    return MetricValue(getattr(calibrated, name), calibrated.why)


ENTRIES = [
    ScoreMetric(
        name="auroc",
        title="AUROC",
        short="AUROC",
        place=30,
        summary="How often a record of the class is scored above one of another class.",
        figure=auroc,
        counted=_area_cells,
        gaps="wrong-end",
    ),
    *(
        ScoreMetric(
            name=f"tpr-at-{100 * fpr:g}",
            title=f"true-positive rate at {100 * fpr:g}% false positives",
            place=40,
            summary=f"The share found where at most {100 * fpr:g}% of the others are taken for it.",
            figure=partial(true_positives, fpr=fpr),
            counted=partial(_rate_cells, fpr=fpr),
            gaps="wrong-end",
        )
        for fpr in RATES
    ),
    ScoreMetric(
        name="ece",
        title="calibration error (ECE)",
        short="ECE",
        place=50,
        summary="The mean distance between how sure a run is and how often it is right.",
        figure=partial(_calibrated, name="ece"),
        counted=_calibration_cells,
        gaps="left-out",
        higher_is_better=False,
    ),
    ScoreMetric(
        name="brier",
        title="Brier score",
        place=60,
        summary="The mean squared distance between its probabilities and the truth.",
        figure=partial(_calibrated, name="brier"),
        counted=_brier_cells,
        gaps="left-out",
        higher_is_better=False,
    ),
]
