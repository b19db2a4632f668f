"""What a metric is: an entry of a table in `metrics/`, or a file there with a module-level METRIC.

A metric reads a batch of texts and answers for each. It says what it needs, and where that is
absent the answer is "not measured" with the reason. One that breaks is an error for every text: an
error never passes a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from claimlab.core import packaged
from claimlab.core.registry import Registry
from claimlab_simulate.generate.filter.batch import Batch, SampleText
from claimlab_simulate.generate.filter.reading import Reading, broken

Stage = Literal["defects", "judge", "automatic"]
METRICS: Registry[QualityMetric] = Registry(
    "quality metric",
    package="claimlab_simulate.generate.filter.metrics",
    attribute="METRIC",
    group="claimlab.quality_metrics",
)


@dataclass(frozen=True)
class QualityMetric:
    """`gate` is whether it can fail a sample; detectors of authorship and the like are information
    only.
    """

    dimension: str
    summary: str
    needs: str
    measure: Callable[[Batch], list[Reading]]
    stage: Stage = "automatic"
    gate: bool = True


def described(measures: Mapping[str, Callable[[Batch], list[Reading]]]) -> dict[str, QualityMetric]:
    """Metrics by name, with what data/metrics.toml says of them."""
    entries = packaged.toml("claimlab_simulate.generate.filter", "metrics.toml")
    return {
        name: QualityMetric(measure=measure, **entries[name]) for name, measure in measures.items()
    }


def one_by_one(read: Callable[[SampleText, Batch], Reading]) -> Callable[[Batch], list[Reading]]:
    """A metric of single texts; the text on which it breaks is an error, the others are read."""

    def read_safely(text: SampleText, batch: Batch) -> Reading:
        try:
            return read(text, batch)
        except Exception as error:
            return broken(error)

    return lambda batch: [read_safely(text, batch) for text in batch.texts]
