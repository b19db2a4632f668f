"""The contract of a metric: what it says of a run, and how it is made of arrays.

A metric is one file in `evaluate/metrics/` with a module-level METRIC: it is in evaluation.json and
on the page of every run, with its interval, and on the leaderboard if it has a `short` name. Most
are made of the confusion table (`TableMetric`): a row per class, and two columns more than classes:
answers that are none of the classes, and no answer. Both count as wrong. Others are made of the
scores that a run gives each class (`ScoreMetric`). Metrics that differ by a word share a file,
`table_*.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.registry import Registry
from claimlab.core.stats import scores
from claimlab.core.stats.interval import DRAWS, Interval, intervals
from claimlab.core.stats.scores import Counts, Floats, Ints, accuracy, measured_macro_f1
from claimlab.evaluate.answers import Answers, unmeasured


@dataclass(frozen=True)
class Measured:
    """A metric of one run; null, and why, where it could not be measured."""

    value: float | None = None
    why: str | None = None


@dataclass(frozen=True)
class Cells:
    """A metric as a function of counts, so that thousands of resamples are measured at once: each
    record falls into one of `size` cells (one for each row of `cell`), and `figure` takes counts
    (draws, size) and gives one number for each draw."""

    cell: Ints  # (records,) or (rows, records)
    size: int
    figure: Callable[[Floats], Floats]

    def of_all(self) -> float:
        """The figure of all records, each once."""
        counts = np.bincount(self.cell.ravel(), minlength=self.size).astype(np.float64)
        return float(self.figure(counts[None])[0])


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

    @property
    def key(self) -> str:
        """Its name in evaluation.json."""
        return self.name.replace("-", "_")

    @property
    def head(self) -> str:
        """Its name at the head of a column."""
        return f"{self.short[:1].upper()}{self.short[1:]}"

    @abstractmethod
    def measure(self, answers: Answers, positive: str | None = None) -> Measured:
        """Of one run; `positive` is the class that a binary ranking looks for."""

    @abstractmethod
    def cells(self, answers: Answers, positive: str | None = None) -> Cells | None:
        """The metric of resamples of the run; null where it is not measured."""


@dataclass(frozen=True, kw_only=True)
class TableMetric(Metric):
    """`figure` takes confusion tables (..., K, K+2) and gives one number for each (...): of a run,
    and of thousands of resamples at once. NaN is a number that a table does not give.
    """

    figure: Callable[[Counts], Floats]

    def measure(self, answers: Answers, positive: str | None = None) -> Measured:  # noqa: ARG002
        why = unmeasured(answers)
        if why is not None and (self.needs_classes or not answers.answered):
            return Measured(None, why)
        return Measured(float(self.figure(confusion(answers))))

    def cells(self, answers: Answers, positive: str | None = None) -> Cells | None:
        if self.measure(answers, positive).value is None:
            return None
        return table_cells(answers, self.figure)


@dataclass(frozen=True, kw_only=True)
class ScoreMetric(Metric):
    """`figure` takes the answers with their scores and the positive class, and so does `counted`,
    which gives the same as a function of counts; without it, the metric has no interval.
    """

    figure: Callable[[Answers, str | None], Measured]
    counted: Callable[[Answers, str | None], Cells] | None = None

    def measure(self, answers: Answers, positive: str | None = None) -> Measured:
        return self.figure(answers, positive)

    def cells(self, answers: Answers, positive: str | None = None) -> Cells | None:
        if self.counted is None or self.measure(answers, positive).value is None:
            return None
        return self.counted(answers, positive)


METRICS: Registry[Metric] = Registry(
    "metric", package="claimlab.evaluate.metrics", attribute="METRIC", group="claimlab.metrics"
)


def metrics() -> list[Metric]:
    """Every metric, in the order in which they are shown."""
    return sorted(METRICS.all().values(), key=lambda metric: (metric.place, metric.name))


def board_metrics() -> list[Metric]:
    """Those on the leaderboard."""
    return [metric for metric in metrics() if metric.short]


def table_metrics() -> list[TableMetric]:
    """Those that are made of the confusion table."""
    return [metric for metric in metrics() if isinstance(metric, TableMetric)]


def confusion(answers: Answers) -> Ints:
    """(K, K+2) counts: truth in rows; answers, others and no answer in columns."""
    return scores.confusion(answers.truth, answers.guess, len(answers.classes), extra=2)


def table_cells(answers: Answers, figure: Callable[[Counts], Floats] = scores.macro_f1) -> Cells:
    """A figure of the confusion table (..., K, K+2) as one of counts."""
    k = len(answers.classes)
    return Cells(answers.cell, answers.cells, lambda flat: figure(flat.reshape(-1, k, k + 2)))


def table_interval(
    answers: Answers, statistic: Callable[[Floats], Floats], *, seed: int = 0, draws: int = DRAWS
) -> Sequence[Interval | None]:
    """Intervals of one or several figures of the confusion table (statistic over (..., K, K+2))."""
    k = len(answers.classes)
    return intervals(
        answers.cluster,
        answers.cell,
        answers.cells,
        lambda flat: statistic(flat.reshape(-1, k, k + 2)),
        seed=seed,
        draws=draws,
    )


def macro_f1_of(answers: Answers) -> float | None:
    """Macro-F1; null where no record was answered, and where the truth holds only one class."""
    return measured_macro_f1(confusion(answers)) if answers.answered else None


def accuracy_of(answers: Answers) -> float | None:
    """Accuracy; null where no record was answered."""
    return float(accuracy(confusion(answers))) if answers.answered else None
