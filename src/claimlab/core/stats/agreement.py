"""How well annotators agree, beyond chance and with intervals; of two raters side by side, every
figure at once.

Units (items) are drawn for the intervals, not single ratings. Units with the same ratings are
interchangeable, so all figures are made from how often each pattern of ratings occurs (see
interval.py). Krippendorff's ordinal metric is the squared distance between midranks: ordinal alpha
is interval alpha on the midranks of all ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds, redraw, wilson
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject, Sparse

Level = Literal["nominal", "ordinal", "interval"]
Scores = Floats  # judges by units, nan where a judge gave no score
MIN_UNITS = 20  # fewer carry no interval


@dataclass(frozen=True)
class AgreementFigure:
    """A figure, and its interval where there are enough units; null where it is not defined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Patterns:
    """The distinct ways that units were rated: row p of `counts` says how often each value was
    given, `of` which pattern each unit has. Only units with two ratings or more can agree or
    disagree."""

    counts: Sparse  # (patterns, values)
    of: Ints
    values: Floats  # what the columns stand for, ascending

    @property
    def weights(self) -> Floats:
        return np.bincount(self.of, minlength=self.counts.shape[0])[None, :].astype(np.float64)


def patterns(units: Sequence[Sequence[float]]) -> Patterns:
    """The patterns of `units`, each the ratings that one unit got, as numbers; units with one
    rating are left out.
    """
    from scipy.sparse import csr_array

    pairable = [tuple(sorted(unit)) for unit in units if len(unit) > 1]
    distinct = sorted(set(pairable))
    values = sorted({value for unit in distinct for value in unit})
    column = {value: i for i, value in enumerate(values)}
    row = {unit: i for i, unit in enumerate(distinct)}
    cells = [(row[unit], column[value]) for unit in distinct for value in unit]
    rows, columns = (np.array([c[i] for c in cells], dtype=np.int64) for i in (0, 1))
    counts = csr_array((np.ones(len(cells)), (rows, columns)), shape=(len(distinct), len(values)))
    return Patterns(
        counts,
        np.array([row[unit] for unit in pairable], dtype=np.int64),
        np.array(values, np.float64),
    )


def percent_of(ratings: Patterns, weights: Floats) -> Floats:
    """The share of pairs of ratings of a unit that are equal, each unit counting the same."""
    return _over(weights @ _equal_pairs(ratings), weights.sum(axis=1))


def fleiss_of(ratings: Patterns, weights: Floats) -> Floats:
    """Fleiss' kappa; units may have different numbers of ratings."""
    observed = percent_of(ratings, weights)
    totals = (ratings.counts.T @ weights.T).T
    share = _over(totals, totals.sum(axis=1)[:, None])
    expected = (share**2).sum(axis=1)
    return _over(observed - expected, 1 - expected)


def alpha_of(ratings: Patterns, weights: Floats, level: Level = "nominal") -> Floats:
    """Krippendorff's alpha."""
    sizes = ratings.counts.sum(axis=1)
    totals = (ratings.counts.T @ weights.T).T
    n = totals.sum(axis=1)
    if level == "nominal":
        within = weights @ ((sizes**2 - ratings.counts.power(2).sum(axis=1)) / (sizes - 1))
        between = n**2 - (totals**2).sum(axis=1)
    else:
        places = (
            np.cumsum(totals, axis=1) - totals / 2
            if level == "ordinal"
            else ratings.values[None, :]
        )
        places = places - places.mean(
            axis=1, keepdims=True
        )  # differences stay, and the squares stay small
        first, second = (ratings.counts @ places.T).T, (ratings.counts @ (places**2).T).T
        within = (weights * 2 * (sizes * second - first**2) / (sizes - 1)).sum(axis=1)
        between = 2 * (n * (totals * places**2).sum(axis=1) - (totals * places).sum(axis=1) ** 2)
    return 1 - _over(within * (n - 1), between)


def krippendorff(scores: Scores, level: Level = "interval") -> float | None:
    """Alpha of a table of judges by units: 1 is perfect, 0 is chance; null when nothing can be
    compared or varies.
    """
    answers = patterns([unit[~np.isnan(unit)].tolist() for unit in scores.T])
    return _known(alpha_of(answers, answers.weights, level)[0]) if answers.of.size else None


def kappa(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cohen's kappa of two annotators; null where chance explains everything, as when both always
    give one answer.
    """
    cell, k = _cells(first, second)
    return _of_all(cell, k * k, lambda counts: _cohen(counts, k)) if len(cell) else None


def figure(
    ratings: Patterns, statistic: Callable[[Patterns, Floats], Floats], *, seed: int = 0
) -> AgreementFigure:
    """`statistic` (`percent_of`, `fleiss_of`, `alpha_of`) with its interval over units."""
    return _figure(
        ratings.of, ratings.counts.shape[0], lambda weights: statistic(ratings, weights), seed
    )


def kappa_figure(
    first: Sequence[object],
    second: Sequence[object],
    *,
    seed: int = 0,
    statistic: Callable[[Floats, int], Floats] | None = None,
) -> AgreementFigure:
    """Cohen's kappa of two annotators, or another coefficient of their table, with its interval
    over the units that both rated."""
    cell, k = _cells(first, second)
    return _figure(cell, k * k, lambda counts: (statistic or _cohen)(counts, k), seed)


def _figure(
    cell: Ints, cells: int, statistic: Callable[[Floats], Floats], seed: int
) -> AgreementFigure:
    n = len(cell)
    if not n:
        return AgreementFigure(None, None)
    point = _of_all(cell, cells, statistic)
    if point is None or n < MIN_UNITS:
        return AgreementFigure(point, None)
    drawn = redraw(kinds(np.arange(n), cell, cells), statistic, seed=seed, draws=DRAWS)
    return AgreementFigure(point, interval(drawn, n, point=point))


def _of_all(cell: Ints, cells: int, statistic: Callable[[Floats], Floats]) -> float | None:
    return _known(statistic(np.bincount(cell, minlength=cells)[None, :].astype(np.float64))[0])


def _cells(first: Sequence[object], second: Sequence[object]) -> tuple[Ints, int]:
    number = {value: i for i, value in enumerate(dict.fromkeys([*first, *second]))}
    k, pairs = len(number), zip(first, second, strict=True)
    return np.array([number[a] * k + number[b] for a, b in pairs], dtype=np.int64), k


def _shares(counts: Floats, k: int) -> tuple[Floats, Floats]:
    """The table of both raters' answers as shares, and the share of units on which they agree."""
    share = _over(counts, counts.sum(axis=1)[:, None]).reshape(-1, k, k)
    return share, np.trace(share, axis1=1, axis2=2)


def _cohen(counts: Floats, k: int) -> Floats:
    share, observed = _shares(counts, k)
    expected = (share.sum(axis=1) * share.sum(axis=2)).sum(axis=1)
    return _over(observed - expected, 1 - expected)


def _gwet(counts: Floats, k: int) -> Floats:
    """Gwet's AC1: chance is what two raters would share if the hard cases alone were guessed, so
    that a rare answer does not make agreement look poor."""
    share, observed = _shares(counts, k)
    mean = (share.sum(axis=1) + share.sum(axis=2)) / 2
    expected = (mean * (1 - mean)).sum(axis=1) / max(k - 1, 1)
    return _over(observed - expected, 1 - expected)


def _adjusted(counts: Floats, k: int) -> Floats:
    """PABAK: kappa as if every answer were as frequent."""
    chance = 1 / max(k, 2)
    return (_shares(counts, k)[1] - chance) / (1 - chance)


def _equal_pairs(ratings: Patterns) -> Floats:
    """For each pattern the share of its pairs of ratings that are equal."""
    sizes = ratings.counts.sum(axis=1)
    equal: Floats = (ratings.counts.power(2).sum(axis=1) - sizes) / (sizes * (sizes - 1))
    return equal


def _over(above: Floats, below: Floats) -> Floats:
    """A quotient that is nan where it is not defined."""
    out: Floats = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=out, where=np.abs(below) > 1e-12)
    return out


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def compared(first: Sequence[str], second: Sequence[str]) -> JsonObject:
    """How `one` and `other` agree on the same units, JSON-safe. A share of cases has a sound
    interval for few cases too; kappa and alpha have one with at least 20 units, and are null where
    chance explains everything.
    """
    n = len(first)
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    number = {value: float(i) for i, value in enumerate(dict.fromkeys([*first, *second]))}
    ratings = patterns([(number[a], number[b]) for a, b in zip(first, second, strict=True)])
    share = AgreementFigure(equal / n if n else None, wilson(equal, n))
    figures = {
        "agreement": share,
        "kappa": kappa_figure(first, second),
        "alpha": figure(ratings, alpha_of),
        "ac1": kappa_figure(first, second, statistic=_gwet),
        "pabak": kappa_figure(first, second, statistic=_adjusted),
    }
    row: JsonObject = {"n": n}
    for name, measured in figures.items():
        value, ends = measured.value, measured.interval
        row[name] = None if value is None else round(value, 4)
        row[f"{name}_interval"] = None if ends is None else [round(end, 4) for end in ends]
    return row
