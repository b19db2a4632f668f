"""The contract of a metric: what it says of a run, and how it is made of arrays.

A metric is one file in `evaluate/metrics/` with a module-level METRIC: it is in evaluation.json and
on the page of every run, with its interval, and on the leaderboard if it has a `short` name. Most
are made of the confusion table (`TableMetric`), others of the scores that a run gives each class
(`ScoreMetric`). Metrics that differ by a word share a file, `table_*.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from claimlab.core.registry import Registry
from claimlab.core.stats.scores import Counts, Floats
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import Cells, confusion, table_cells
from claimlab.evaluate.sufficiency import unmeasured

# What a record without an answer, or with one that is none of the classes, is to a metric.
GapRule = Literal["wrong", "every-other", "lowest", "wrong-end", "left-out"]
GAP_RULES: dict[GapRule, str] = {
    "wrong": "a record without an answer is wrong",
    "every-other": "a record without an answer is a false positive of every other class",
    "lowest": "a record without an answer has the wrong class that lowers it most",
    "wrong-end": "a record without a score is at the wrong end of the ranking",
    "left-out": "of the records with scores alone, so that runs are not ranked by it",
}
METRICS: Registry[Metric] = Registry(
    "metric", package="claimlab.evaluate.metrics", attribute="METRIC", group="claimlab.metrics"
)


@dataclass(frozen=True)
class MetricValue:
    """A metric of one run; null, and why, where it could not be measured."""

    value: float | None = None
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """`lowest` and `highest` bound its values, and `summary` says in a sentence what it measures.
    Metrics are shown in the order of their `place`.
    """

    name: str
    title: str  # in the table of a run's measures
    summary: str
    short: str = ""  # on the leaderboard and on tiles; empty: it is not shown there
    place: int = 100
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool = True
    needs_classes: bool = True  # False: it says something where the truth holds one class
    gaps: GapRule = "wrong"  # see GAP_RULES: no ranked metric rises by leaving records out

    @property
    def ranked(self) -> bool:
        """Whether runs may be ranked by it."""
        return self.gaps != "left-out"

    @property
    def key(self) -> str:
        """Its name in evaluation.json."""
        return self.name.replace("-", "_")

    @property
    def head(self) -> str:
        """Its name at the head of a column."""
        return f"{self.short[:1].upper()}{self.short[1:]}"

    @abstractmethod
    def measure(self, answers: Answers) -> MetricValue:
        """The metric of one run.

        Parameters
        ----------
        answers : Answers
            The truth and the answers of a run, with its scores and groups.

        Returns
        -------
        MetricValue
            The value, or why there is none.
        """

    @abstractmethod
    def cells(self, answers: Answers) -> Cells | None:
        """The metric of resamples of the run; null where it is not measured.

        Parameters
        ----------
        answers : Answers
            The truth and the answers of a run, with its scores and groups.

        Returns
        -------
        Cells | None
            The counts that the metric is a function of, for its interval; null for none.
        """


@dataclass(frozen=True, kw_only=True)
class TableMetric(Metric):
    """`figure` takes confusion tables (..., K, K+2) and gives one number for each (...): of a run,
    and of thousands of resamples at once. NaN is a number that a table does not give.
    """

    figure: Callable[[Counts], Floats]

    def measure(self, answers: Answers) -> MetricValue:
        why = unmeasured(answers)
        if why is not None and (self.needs_classes or not answers.answered):
            return MetricValue(None, why)
        return MetricValue(float(self.figure(confusion(answers))))

    def cells(self, answers: Answers) -> Cells | None:
        if self.measure(answers).value is None:
            return None
        return table_cells(answers, self.figure)


@dataclass(frozen=True, kw_only=True)
class ScoreMetric(Metric):
    """`figure` takes answers with scores, and so does `counted`, which gives the same as a function
    of counts; without it, the metric has no interval.
    """

    figure: Callable[[Answers], MetricValue]
    counted: Callable[[Answers], Cells] | None = None

    def measure(self, answers: Answers) -> MetricValue:
        return self.figure(answers)

    def cells(self, answers: Answers) -> Cells | None:
        if self.counted is None or self.measure(answers).value is None:
            return None
        return self.counted(answers)


def metrics() -> list[Metric]:
    """Every metric, in the order in which they are shown."""
    return sorted(METRICS.all().values(), key=lambda metric: (metric.place, metric.name))


def board_metrics() -> list[Metric]:
    """Those on the leaderboard."""
    return [metric for metric in metrics() if metric.short]


def table_metrics() -> list[TableMetric]:
    """Those that are made of the confusion table."""
    return [metric for metric in metrics() if isinstance(metric, TableMetric)]
