"""What a run said beside what is true, as arrays: the one shape that every measure here works on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """`classes` are those that the truth holds: a score is a mean over them, whatever else was answered.

    `guess` is the number of a class, `other` for an answer that is none of them, `failed` for no answer at all.
    `scores` has a column per class of `scored` (the classes first, then others that the run gave scores to); a row
    without scores is all NaN. `cluster` numbers the groups that are resampled whole.
    """

    classes: tuple[str, ...]
    truth: Ints
    guess: Ints
    cluster: Ints
    scores: Floats | None = None
    scored: tuple[str, ...] = ()

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
    def cells(self) -> int:
        """Cells of the confusion table: a row per class, and two columns beyond the classes."""
        return len(self.classes) * (len(self.classes) + 2)

    @property
    def cell(self) -> Ints:
        """The cell of the confusion table that each record falls into."""
        return self.truth * (len(self.classes) + 2) + self.guess

    def take(self, rows: npt.NDArray[Any]) -> Answers:
        """The same for some of the records; the classes stay those of all of them."""
        scores = None if self.scores is None else self.scores[rows]
        return Answers(self.classes, self.truth[rows], self.guess[rows], self.cluster[rows], scores, self.scored)


def answers(
    truth: Sequence[str],
    said: Sequence[str | None],
    *,
    groups: Sequence[str | None] | None = None,
    scores: Sequence[str | Mapping[str, float] | None] | None = None,
    order: Sequence[str] = (),
) -> Answers:
    """Arrays from columns. `order` is the task's order of classes; a record without a group is a group of its own."""
    found = set(truth)
    classes = tuple(c for c in order if c in found) + tuple(sorted(found - set(order)))
    number = {c: i for i, c in enumerate(classes)}
    other, failed = len(classes), len(classes) + 1
    matrix, scored = _score_matrix(scores, classes)
    return Answers(
        classes,
        np.array([number[t] for t in truth], dtype=np.int64),
        np.array([failed if s is None else number.get(s, other) for s in said], dtype=np.int64),
        clusters(groups if groups is not None else [None] * len(truth)),
        matrix,
        scored,
    )


def clusters(groups: Sequence[str | None]) -> Ints:
    """Groups as numbers from 0; each record without a group gets a number of its own."""
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(i if g is None else g, len(seen)) for i, g in enumerate(groups)], dtype=np.int64)


def _score_matrix(
    scores: Sequence[str | Mapping[str, float] | None] | None, classes: tuple[str, ...]
) -> tuple[Floats | None, tuple[str, ...]]:
    if scores is None:
        return None, ()
    rows = [json.loads(s) if isinstance(s, str) else s for s in scores]
    if not any(rows):
        return None, ()
    extra = sorted({key for row in rows if row for key in row} - set(classes))
    scored = (*classes, *extra)
    # A class that a scored row does not name got nothing; a row without scores is unknown, not nothing.
    matrix = [[float(row.get(c, 0.0)) if row else float("nan") for c in scored] for row in rows]
    return np.array(matrix, dtype=np.float64), scored
