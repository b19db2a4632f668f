"""Which differences between several scores are real: the ranks that the data allow each, the group
that may be the best, and the smallest difference that these records can show.

All scores are resampled together (`interval.redraw`), so that a difference of two has a standard
error of its own. Every pair is tested at once: the differences, each divided by its error, are
compared with the largest one of each resample, and those that are clear are taken out step by step
(step-down max-T; Romano and Wolf 2005). The chance of even one wrong "better", in either direction,
is about 5%. Errors that are estimated from few groups are uncertain themselves: they are taken as
Student's, with the effective number of groups, which is small where groups differ much in size. A
score can then have any rank from 1 + the number that are better to the number of scores less those
that are worse, for all scores at once (Mogstad, Romano, Shaikh and Wilhelm 2024).

The group that may be the best is the model confidence set (Hansen, Lunde and Nason 2011): while the
scores left over are not equal, the worst of them is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.interval import (
    DRAWS,
    LEAST_UNITS,
    NUMBERS_AT_A_TIME,
    effective_groups,
    kinds,
    redraw,
)
from claimlab.core.stats.scores import Floats, Ints, macro_f1

POWER = 0.8  # of showing the smallest detectable difference
ASSUMED_ACCURACY, ASSUMED_LIKENESS, PAIRS_SIMULATED = (
    0.8,
    0.5,
    8,
)  # what is assumed of two detectors before they are run
Ranks = tuple[int, int]  # from the best to the worst that the data allow


@dataclass(frozen=True)
class Ranking:
    """Scores in the order given. `p[i, j]` is that of the difference of i and j, corrected for all
    pairs. `tied` are those that may be the best, the highest first, and `p_tied` is the p-value of
    their being equal: null of one alone. A difference is clear when it exceeds `critical` errors,
    and is mostly found (with `POWER`) when it is truly `reach` errors larger than that.
    """

    ranks: list[Ranks]
    p: Floats  # (scores, scores)
    errors: Floats  # (scores, scores): the standard error of each difference
    critical: float
    reach: float
    tied: list[int]
    p_tied: float | None

    @property
    def detectable(self) -> float:
        """The smallest difference that a typical pair would show, corrected for all pairs."""
        pairs = self.errors[np.triu_indices(len(self.errors), 1)]
        return (self.critical + self.reach) * float(np.median(pairs))


def rank(scores: Floats, drawn: Floats, groups: float) -> Ranking:
    """The ranking of two or more `scores` (the higher the better) with their common resamples
    `drawn` (draws, scores), which were made of so many effective `groups` of records.
    """
    from scipy.special import ndtri

    noise = np.where(np.isnan(drawn), 0.0, drawn - scores)
    errors = _errors(noise)
    p, maxima = _step_down(scores, noise, errors, groups)
    better = (p < LEVEL) & (scores[:, None] > scores)
    beaten, beats = better.sum(axis=0), better.sum(axis=1)
    tied, p_tied = confidence_set(scores, noise, groups)
    return Ranking(
        [(1 + int(up), len(scores) - int(down)) for up, down in zip(beaten, beats, strict=True)],
        p,
        errors,
        _as_student(float(np.quantile(maxima, 1 - LEVEL)), groups),
        _as_student(float(ndtri(POWER)), groups),
        tied,
        p_tied,
    )


def rank_words(ranks: Ranks | None) -> str:
    """Ranks as a table prints them: "1-3", or "4"."""
    if ranks is None:
        return "–"
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"


def draw_means(
    values: Floats, groups: Ints, *, seed: int = 0, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """The mean of each column (draws, columns) under common draws of whole groups of rows, and the
    size of each group."""
    group = np.unique(groups, return_inverse=True)[1]
    size = np.bincount(group).astype(np.float64)
    sums = np.stack([np.bincount(group, weights=column) for column in values.T], axis=1)
    rng, share = np.random.default_rng(seed), np.full(len(size), 1 / len(size))
    step = max(1, NUMBERS_AT_A_TIME // len(size))
    parts = []
    for start in range(0, draws, step):
        weights = rng.multinomial(len(size), share, size=min(step, draws - start))
        parts.append((weights @ sums) / (weights @ size)[:, None])
    return np.concatenate(parts), size


def _as_normal(statistic: Floats, groups: float) -> Floats:
    """What a studentised difference is on the scale of resamples, which vary like a normal variable
    where the difference itself, with an error estimated from few groups, varies like Student's.
    """
    from scipy.special import ndtri, stdtr

    shrunk = np.abs(statistic) * np.sqrt((groups - 1) / groups)
    return np.asarray(-np.sign(statistic) * ndtri(stdtr(groups - 1, -shrunk)))


def _as_student(bound: float, groups: float) -> float:
    """The reverse: a bound for studentised differences from one for resamples."""
    from scipy.special import ndtr, stdtrit

    return float(-stdtrit(groups - 1, ndtr(-bound)) * np.sqrt(groups / (groups - 1)))


def _errors(noise: Floats) -> Floats:
    """The standard error of every difference."""
    covariance = np.atleast_2d(np.cov(noise, rowvar=False))
    own = np.diagonal(covariance)
    return np.asarray(np.sqrt(np.maximum(own[:, None] + own - 2 * covariance, 0.0)))


def _step_down(
    scores: Floats, noise: Floats, errors: Floats, groups: float
) -> tuple[Floats, Floats]:
    """The p-value of every pair, corrected for all of them, and the largest studentised difference
    of each resample.

    Pairs are taken from the least clear to the clearest: a running maximum over them is that of the
    pairs still in question at each step. "The other one is better" stays in question for all.
    """
    higher, lower = _pairs(scores)
    error = errors[higher, lower]
    inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 1e-12)
    clear = _as_normal((scores[higher] - scores[lower]) * inverse, groups)
    order = np.argsort(clear, kind="stable")
    higher, lower, inverse, clear = higher[order], lower[order], inverse[order], clear[order]
    reached, maxima = np.zeros(len(clear)), []
    step = max(1, NUMBERS_AT_A_TIME // max(1, len(clear)))
    for start in range(0, len(noise), step):
        part = noise[start : start + step]
        studentised = (part[:, higher] - part[:, lower]) * inverse
        reverse = -studentised.min(axis=1, keepdims=True)
        largest = np.maximum(np.maximum.accumulate(studentised, axis=1), reverse)
        reached += (largest >= clear - 1e-9).sum(axis=0)
        maxima.append(largest[:, -1])
    counted = (1 + reached) / (1 + len(noise))
    stepwise = np.maximum.accumulate(counted[::-1])[::-1]  # never below that of a clearer pair
    p = np.ones_like(errors)
    p[higher, lower] = p[lower, higher] = stepwise
    return p, np.concatenate(maxima)


def _pairs(scores: Floats) -> tuple[Ints, Ints]:
    """Every pair: the higher score, and the lower."""
    order = np.argsort(-scores, kind="stable")
    first, second = np.triu_indices(len(scores), 1)
    return order[first], order[second]


def confidence_set(scores: Floats, noise: Floats, groups: float) -> tuple[list[int], float | None]:
    """The scores that may be the highest, and the p-value of their being equal; `noise` (draws,
    scores) is how far each resample is off. The largest shortfall against the mean of those left
    over is the statistic ("T max")."""
    left = np.argsort(-scores, kind="stable")
    while len(left) > 1:
        short = scores[left].mean() - scores[left]
        drawn = noise[:, left].mean(axis=1, keepdims=True) - noise[:, left]
        error = drawn.std(axis=0)
        inverse = np.divide(1.0, error, out=np.zeros_like(error), where=error > 1e-12)
        statistic = _as_normal(short * inverse, groups)
        reached = int(((drawn * inverse).max(axis=1) >= statistic.max() - 1e-9).sum())
        p = (1 + reached) / (1 + len(noise))
        if p >= LEVEL:
            return left.tolist(), p
        left = np.delete(left, int(statistic.argmax()))
    return left.tolist(), None


def smallest_detectable(error: float, groups: float = float("inf")) -> float:
    """The smallest true difference of two scores that is called clear in 80 of 100 test sets, from
    the standard error of a difference in resamples of so many effective groups."""
    from scipy.special import ndtri

    bounds = [float(ndtri(1 - LEVEL / 2)), float(ndtri(POWER))]
    return error * sum(
        bound if groups == np.inf else _as_student(bound, groups) for bound in bounds
    )


def records_needed(records: int, detectable: float, difference: float) -> int | None:
    """How many records like these would show `difference`; null of none. Errors shrink with the
    root of the number of records."""
    return int(np.ceil(records * (detectable / abs(difference)) ** 2)) if difference else None


def foreseen(labels: Ints, groups: Ints, *, seed: int = 0) -> float | None:
    """The smallest difference in macro-F1 that records with these labels and groups would show
    between two detectors, before they are run; null of fewer than 6 effective groups, or of one
    class.

    Both are taken to be right on 80% of the records, and mostly on the same ones: half of what
    makes a record hard is the same for both, and half of all of it is the same for its group.
    """
    classes, group = int(labels.max(initial=0)) + 1, np.unique(groups, return_inverse=True)[1]
    effective = effective_groups(np.bincount(group))
    if len(np.unique(labels)) < 2 or effective < LEAST_UNITS:
        return None
    rng = np.random.default_rng(seed)
    errors = []
    for _ in range(PAIRS_SIMULATED):
        answers = _synthetic_answers(rng, labels, group, classes)
        distinct = kinds(group, (labels * classes + answers[0]) * classes + answers[1], classes**3)
        scores = redraw(distinct, lambda n: _both(n, classes), seed=seed, draws=400)
        errors.append(float((scores[:, 0] - scores[:, 1]).std()))
    error = float(np.sqrt(np.mean(np.square(errors))))
    return smallest_detectable(error, effective)


def _both(counts: Floats, classes: int) -> Floats:
    """The macro-F1 of two detectors from counts by truth, first answer and second answer."""
    cube = counts.reshape(-1, classes, classes, classes)
    return np.stack([macro_f1(cube.sum(axis=3)), macro_f1(cube.sum(axis=2))], axis=1)


def _synthetic_answers(
    rng: np.random.Generator, labels: Ints, group: Ints, classes: int
) -> tuple[Ints, Ints]:
    from scipy.special import ndtri

    def level() -> Floats:  # of difficulty: half of it the same for a whole group
        whole = rng.normal(size=int(group.max()) + 1)[group]
        return np.asarray((whole + rng.normal(size=len(labels))) / np.sqrt(2))

    shared, out = level(), []
    for _ in range(2):
        hard = np.sqrt(ASSUMED_LIKENESS) * shared + np.sqrt(1 - ASSUMED_LIKENESS) * level()
        wrong = (labels + rng.integers(1, classes, size=len(labels))) % classes
        out.append(np.where(hard < ndtri(ASSUMED_ACCURACY), labels, wrong))
    return out[0], out[1]
