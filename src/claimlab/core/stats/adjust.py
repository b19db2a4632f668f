"""p-values of several tests, corrected for how many they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def false_discovery(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg: of the tests called at `alpha`, at most the share `alpha` is called
    wrongly.
    """
    from scipy.stats import false_discovery_control

    return [float(x) for x in false_discovery_control(p)] if len(p) else []


def holm(p: Sequence[float]) -> list[float]:
    """Holm: the chance of even one wrong call is at most `alpha`."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(
        np.minimum(np.asarray(p, dtype=np.float64)[order] * np.arange(len(p), 0, -1), 1.0)
    )
    out = np.empty(len(p))
    out[order] = steps
    return [float(x) for x in out]
