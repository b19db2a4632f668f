"""The difference of two accuracies of a run: of records that have something, and of the others."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from claimlab.core.stats.interval import Resampling, intervals
from claimlab.core.stats.scores import Flags, Floats, Ints, ratio
from claimlab.evaluate.defend.result import Difference
from claimlab.evaluate.sufficiency import LEAST_RECORDS


def difference_among(
    among: str, hit: Flags, right: Flags, cluster: Ints, **how: Unpack[Resampling]
) -> Difference:
    counts = int(right.sum()), int((~right).sum())
    if min(counts) < LEAST_RECORDS:
        return Difference(among, *counts)
    (ends,) = intervals(cluster, 2 * right + hit, 4, _gap, **how)
    where_right, where_wrong = float(hit[right].mean()), float(hit[~right].mean())
    return Difference(among, *counts, where_right, where_wrong, where_right - where_wrong, ends)


def _gap(counts: Floats) -> Floats:
    """The difference of two accuracies, from counts of wrong and right answers where the shortcut
    is wrong, then where it is right."""
    tables = counts.reshape(-1, 2, 2)
    share = ratio(tables[:, :, 1], tables.sum(axis=2), nothing=np.nan)
    return np.asarray(share[:, 1] - share[:, 0])
