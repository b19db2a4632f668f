"""Intervals by resampling whole groups, for as many figures at once as a table has.

Records of one group (an event, a pair, copies of a text) are not independent evidence: groups are
drawn, not records. Groups whose records fall into the same cells are interchangeable: only the
distinct kinds of group are drawn for, which makes 2,000 draws a matter of milliseconds. Where the
kinds themselves are very many, groups are put together at random into a few thousand larger ones of
equal size, which are drawn instead: the same spread, measured a little less finely (an interval is
off by about 1% of its width), at a cost that no longer grows with the data.

The interval is the expanded percentile one (Hesterberg, "What Teachers Should Know About the
Bootstrap", 2015): the plain percentile interval is too short with few groups, by the factor that a
normal interval is against Student's. Groups count by what they tell: the effective number is
smaller where a few hold most of the records. tests/core/test_stats_interval.py and bench/units.py
measure how often it holds the true value.

The interval of a share of cases (`wilson`) is sound for few cases too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import TypedDict

import numpy as np

from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import Sparse

DRAWS = 2_000
LEVEL = 0.95
NUMBERS_AT_A_TIME = 4_000_000  # numbers held at a time
MOST_KINDS, BUCKETS = 10_000, 4_000
LEAST_UNITS = 6  # effective: fewer carry no interval and no verdict
FEW_UNITS = 20  # effective: fewer are called few
Interval = tuple[float, float]


class Resampling(TypedDict, total=False):
    """How resamples are drawn, as what measures many figures passes it on."""

    seed: int
    draws: int


@dataclass(frozen=True)
class Kinds:
    """Row j of `cells` counts the records per cell of one kind of group; `times[j]` groups are of
    that kind.
    """

    cells: Sparse  # (kinds, cells)
    times: Ints
    groups: int  # before any were put together

    @property
    def effective(self) -> float:
        """How many groups of equal size would tell as much (see `effective_groups`)."""
        return effective_groups(np.repeat(self.cells.sum(axis=1), self.times))


def ends_of(ends: Interval | None, low: str, high: str) -> dict[str, float | None]:
    """Both ends of an interval as columns of a table; nulls where there is none."""
    return dict(zip((low, high), ends or (None, None), strict=True))


def effective_groups(sizes: Floats | Ints) -> float:
    """The number of groups of equal size whose mean is as certain as that of groups of these
    `sizes` (Kish 1965): one group that holds half of the records counts for much more than one.
    """
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0


def kinds(cluster: Ints, cell: Ints, cells: int) -> Kinds:
    """The distinct kinds of group among records that fall into `cell`, one of `cells`."""
    from scipy.sparse import csr_array

    group = _numbered(cluster)
    groups = int(group.max()) + 1 if len(group) else 0
    first, times, row = _alike(group, groups, cell, cells)
    if len(first) > MOST_KINDS:
        bucket = np.random.default_rng(0).permutation(groups) % BUCKETS
        group = bucket[group]
        first, times, row = _alike(group, BUCKETS, cell, cells)
    counted = row[group] >= 0
    ones = np.ones(int(counted.sum()))
    table = csr_array((ones, (row[group][counted], cell[counted])), shape=(len(first), cells))
    return Kinds(table, times, groups)


def _numbered(cluster: Ints) -> Ints:
    """Codes that leave none out, in the same order; without a sort where they leave few out, as
    they mostly do.
    """
    if len(cluster) and cluster.min() >= 0 and cluster.max() < 10 * len(cluster):
        place = np.cumsum(np.bincount(cluster) > 0) - 1
        return np.asarray(place[cluster])
    return np.asarray(np.unique(cluster, return_inverse=True)[1])


def _alike(group: Ints, groups: int, cell: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    """The first group of each kind, how many there are of it, and for each such group the number of
    its kind.
    """
    # A kind is known by the sum of random marks, one per record by its cell: equal sums by chance
    # are one in 2^64.
    marks = np.random.default_rng(0).integers(0, 2**63, size=cells, dtype=np.uint64)
    sums = np.zeros(groups, dtype=np.uint64)
    np.add.at(sums, group, marks[cell])
    _, first, times = np.unique(sums, return_index=True, return_counts=True)
    row = np.full(len(sums), -1)
    row[first] = np.arange(len(first))
    return first, times, row


def redraw(
    kinds: Kinds, statistic: Callable[[Floats], Floats], *, seed: int = 0, draws: int = DRAWS
) -> Floats:
    """`statistic` of `draws` resamples: it takes counts (draws, cells) and gives (draws,) or
    (draws, figures).
    """
    rng = np.random.default_rng(seed)
    units = int(kinds.times.sum())
    share = kinds.times / units
    step = max(1, NUMBERS_AT_A_TIME // max(1, *kinds.cells.shape))
    parts = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        whole = units == kinds.groups
        weights = rng.multinomial(units, share, size) if whole else _buckets(rng, size, kinds)
        parts.append(statistic((kinds.cells.T @ weights.T).T))
    return np.concatenate(parts)


def _buckets(rng: np.random.Generator, size: int, kinds: Kinds) -> Ints:
    """How often each bucket is drawn: one by one, which is faster than a multinomial over thousands
    that are alike.
    """
    kind = np.repeat(np.arange(len(kinds.times)), kinds.times)
    drawn = (
        kind[rng.integers(len(kind), size=(size, len(kind)))]
        + len(kinds.times) * np.arange(size)[:, None]
    )
    return np.bincount(drawn.ravel(), minlength=size * len(kinds.times)).reshape(size, -1)


def interval(draws: Floats, units: float, *, point: float | None = None) -> Interval | None:
    """The interval of one figure from its resamples, which were made of so many effective `units`;
    null with fewer than 6 of them, or where it was often undefined.

    Where the figure itself, `point`, is given, the interval reaches at least as far as that:
    resamples of a curved score can all lie to one side of it.
    """
    defined = draws[~np.isnan(draws)]
    if units < LEAST_UNITS or len(defined) < 0.9 * len(draws):
        return None
    low, high = np.quantile(defined, [tail(units), 1 - tail(units)]).tolist()
    return (low, high) if point is None else (min(low, point), max(high, point))


@cache
def tail(units: float) -> float:
    """The share cut off at each end: less than (1 - LEVEL) / 2, because units are finite in number
    (Student's t on units - 1).
    """
    from scipy.special import ndtr, stdtrit  # what scipy.stats calls, without its second of imports

    return float(ndtr(np.sqrt(units / (units - 1)) * stdtrit(units - 1, (1 - LEVEL) / 2)))


def intervals(
    cluster: Ints,
    cell: Ints,
    cells: int,
    statistic: Callable[[Floats], Floats],
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> list[Interval | None]:
    """Intervals of one or several figures that `statistic` makes of counts per cell (draws,
    cells).
    """
    distinct = kinds(cluster, cell, cells)
    drawn = redraw(distinct, statistic, seed=seed, draws=draws)
    columns = drawn[:, None] if drawn.ndim == 1 else drawn
    return [interval(columns[:, i], distinct.effective) for i in range(columns.shape[1])]


def mean_interval(values: Floats, *, cluster: Ints | None = None, seed: int = 0) -> Interval | None:
    """The interval of the mean of one value per record; those of one `cluster` are drawn as one."""
    units = np.arange(len(values)) if cluster is None else cluster
    distinct, cell = np.unique(values, return_inverse=True)

    def mean(counts: Floats) -> Floats:
        return np.asarray(counts @ distinct / counts.sum(axis=1))

    return intervals(units, cell, len(distinct), mean, seed=seed)[0]


def unit_interval(
    n: int, statistic: Callable[[Ints], float], *, seed: int = 0, draws: int = DRAWS
) -> Interval | None:
    """The interval of a figure that cannot be made of counts: `statistic` takes the numbers of the
    `n` units drawn.
    """
    rng = np.random.default_rng(seed)
    return interval(
        np.array([statistic(rng.integers(n, size=n)) for _ in range(draws)], dtype=np.float64), n
    )


def wilson(hits: int, n: int) -> Interval | None:
    """Wilson's score interval; null when nothing was counted."""
    from scipy.special import ndtri

    if n == 0:
        return None
    share, z = hits / n, float(ndtri((1 + LEVEL) / 2))
    below = 2 * (n + z**2)
    middle = (2 * n * share + z**2) / below
    half = z / below * sqrt(4 * n * share * (1 - share) + z**2)
    return middle - half if hits else 0.0, middle + half if hits < n else 1.0
