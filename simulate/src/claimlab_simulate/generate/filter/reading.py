"""What a metric answers for a text: passed, failed, not measured, does not apply, an error, or mere
information.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MetricOutcome = Literal[
    "passed", "failed", "not measured", "does not apply", "error", "information"
]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric says of a text. `margin` is how far its value is on the right side of its
    threshold.
    """

    outcome: MetricOutcome
    value: float | None = None
    reason: str | None = None
    margin: float | None = None


DOES_NOT_APPLY, CLEAR = Reading("does not apply"), Reading("passed")


def failed(reason: str, margin: float | None = None) -> Reading:
    return Reading("failed", None, reason, margin)


def unmeasured(reason: str, value: float | None = None) -> Reading:
    return Reading("not measured", value, reason)


def within(value: float, low: float | None, high: float | None, words: str) -> Reading:
    """Passed where `value` is between the two; `words` says what it is when it is not."""
    above = [] if low is None else [value - low]
    below = [] if high is None else [high - value]
    if not above + below:
        return Reading("information", value)
    margin = min(above + below)
    if margin >= 0:
        return Reading("passed", value, None, margin)
    bound = f"at least {low:g}" if low is not None and value < low else f"at most {high:g}"
    return Reading("failed", value, f"{words} {value:.2f}, should be {bound}", margin)


def broken(error: Exception) -> Reading:
    return Reading("error", None, f"{type(error).__name__}: {error}"[:200])
