"""The score that a perfect detector would get on labels that are partly wrong.

How often a label is right is not known, but it shows: two annotators who are each right with
probability q, and otherwise give any other class alike, agree with probability q² + (1 - q)² / (K
- 1) on K classes. Where a label is the majority of several annotators it is right more often than
each of them.

The band has both uncertainties: how often labels are right, and which of these records' labels are.
All of it takes wrong labels to be equally likely in every class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.stats.ranks import UNITS, draw_means
from claimlab.core.stats.scores import Counts, Floats, Ints

MOST_VOTES = 9  # of one record; more hardly make its label any better


@dataclass(frozen=True)
class LabelQuality:
    """The share of labels that are right, and draws of it from what is uncertain about it."""

    share: float
    draws: Floats


def by_agreement(
    agreeing: Floats, groups: Ints, classes: int, votes: Sequence[int] = (1,), *, seed: int = 0
) -> LabelQuality | None:
    """From `agreeing`, the share of pairs of answers that agree on each record. A label is the
    majority of as many answers as `votes` says, each value as often as it occurs. Null with fewer
    than 20 groups, and where answers agree no more than by chance."""
    resampled, sizes = draw_means(agreeing[:, None], groups, seed=seed)
    share, variance = float(agreeing.mean()), float(resampled.var())
    if len(sizes) < UNITS or share <= 1 / classes:
        return None
    units = share * (1 - share) / variance if variance > 0 else float(len(sizes))
    rng = np.random.default_rng(seed)
    shares = rng.beta(share * units + 0.5, (1 - share) * units + 0.5, size=DRAWS)
    values, times = np.unique(np.minimum(votes, MOST_VOTES), return_counts=True)

    def right(agreement: Floats) -> Floats:
        one = _one_annotator(agreement, classes)
        parts = [n * _majority(one, int(v), classes) for v, n in zip(values, times, strict=True)]
        return np.asarray(np.sum(parts, axis=0) / times.sum())

    return LabelQuality(float(right(np.array([share]))[0]), right(shares))


def ceiling(
    labels: Ints, quality: LabelQuality, figure: Callable[[Counts], Floats], *, seed: int = 0
) -> tuple[float, Interval]:
    """The score of a perfect detector, and its 95% band, on records of which `labels` counts each
    class; `figure` takes tables (..., class, answer) and gives one number for each."""
    rng = np.random.default_rng(seed)
    expected = labels[:, None] * _answers(labels, np.array([quality.share]))
    shares = _answers(labels, quality.draws)
    rows = [rng.multinomial(n, shares[:, i]) for i, n in enumerate(labels.tolist())]
    tables = np.stack(rows, axis=1).astype(np.float64)
    low, high = np.nanquantile(figure(tables), [0.025, 0.975])
    return float(figure(expected)[0]), (float(low), float(high))


def _answers(labels: Ints, right: Floats) -> Floats:
    """The true classes of records with each label (draws, label, class), as shares of each row."""
    classes = len(labels)
    other = (1 - right) / max(1, classes - 1)
    seen = labels / labels.sum()
    true = np.clip((seen - other[:, None]) / np.maximum(right - other, 1e-9)[:, None], 1e-9, None)
    same = np.eye(classes, dtype=bool)
    joint = true[:, None, :] * np.where(same, right[:, None, None], other[:, None, None])
    joint += 1e-15
    return np.asarray(joint / joint.sum(axis=2, keepdims=True))


def _one_annotator(agreement: Floats, classes: int) -> Floats:
    """How often one annotator is right: the larger root of q² + (1 - q)² / (K - 1) = agreement."""
    under = np.maximum((agreement * classes - 1) * (classes - 1), 0.0)
    return np.asarray(np.minimum((1 + np.sqrt(under)) / classes, 1.0))


def _majority(one: Floats, votes: int, classes: int) -> Floats:
    """How often the majority of `votes` answers is right, where there is one."""
    if votes < 2:
        return one
    right, any_class = np.zeros_like(one), np.zeros_like(one)
    other = (1 - one) / (classes - 1)
    for counts, ways in _compositions(votes, classes):
        most = max(counts)
        if counts.count(most) > 1:
            continue
        chance = ways * one ** counts[0] * other ** (votes - counts[0])
        any_class += chance
        if counts[0] == most:
            right += chance
    return np.asarray(right / np.maximum(any_class, 1e-12))


@cache
def _compositions(votes: int, classes: int) -> list[tuple[tuple[int, ...], int]]:
    """Every number of votes for each class, and in how many orders it occurs."""
    out = {}
    for vote in combinations_with_replacement(range(classes), votes):
        counts = tuple(vote.count(c) for c in range(classes))
        out[counts] = factorial(votes) // prod(map(factorial, counts))
    return list(out.items())
