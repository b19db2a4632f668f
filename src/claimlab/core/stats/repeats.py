"""One score out of several goes at the same records: the mean of their macro-F1, and its interval.

Each go (a repeat of cross-validation) answers for every record. A resample weighs every group once,
and all goes are scored under the same weights: the interval is that of the reported figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, Ints, confusion, macro_f1, majority_f1


@dataclass(frozen=True)
class Resampled:
    """The score with its resamples, and the majority answer's score under the same weights;
    `groups` were drawn.
    """

    score: float
    scores: Floats
    majority: Floats
    groups: int


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
    # What a record adds to every table is given by its class and all its answers: those are the
    # cells to count.
    answers, cell = np.unique(np.stack([truth, *guesses]), axis=1, return_inverse=True)
    places = answers[0] * classes + answers[1:]

    def figures(counts: Floats) -> Floats:
        tables = _tables(counts, places, classes)
        return np.stack([macro_f1(tables).mean(axis=0), majority_f1(tables[0].sum(axis=2))], axis=1)

    known = kinds(groups, cell.ravel(), answers.shape[1])
    drawn = redraw(known, figures, seed=seed, draws=draws)
    return Resampled(mean_macro_f1(truth, guesses, classes), drawn[:, 0], drawn[:, 1], known.groups)


def difference(
    truth: Ints,
    one: Ints,
    other: Ints,
    groups: Ints,
    classes: int,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> tuple[float, Interval]:
    """The macro-F1 of `other` less that of `one`, and its interval: both are scored under the same
    weights.
    """
    answers, cell = np.unique(np.stack([truth, one, other]), axis=1, return_inverse=True)
    places = answers[0] * classes + answers[1:]

    def gain(counts: Floats) -> Floats:
        before, after = macro_f1(_tables(counts, places, classes))
        return np.asarray(after - before)

    known = kinds(groups, cell.ravel(), answers.shape[1])
    point = mean_macro_f1(truth, [other], classes) - mean_macro_f1(truth, [one], classes)
    ends = interval(redraw(known, gain, seed=seed, draws=draws), known.groups, point=point)
    return point, ends or (-1.0, 1.0)


def _tables(counts: Floats, places: Ints, classes: int) -> Floats:
    """Confusion tables (answers, draws, class, answer) from counts per cell (draws, cells)."""
    tables = np.zeros((len(places), len(counts), classes * classes))
    for table, place in zip(tables, places, strict=True):
        for j, at in enumerate(place):
            table[:, at] += counts[:, j]
    return tables.reshape(len(places), len(counts), classes, classes)
