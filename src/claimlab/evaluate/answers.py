"""What a run said beside what is true, as arrays: the one shape that every measure works on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.scores import (
    Flags,
    Floats,
    Ints,
)
from claimlab.detect.own_words import speller

_NUMBER = r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"  # as JSON writes it


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
