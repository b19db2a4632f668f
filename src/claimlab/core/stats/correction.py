"""The p-values of several tests, corrected for how many they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def false_discovery(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg: of the tests called at `alpha`, at most the share `alpha` is called
    wrongly.
    """
    order = np.argsort(p)[::-1]
    times = np.asarray(p)[order] * (len(p) / np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate(times), 1)
    return [float(value) for value in adjusted]


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm: the chance of even one wrong call is at most `alpha`. What was not tested stays null,
    and does not count."""
    tested = np.array([value for value in p if value is not None], dtype=np.float64)
    order = np.argsort(tested, kind="stable")
    steps = tested[order] * np.arange(len(tested), 0, -1)
    tested[order] = np.maximum.accumulate(np.minimum(steps, 1.0))
    adjusted = iter(tested.tolist())
    return [None if value is None else next(adjusted) for value in p]
