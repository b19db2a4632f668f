"""What a metric is: an entry of a table in `metrics/`, or a file there with a module-level METRIC.

A metric reads a batch of texts and answers for each. It says what it needs, and where that is
absent the answer is "not measured" with the reason. One that breaks is an error for every text: an
error never passes a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from claimlab.core.registry import Registry
from claimlab.generate.filter.texts import Batch, Text

Outcome = Literal["passed", "failed", "not measured", "does not apply", "error", "information"]
Stage = Literal["defects", "judge", "automatic"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric says of a text. `margin` is how far its value is on the right side of its
    threshold.
    """

    outcome: Outcome
    value: float | None = None
    reason: str | None = None
    margin: float | None = None


@dataclass(frozen=True)
class Metric:
    """`gate` is whether it can fail a sample; detectors of authorship and the like are information
    only.
    """

    dimension: str
    summary: str
    needs: str
    measure: Callable[[Batch], list[Reading]]
    stage: Stage = "automatic"
    gate: bool = True


METRICS: Registry[Metric] = Registry(
    "quality metric",
    package="claimlab.generate.filter.metrics",
    attribute="METRIC",
    group="claimlab.quality_metrics",
)
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


def one_by_one(read: Callable[[Text, Batch], Reading]) -> Callable[[Batch], list[Reading]]:
    """A metric of single texts; the text on which it breaks is an error, the others are read."""

    def one(text: Text, batch: Batch) -> Reading:
        try:
            return read(text, batch)
        except Exception as error:
            return broken(error)

    return lambda batch: [one(text, batch) for text in batch.texts]


def broken(error: Exception) -> Reading:
    return Reading("error", None, f"{type(error).__name__}: {error}"[:200])
