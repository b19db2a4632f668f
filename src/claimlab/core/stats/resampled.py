"""One score out of several goes at the same records: the mean of their macro-F1, and its interval.
Each go (a repeat of cross-validation) answers for every record. A resample weighs every group once,
and all goes are scored under the same weights: the interval is that of the reported figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval, Kinds, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, Ints, confusion, macro_f1, majority_f1


@dataclass(frozen=True)
class Resampled:
    """The score with its resamples, and the majority answer's score under the same weights; the
    groups that were drawn tell as much as so many `units` of equal size.
    """

    score: float
    scores: Floats
    majority: Floats
    units: float


def mean_macro_f1(truth: Ints, guesses: Sequence[Ints], classes: int) -> float:
    return float(np.mean([macro_f1(confusion(truth, guess, classes)) for guess in guesses]))


def resample(
    truth: Ints,
    guesses: Sequence[Ints],
    groups: Ints,
    classes: int,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Resampled:
    """The mean macro-F1 of `guesses` (one array per go) and its resamples over whole groups."""
    places, distinct = _answered(truth, guesses, groups, classes)

    def figures(counts: Floats) -> Floats:
        tables = _tables(counts, places, classes)
        return np.stack([macro_f1(tables).mean(axis=0), majority_f1(tables[0].sum(axis=2))], axis=1)

    drawn = redraw(distinct, figures, seed=seed, draws=draws)
    return Resampled(
        mean_macro_f1(truth, guesses, classes), drawn[:, 0], drawn[:, 1], distinct.effective
    )


def _answered(
    truth: Ints, guesses: Sequence[Ints], groups: Ints, classes: int
) -> tuple[Ints, Kinds]:
    """What a record adds to every confusion table is given by its class and all its answers: those
    are the cells to count. For each cell its place in every table, and the kinds of group.
    """
    answers, cell = np.unique(np.stack([truth, *guesses]), axis=1, return_inverse=True)
    distinct = kinds(groups, cell.ravel(), answers.shape[1])
    return answers[0] * classes + answers[1:], distinct


def difference(
    truth: Ints,
    first: Ints,
    second: Ints,
    groups: Ints,
    classes: int,
    *,
    seed: int = 0,
) -> tuple[float, Interval]:
    """The macro-F1 of `other` less that of `one`, and its interval: both are scored under the same
    weights.
    """
    places, distinct = _answered(truth, [first, second], groups, classes)

    def gain(counts: Floats) -> Floats:
        before, after = macro_f1(_tables(counts, places, classes))
        return np.asarray(after - before)

    point = mean_macro_f1(truth, [second], classes) - mean_macro_f1(truth, [first], classes)
    ends = interval(redraw(distinct, gain, seed=seed), distinct.effective, point=point)
    return point, ends or (-1.0, 1.0)


def _tables(counts: Floats, places: Ints, classes: int) -> Floats:
    """Confusion tables (answers, draws, class, answer) from counts per cell (draws, cells)."""
    tables = np.zeros((len(places), len(counts), classes * classes))
    for table, place in zip(tables, places, strict=True):
        for j, at in enumerate(place):
            table[:, at] += counts[:, j]
    return tables.reshape(len(places), len(counts), classes, classes)
