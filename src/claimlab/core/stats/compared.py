"""Two raters side by side, as every judge is shown: percent agreement, kappa and alpha, each with
its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.core.stats.agreement import Figure, alpha_of, figure, kappa_figure, patterns
from claimlab.core.stats.interval import Interval
from claimlab.core.stats.shares import wilson
from claimlab.core.types import JsonObject


def compared(one: Sequence[str], other: Sequence[str]) -> JsonObject:
    """How `one` and `other` agree on the same units, JSON-safe. A share of cases has a sound
    interval for few cases too; kappa and alpha have one with at least 20 units, and are null where
    chance explains everything.
    """
    n = len(one)
    equal = sum(a == b for a, b in zip(one, other, strict=True))
    number = {value: float(i) for i, value in enumerate(dict.fromkeys([*one, *other]))}
    nominal = figure(
        patterns([(number[a], number[b]) for a, b in zip(one, other, strict=True)]), alpha_of
    )
    share = Figure(equal / n if n else None, wilson(equal, n))
    figures = {"agreement": share, "kappa": kappa_figure(one, other), "alpha": nominal}
    row: JsonObject = {"n": n}
    for name, measured in figures.items():
        row |= {name: _round(measured.value), f"{name}_interval": _rounded(measured.interval)}
    return row


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _rounded(ends: Interval | None) -> list[float] | None:
    return None if ends is None else [round(end, 4) for end in ends]
