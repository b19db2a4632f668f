"""Counts per bin and class for a histogram: a finding carries bins, never rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claimlab.audit.subject import Subject
from claimlab.core.types import JsonObject

BINS = 40


def histogram(
    subject: Subject, values: npt.NDArray[np.float64], *, cut: float | None = None
) -> JsonObject:
    """`edges` and `counts` per class; values above the quantile `cut` are counted in the last
    bin.
    """
    known = np.isfinite(values)
    if not known.any():
        return {}
    low, high = float(values[known].min()), float(values[known].max())
    longest = high
    if cut is not None:
        high = float(np.quantile(values[known], cut))
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    counts = {
        name: (
            np.histogram(np.clip(values[known & (subject.y == k)], low, edges[-1]), bins=edges)[
                0
            ].tolist()
        )
        for k, name in enumerate(subject.classes)
    }
    return {"edges": [round(float(e), 3) for e in edges], "counts": counts, "longest": longest}
