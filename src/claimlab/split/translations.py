"""Translations on one side of a cross-lingual split: rows of one group in several languages say the
same. Held out by its language alone, a text is tested on while its English version is trained on.
By default no group is on both sides: the training rows of a tested group are not used; where that
would leave less than half of the training rows, whole groups are assigned to test or training by
the shares, and their other rows are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from claimlab.core.stats.scores import Flags
from claimlab.core.words import several_of, verb
from claimlab.split.strategy import Material, SplitRequest

# of the rows of a side; below, what keeping translations together costs is said
LEAST_SHARE_LEFT = 0.5
IN_TEST = "a translation of it is in the test set"
IN_TRAIN = "a translation of it is in the training set"


@dataclass(frozen=True)
class Divided:
    """The rows that are tested on and trained on, when no translation is on both sides."""

    test: Flags
    rest: Flags
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def kept_apart(material: Material, request: SplitRequest, test: Flags, rest: Flags) -> Divided:
    """`test` and `rest` without groups on both sides."""
    mixed = mixed_rows(material, test, rest)
    if not mixed.any():
        return Divided(test, rest)
    # Rows of mixed groups that go to training, as far as they may.
    trains = np.zeros(material.n, np.bool_)
    if not _enough(material, rest & ~mixed, rest):
        shares = (1 - request.shares.test, 0.0, request.shares.test)
        dealt = material.dealt(material.bound(("group",)), mixed, shares, request.seed)
        trains = (dealt == "train").fill_null(False).to_numpy()
    divided = Divided(test & ~(mixed & trains), rest & ~(mixed & ~trains))
    counts = {
        IN_TEST: int((rest & ~divided.rest).sum()),
        IN_TRAIN: int((test & ~divided.test).sum()),
    }
    return replace(divided, left_out=counts, notes=_notes(divided, test, rest, mixed))


def mixed_rows(material: Material, test: Flags, rest: Flags) -> Flags:
    """Rows whose group is on both sides."""
    groups = material.records["group"]
    tested, trained = (groups.filter(pl.Series(side)).drop_nulls() for side in (test, rest))
    shared = groups.is_in(tested.implode()) & groups.is_in(trained.implode())
    return shared.fill_null(False).to_numpy() & (test | rest)


def shared_note(material: Material, test: Flags, rest: Flags) -> tuple[str, ...]:
    """What a split gives away that lets translations be on both sides."""
    n = int((mixed_rows(material, test, rest) & test).sum())
    if not n:
        return ()
    return (
        f"{several_of(n, int(test.sum()), 'test record')} {verb(n, 'has', 'have')} a"
        ' translation (the same group) in train or dev; pass `keep_together="group"` to keep'
        " translations on one side.",
    )


def _enough(material: Material, some: Flags, whole: Flags) -> bool:
    classes = [set(material.labels.filter(pl.Series(rows)).drop_nulls()) for rows in (some, whole)]
    return bool(some.sum() >= LEAST_SHARE_LEFT * whole.sum()) and classes[0] == classes[1]


def _notes(divided: Divided, test: Flags, rest: Flags, mixed: Flags) -> tuple[str, ...]:
    """Both readings, where translations cost much: what is left, and what there is when they are on
    both sides.
    """
    left = {"training": (divided.rest, rest), "test": (divided.test, test)}
    short = [
        name for name, (some, whole) in left.items() if some.sum() < LEAST_SHARE_LEFT * whole.sum()
    ]
    if not short:
        return ()
    return (
        f"Translations are kept on one side, which leaves {int(divided.rest.sum()):,} of"
        f" {int(rest.sum()):,} training rows "
        f"and {int(divided.test.sum()):,} of {int(test.sum()):,} test rows. The other reading, "
        f'`keep_together="exact"`, uses them all, and {int((mixed & test).sum()):,} test rows then'
        " have a translation "
        "in training: report the scores of both.",
    )
