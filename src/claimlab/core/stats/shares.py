"""The interval of a share of cases, sound for few cases too."""

from __future__ import annotations


def wilson(hits: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval; null when nothing was counted."""
    from scipy.stats import binomtest

    if n == 0:
        return None
    ends = binomtest(hits, n).proportion_ci(level, method="wilson")
    return float(ends.low), float(ends.high)
