"""How strongly two columns of categories are associated: Cramér's V with its interval, groups kept
together.

Chance alone gives a V above zero. How much depends on the size of the table and on the groups: it
is measured on permuted labels and taken off, once from the figure and twice from its resamples,
which draw from a table that chance has already added to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claimlab.audit import fair
from claimlab.core.stats.interval import Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, Ints


@dataclass(frozen=True)
class Association:
    """`v` is 0 where the two are independent and 1 where one gives the other away."""

    v: float
    interval: Interval


def association(
    deal: fair.Deal, rows: npt.NDArray[np.int64], slices: Ints, permutations: int
) -> Association:
    """Of the labels of `rows` with `slices`, the code of each of those rows."""
    shape = (int(slices.max()) + 1, deal.classes)
    cells = shape[0] * shape[1]

    def tables(labels: npt.NDArray[np.integer]) -> Floats:
        return (
            np.bincount(slices * shape[1] + labels[rows], minlength=cells)
            .reshape(shape)
            .astype(np.float64)
        )

    counts = tables(deal.y)
    chance = float(np.mean([phi_squared(tables(deal.permuted(i)[0])) for i in range(permutations)]))
    known = kinds(deal.groups[rows], slices * shape[1] + deal.y[rows], cells)
    drawn = redraw(known, lambda n: phi_squared(n.reshape(-1, *shape)), seed=deal.seed)
    v = float(_v(phi_squared(counts) - chance, counts))
    return Association(
        v, interval(_v(drawn - 2 * chance, counts), known.groups, point=v) or (0.0, 1.0)
    )


def phi_squared(counts: Floats) -> Floats:
    """Chi-squared over n of tables (..., rows, columns)."""
    n = np.maximum(counts.sum(axis=(-2, -1), keepdims=True), 1.0)
    expected = counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True) / n
    terms = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0
    )
    return np.asarray((terms / n).sum(axis=(-2, -1)))


def _v(phi2: Floats | float, counts: Floats) -> Floats:
    """Cramér's V, with the size of the table corrected for chance as well (Bergsma, 2013)."""
    n, (r, k) = counts.sum(), (int((counts.sum(axis=axis) > 0).sum()) for axis in (1, 0))
    rows, columns = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return np.asarray(
        np.sqrt(np.clip(phi2, 0.0, None) / max(1e-12, min(rows - 1, columns - 1))).clip(0.0, 1.0)
    )
