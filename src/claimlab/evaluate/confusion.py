"""The confusion table of a run, and figures as functions of its counts.

A table has a row for each class, and two columns more than classes: answers that are none of the
classes, and no answer. Both count as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from claimlab.core.stats import scores
from claimlab.core.stats.interval import Interval, Resampling, intervals
from claimlab.core.stats.scores import Floats, Ints, accuracy, measured_macro_f1
from claimlab.evaluate.answers import Answers

Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Cells:
    """A metric as a function of counts, so that thousands of resamples are measured at once: each
    record falls into one of `size` cells (one for each row of `cell`), and `figure` takes counts
    (draws, size) and gives one number for each draw."""

    cell: Ints  # (records,) or (rows, records)
    size: int
    figure: Statistic

    def of_all(self) -> float:
        """The figure of all records, each once."""
        counts = np.bincount(self.cell.ravel(), minlength=self.size).astype(np.float64)
        return float(self.figure(counts[None])[0])


def confusion(answers: Answers) -> Ints:
    """(K, K+2) counts: truth in rows; answers, others and no answer in columns."""
    return scores.confusion(answers.truth, answers.guess, len(answers.classes), extra=2)


def table_cells(answers: Answers, figure: Statistic = scores.macro_f1) -> Cells:
    """A figure of the confusion table (..., K, K+2) as one of counts."""
    k = len(answers.classes)
    return Cells(answers.cell, answers.cells, lambda flat: figure(flat.reshape(-1, k, k + 2)))


def table_interval(
    answers: Answers, statistic: Statistic, **how: Unpack[Resampling]
) -> Sequence[Interval | None]:
    """Intervals of one or several figures of the confusion table (statistic over (..., K, K+2))."""
    cells = table_cells(answers, statistic)
    return intervals(answers.cluster, cells.cell, cells.size, cells.figure, **how)


def macro_f1_of(answers: Answers) -> float | None:
    """Macro-F1; null where no record was answered, and where the truth holds only one class."""
    return measured_macro_f1(confusion(answers)) if answers.answered else None


def accuracy_of(answers: Answers) -> float | None:
    """Accuracy; null where no record was answered."""
    return float(accuracy(confusion(answers))) if answers.answered else None
