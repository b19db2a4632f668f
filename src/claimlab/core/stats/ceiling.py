"""The score that a perfect detector would get on labels that are partly wrong.

How often a label is right is not known, but it shows: two annotators who are each right with
probability q, and otherwise give any other class alike, agree with probability q² + (1 - q)² / (K
- 1) on K classes. Where no record is a tie, ties were left out, and those that are left agree more
often than that.

A label is what most annotators of its record said, and any one of the classes at a tie. How often
it is right follows from how they were divided: two against one is right less often than three alike
("1-1-1" on three classes once in three).

The band has both uncertainties: how often labels are right, and which of these records' labels are.
All of it takes wrong labels to be equally likely in every class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.stats.ranks import draw_means
from claimlab.core.stats.scores import Counts, Floats, Ints

FEWEST_UNITS = 20  # groups of records; fewer say too little of how often labels are right
MOST_VOTES = 9  # of one record whose ties are foreseen; of more, few are ties
GRID = 2_001  # accuracies of one annotator, from chance to always right
LEAST_SLOPE = 0.01  # of agreement, from chance to always right: below, it tells nothing of accuracy
Division = tuple[int, ...]  # how the annotators of one record were divided, the most first: (2, 1)


@dataclass(frozen=True)
class LabelQuality:
    """The share of labels that are right, and draws of it from what is uncertain about it."""

    share: float
    draws: Floats


def by_agreement(
    agreeing: Floats,
    groups: Ints,
    classes: int,
    divided: Iterable[Sequence[int]] = ((1,),),
    *,
    seed: int = 0,
) -> LabelQuality | None:
    """From `agreeing`, the share of pairs of answers that agree on each record. A label is what
    most of the answers to its record are: `divided` says of each record how many answers were
    alike. Null with fewer than 20 groups, where answers agree no more than by chance, and where
    only records on which two annotators agree are left."""
    resampled, sizes = draw_means(agreeing[:, None], groups, seed=seed)
    share, variance = float(agreeing.mean()), float(resampled.var())
    times = Counter(tuple(sorted(one, reverse=True)) for one in divided)
    accuracies = np.linspace(1 / classes, 1, GRID)
    expected = _agreement(accuracies, times, classes)
    by_chance, sure = float(expected[0]), float(expected[-1])
    if len(sizes) < FEWEST_UNITS or share <= by_chance or sure - by_chance < LEAST_SLOPE:
        return None
    units = share * (1 - share) / variance if variance > 0 else float(len(sizes))
    rng = np.random.default_rng(seed)
    shares = rng.beta(share * units + 0.5, (1 - share) * units + 0.5, size=DRAWS)

    def right(agreement: Floats) -> Floats:
        single = np.interp(agreement, expected, accuracies)
        parts = [n * _most_are_right(single, division, classes) for division, n in times.items()]
        return np.asarray(np.sum(parts, axis=0) / times.total())

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


def _agreement(single: Floats, divided: Mapping[Division, int], classes: int) -> Floats:
    """How often two answers agree, given how often one annotator is right."""
    votes = Counter({sum(division): 0 for division in divided})
    for division, times in divided.items():
        votes[sum(division)] += times
    several = {n: times for n, times in votes.items() if n > 1}
    if not several or any(_is_tie(division) for division in divided):
        return np.asarray(single**2 + (1 - single) ** 2 / (classes - 1))
    parts = [times * _decided(single, min(n, MOST_VOTES), classes) for n, times in several.items()]
    return np.asarray(np.sum(parts, axis=0) / sum(several.values()))


def _decided(single: Floats, votes: int, classes: int) -> Floats:
    """How often two of the answers to a record agree, on records without a tie."""
    agreeing, decided = np.zeros_like(single), np.zeros_like(single)
    for counts, ways in _compositions(votes, classes):
        if _is_tie(tuple(sorted(counts, reverse=True))):
            continue
        chance = ways * single ** counts[0] * ((1 - single) / (classes - 1)) ** (votes - counts[0])
        decided += chance
        agreeing += chance * sum(comb(n, 2) for n in counts) / comb(votes, 2)
    return np.asarray(agreeing / decided)


def _is_tie(divided: Division) -> bool:
    return len(divided) > 1 and divided[0] == divided[1]


def _most_are_right(single: Floats, divided: Division, classes: int) -> Floats:
    """How often the label of records that were so divided is right."""
    most = divided[0]
    odds = single * (classes - 1) / np.maximum(1 - single, 1e-9)  # of one answer for the true class
    against = sum(odds ** float(votes - most) for votes in divided)
    unnamed = max(0, classes - len(divided))
    return np.asarray(1 / (against + unnamed * odds ** -float(most)))


@cache
def _compositions(votes: int, classes: int) -> list[tuple[tuple[int, ...], int]]:
    """Every number of votes for each class, and in how many orders it occurs."""
    out = {}
    for vote in combinations_with_replacement(range(classes), votes):
        counts = tuple(vote.count(c) for c in range(classes))
        out[counts] = factorial(votes) // prod(map(factorial, counts))
    return list(out.items())
