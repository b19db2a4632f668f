"""Do judges agree? Krippendorff's alpha and the intraclass correlation, for scores with gaps.

Alpha takes any number of judges and skips what one of them left out. ICC(2,1) (two-way random,
absolute agreement, one judge) needs every judge for every unit, so it is taken over the units that
all judged.
"""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.agreement import Scores, krippendorff
from claimlab.core.types import JsonObject


def icc(scores: Scores) -> float | None:
    """ICC(2,1) over the units that every judge scored; null with fewer than two units or judges, or
    no variance.
    """
    full = scores[:, ~np.isnan(scores).any(axis=0)].T
    n, k = full.shape
    if n < 2 or k < 2:
        return None
    grand = full.mean()
    rows = k * ((full.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((full.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    total = ((full - grand) ** 2).sum()
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    below = rows + (k - 1) * error + k * (columns - error) / n
    return float((rows - error) / below) if below > 1e-12 else None


def agreement(scores: Scores) -> JsonObject:
    """Both, with how many units they rest on."""
    shared = int(((~np.isnan(scores)).sum(axis=0) >= 2).sum())
    return {
        "judges": len(scores),
        "units": shared,
        "alpha": krippendorff(scores),
        "icc": icc(scores),
    }
