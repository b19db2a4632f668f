"""What a metric is: one small file in `metrics/` with a module-level METRIC.

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
DOES_NOT_APPLY = Reading("does not apply")


def unmeasured(reason: str, value: float | None = None) -> Reading:
    return Reading("not measured", value, reason)


def within(value: float, low: float | None, high: float | None, words: str) -> Reading:
    """Passed where `value` is between the two; `words` says what it is when it is not."""
    margins = [value - low if low is not None else None, high - value if high is not None else None]
    margin = min((m for m in margins if m is not None), default=None)
    if margin is None:
        return Reading("information", value)
    if margin >= 0:
        return Reading("passed", value, None, margin)
    bound = f"at least {low:g}" if low is not None and value < low else f"at most {high:g}"
    return Reading("failed", value, f"{words} {value:.2f}, should be {bound}", margin)


def one_by_one(read: Callable[[Text, Batch], Reading]) -> Callable[[Batch], list[Reading]]:
    """A metric of single texts; the text on which it breaks is an error, the others are read."""

    def measure(batch: Batch) -> list[Reading]:
        return [safe(lambda text=text: read(text, batch)) for text in batch.texts]  # type: ignore[misc]

    return measure


def safe(read: Callable[[], Reading]) -> Reading:
    try:
        return read()
    except Exception as error:
        return broken(error)


def broken(error: Exception) -> Reading:
    return Reading("error", None, f"{type(error).__name__}: {error}"[:200])
