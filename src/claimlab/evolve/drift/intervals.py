"""Intervals for shares, one way for the whole room."""

from __future__ import annotations

import math


def wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float] | None:
    """95 % interval of a share that does not fall off its ends; null when nothing was counted."""
    if n == 0:
        return None
    share, spread = hits / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
