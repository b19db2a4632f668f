"""What a run said beside what is true, as arrays: the one shape that every measure here works
on. And when there is too little of it to report: the same rule for a cell, a run and a comparison.

The contract of a metric: what it says of a run, and how it is made of arrays.

A metric is one file in `evaluate/metrics/` with a module-level METRIC: it is in evaluation.json and
on the page of every run, with its interval, and on the leaderboard if it has a `short` name. Most
are made of the confusion table (`TableMetric`): a row per class, and two columns more than classes:
answers that are none of the classes, and no answer. Both count as wrong. Others are made of the
scores that a run gives each class (`ScoreMetric`). Metrics that differ by a word share a file,
`table_*.py`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.registry import Registry
from claimlab.core.stats import scores
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import Interval, Resampling, intervals
from claimlab.core.stats.scores import (
    UNANSWERED,
    Counts,
    Flags,
    Floats,
    Ints,
    accuracy,
    measured_macro_f1,
)
from claimlab.core.words import several, verb

Statistic = Callable[[Floats], Floats]
# When there is too little data to report: the same rule for a cell, a run and a comparison.
ONE_CLASS = "not measured: only one class"  # what a macro-F1 over one class is
SMALLEST = 30  # records
SMALLEST_CLASS = 5  # records of a class


@dataclass(frozen=True)
class Answers:
    """`classes` are those that the truth holds: a score is a mean over them, whatever else was
    answered.

    `guess` is the number of a class, `other` for an answer that is none of them, `failed` for no
    answer at all. `scores` has a column per class of `scored` (the classes first, then others that
    the run gave scores to); a row without scores is all NaN. `cluster` numbers the groups that are
    resampled whole.
    """

    classes: tuple[str, ...]
    truth: Ints
    guess: Ints
    cluster: Ints
    scores: Floats | None = None
    scored: tuple[str, ...] = ()
    unscored: str = "The run gives no scores."  # why `scores` is null, where it is
    positive: str | None = None  # the class that a binary ranking looks for

    @property
    def n(self) -> int:
        return len(self.truth)

    @property
    def other(self) -> int:
        return len(self.classes)

    @property
    def failed(self) -> int:
        return len(self.classes) + 1

    @property
    def right(self) -> Flags:
        return np.asarray(self.guess == self.truth)

    @property
    def answered(self) -> int:
        """Records with an answer, whatever it says."""
        return int((self.guess != self.failed).sum())

    @property
    def cells(self) -> int:
        """Cells of the confusion table: a row per class, and two columns beyond the classes."""
        return len(self.classes) * (len(self.classes) + 2)

    @property
    def cell(self) -> Ints:
        """The cell of the confusion table that each record falls into."""
        return self.truth * (len(self.classes) + 2) + self.guess

    def take(self, rows: Ints) -> Answers:
        """The same for some of the records; the classes stay those of all of them."""
        return replace(
            self,
            truth=self.truth[rows],
            guess=self.guess[rows],
            cluster=self.cluster[rows],
            scores=None if self.scores is None else self.scores[rows],
        )


def answers(
    truth: Sequence[str] | pl.Series,
    predicted: Sequence[str | None] | pl.Series,
    *,
    groups: Sequence[str | None] | pl.Series | None = None,
    scores: Sequence[str | Mapping[str, float] | None] | pl.Series | None = None,
    order: Sequence[str] = (),
    positive: str | None = None,
) -> Answers:
    """Arrays from columns. `order` is the task's order of classes; a record without a group is a
    group of its own.
    """
    true, label = pl.Series(truth, dtype=pl.String), pl.Series(predicted, dtype=pl.String)
    present = set(true.unique().to_list())
    classes = tuple(c for c in order if c in present) + tuple(sorted(present - set(order)))
    other, failed = len(classes), len(classes) + 1
    numbers = pl.Series(range(len(classes)), dtype=pl.Int64)
    guess = label.replace_strict(classes, numbers, default=other, return_dtype=pl.Int64).set(
        label.is_null(), failed
    )
    columns, has = _columns([] if scores is None else scores)
    matrix, scored = _score_matrix(columns, has, classes)
    strange = matrix is None and bool(has.any())
    return Answers(
        classes,
        true.replace_strict(classes, numbers, return_dtype=pl.Int64).to_numpy(),
        guess.to_numpy(),
        codes_of(pl.Series(groups if groups is not None else [None] * len(true), dtype=pl.String)),
        matrix,
        scored,
        (
            f"The scores do not name the class {' or '.join(classes)}."
            if strange
            else Answers.unscored
        ),
        positive,
    )


def speller(classes: Sequence[str]) -> Callable[[str], str]:
    """Maps a word to the class it means: " FALSE" is false. Classes that differ only in case stay
    separate.
    """
    folded: dict[str, str | None] = {}
    for name in classes:
        word = name.strip().lower()
        folded[word] = None if word in folded else name
    known = set(classes)

    def spell(word: str) -> str:
        return word if word in known else folded.get(word.strip().lower()) or word

    return spell


_NUMBER = r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"  # as JSON writes it


def _columns(
    scores: Sequence[str | Mapping[str, float | None] | None] | pl.Series,
) -> tuple[dict[str, Floats], Flags]:
    """The scores by the class they name, NaN where a record gives it none; and which records have
    scores.
    """
    if isinstance(scores, pl.Series) and (quick := _alike(scores)) is not None:
        return quick, scores.is_not_null().to_numpy()
    rows = [_read(row) or {} for row in scores]
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {
        key: np.array([row.get(key, np.nan) for row in rows], dtype=np.float64) for key in names
    }
    return columns, np.array([bool(row) for row in rows], dtype=bool)


def _alike(scores: pl.Series) -> dict[str, Floats] | None:
    """The scores of a run whose records all name the same classes in the same order, as detectors
    write them, read column by column: many times faster than row by row. Null for any other run."""
    stated = scores.drop_nulls()
    try:
        row = json.loads(str(stated[0])) if scores.dtype == pl.String and len(stated) else None
    except ValueError:
        return None
    if not isinstance(row, dict) or not row:
        return None
    form = ", ".join(
        f"{pl.escape_regex(json.dumps(key, ensure_ascii=False))}: {_NUMBER}" for key in row
    )
    numbers = scores.str.extract_groups(rf"^\{{{form}\}}$").struct.unnest()
    columns = [numbers[name].cast(pl.Float64) for name in numbers.columns]
    if any(column.null_count() != scores.null_count() for column in columns):
        return None
    return {
        key: column.fill_null(np.nan).to_numpy() for key, column in zip(row, columns, strict=True)
    }


def _read(scores: str | Mapping[str, float | None] | None) -> Mapping[str, float] | None:
    """The scores of one record; null where one of them is: a part of them says nothing."""
    try:
        row: Mapping[str, float | None] | None = (
            json.loads(scores) if isinstance(scores, str) else scores
        )
        if row is None or None in row.values():
            return None
        return {key: float(value) for key, value in row.items() if value is not None}
    except (ValueError, TypeError, AttributeError):
        raise DataError(
            f"The scores '{str(scores)[:60]}' are not a JSON object of numbers.",
            'Write them as {"CLASS": NUMBER, ...}, or leave them out.',
        ) from None


def _score_matrix(
    columns: Mapping[str, Floats], has: Flags, classes: tuple[str, ...]
) -> tuple[Floats | None, tuple[str, ...]]:
    """Null where no row has scores, or where they name none of the classes: zeros would pass for a
    bad ranking.
    """
    spell = speller(classes)
    keys = {key: spell(key) for key in columns}
    if not set(keys.values()) & set(classes):
        return None, ()
    extra = sorted(set(keys.values()) - set(classes))
    scored = (*classes, *extra)
    # A class that a scored row does not name got nothing; a row without scores is unknown, not
    # nothing.
    matrix = np.zeros((len(has), len(scored)))
    for key, name in keys.items():
        present = ~np.isnan(columns[key])
        matrix[present, scored.index(name)] = columns[key][present]
    matrix[~has] = np.nan
    return matrix, scored


def unmeasured(answers: Answers) -> str | None:
    """Why these answers have no macro-F1; null where they have one."""
    if not answers.answered:
        return UNANSWERED
    return ONE_CLASS if len(answers.classes) < 2 else None


def thin_classes(answers: Answers) -> list[str]:
    """Classes with a handful of records: resampling a handful gives an interval that is far too
    sure.
    """
    sizes = np.bincount(answers.truth, minlength=len(answers.classes))
    return [c for c, n in zip(answers.classes, sizes, strict=True) if n < SMALLEST_CLASS]


def cautions(answers: Answers) -> list[str]:
    """What a reader must know before believing a macro-F1 on these records."""
    if not answers.answered:
        return [f"Every prediction failed: {UNANSWERED}."]
    out = []
    sizes = np.bincount(answers.truth, minlength=len(answers.classes))
    if answers.n < SMALLEST:
        out.append(f"There {verb(answers.n)} only {several(answers.n, 'record')}.")
    if len(answers.classes) < 2:
        out.append(f"Macro-F1 is {ONE_CLASS} ({answers.classes[0]}).")
    for name in thin_classes(answers):
        n = int(sizes[answers.classes.index(name)])
        depends = f"macro-F1 depends on {verb(n, 'it', 'them')} and has no interval"
        out.append(f"The class {name} has only {several(n, 'record')}: {depends}.")
    return out


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
    figure: Statistic

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
    def measure(self, answers: Answers) -> Measured:
        """Of one run."""

    @abstractmethod
    def cells(self, answers: Answers) -> Cells | None:
        """The metric of resamples of the run; null where it is not measured."""


@dataclass(frozen=True, kw_only=True)
class TableMetric(Metric):
    """`figure` takes confusion tables (..., K, K+2) and gives one number for each (...): of a run,
    and of thousands of resamples at once. NaN is a number that a table does not give.
    """

    figure: Callable[[Counts], Floats]

    def measure(self, answers: Answers) -> Measured:
        why = unmeasured(answers)
        if why is not None and (self.needs_classes or not answers.answered):
            return Measured(None, why)
        return Measured(float(self.figure(confusion(answers))))

    def cells(self, answers: Answers) -> Cells | None:
        if self.measure(answers).value is None:
            return None
        return table_cells(answers, self.figure)


@dataclass(frozen=True, kw_only=True)
class ScoreMetric(Metric):
    """`figure` takes answers with scores, and so does `counted`, which gives the same as a function
    of counts; without it, the metric has no interval.
    """

    figure: Callable[[Answers], Measured]
    counted: Callable[[Answers], Cells] | None = None

    def measure(self, answers: Answers) -> Measured:
        return self.figure(answers)

    def cells(self, answers: Answers) -> Cells | None:
        if self.counted is None or self.measure(answers).value is None:
            return None
        return self.counted(answers)


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
