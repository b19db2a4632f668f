"""Intervals by resampling whole groups, for as many figures at once as a table has.

Records of one group (an event, a pair, copies of a text) are no independent evidence, so groups are drawn, not records.
Groups whose records fall into the same cells are interchangeable: only the distinct kinds of group are drawn for, which
makes 2,000 draws a matter of milliseconds. The interval is the expanded percentile one (Hesterberg, "What Teachers
Should Know About the Bootstrap", 2015): the plain percentile interval is too short with few groups, by the factor that
a normal interval is against Student's. tests/evaluate/test_interval.py measures how often it holds the true value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from claimlab.evaluate.answers import Answers, Floats, Ints

DRAWS = 2_000
LEVEL = 0.95
CHUNK = 4_000_000  # numbers held at a time
Interval = tuple[float, float]


@dataclass(frozen=True)
class Kinds:
    """Row j of `cells` counts the records per cell of one kind of group; `times[j]` groups are of that kind."""

    cells: Any  # a sparse matrix (kinds, cells)
    times: Ints

    @property
    def groups(self) -> int:
        return int(self.times.sum())


def kinds(cluster: Ints, cell: Ints, cells: int) -> Kinds:
    """The distinct kinds of group among records that fall into `cell`, one of `cells`."""
    from scipy.sparse import csr_array

    _, group = np.unique(cluster, return_inverse=True)
    # A kind is known by the sum of random marks, one per record by its cell: equal sums by chance are one in 2^64.
    marks = np.random.default_rng(0).integers(0, 2**63, size=cells, dtype=np.uint64)
    sums = np.zeros(int(group.max()) + 1 if len(group) else 0, dtype=np.uint64)
    np.add.at(sums, group, marks[cell])
    _, first, times = np.unique(sums, return_index=True, return_counts=True)
    row = np.full(len(sums), -1)
    row[first] = np.arange(len(first))
    mine = row[group] >= 0
    ones = np.ones(int(mine.sum()))
    table = csr_array((ones, (row[group][mine], cell[mine])), shape=(len(first), cells))
    return Kinds(table, times)


def redraw(found: Kinds, statistic: Callable[[Floats], Floats], *, seed: int = 0, draws: int = DRAWS) -> Floats:
    """`statistic` of `draws` resamples: it takes counts (draws, cells) and gives (draws,) or (draws, figures)."""
    rng = np.random.default_rng(seed)
    share = found.times / found.groups
    step = max(1, CHUNK // max(1, *found.cells.shape))
    parts = []
    for start in range(0, draws, step):
        weights = rng.multinomial(found.groups, share, size=min(step, draws - start))
        parts.append(statistic((found.cells.T @ weights.T).T))
    return np.concatenate(parts)


def interval(draws: Floats, groups: int, level: float = LEVEL) -> Interval | None:
    """The interval of one figure from its resamples; null with one group, or where it was often undefined."""
    known = draws[~np.isnan(draws)]
    if groups < 2 or len(known) < 0.9 * len(draws):
        return None
    low, high = np.quantile(known, [tail(groups, level), 1 - tail(groups, level)])
    return float(low), float(high)


def tail(groups: int, level: float = LEVEL) -> float:
    """The share cut off at each end: a little less than (1 - level) / 2, because groups are finite in number."""
    from scipy.stats import norm, t

    return float(norm.cdf(np.sqrt(groups / (groups - 1)) * t.ppf((1 - level) / 2, groups - 1)))


def table_interval(
    answers: Answers, statistic: Callable[[Floats], Floats], *, seed: int = 0, draws: int = DRAWS
) -> list[Interval | None]:
    """Intervals of one or several figures of the confusion table (statistic over (..., K, K+2))."""
    found = kinds(answers.cluster, answers.cell, answers.cells)
    k = len(answers.classes)
    drawn = redraw(found, lambda flat: statistic(flat.reshape(-1, k, k + 2)), seed=seed, draws=draws)
    columns = drawn[:, None] if drawn.ndim == 1 else drawn
    return [interval(columns[:, i], found.groups) for i in range(columns.shape[1])]
