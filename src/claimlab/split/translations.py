"""Translations on one side of a cross-lingual split: rows of one group in several languages say the
same.

Held out by its language alone, a text is tested on while its English version is trained on. By
default no group is on both sides: the training rows of a tested group are not used; where that
would leave less than half of the training rows, whole groups are assigned to test or training by
the shares, and their other rows are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from claimlab.core.stats.deal import codes_of
from claimlab.core.words import several_of, verb
from claimlab.split.material import Flags, Material, numbered
from claimlab.split.strategy import Request

ENOUGH = 0.5  # of the rows of a side; below, what keeping translations together costs is said
IN_TEST, IN_TRAIN = (
    "a translation of it is in the test set",
    "a translation of it is in the training set",
)


@dataclass(frozen=True)
class Divided:
    """The rows that are tested on and trained on, when no translation is on both sides."""

    test: Flags
    rest: Flags
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def kept_apart(material: Material, request: Request, test: Flags, rest: Flags) -> Divided:
    """`test` and `rest` without groups on both sides."""
    mixed = mixed_rows(material, test, rest)
    if not mixed.any():
        return Divided(test, rest)
    trains = np.zeros(
        material.n, np.bool_
    )  # rows of mixed groups that go to training, as far as they may
    if not _enough(material, rest & ~mixed, rest):
        shares = (1 - request.shares.test, 0.0, request.shares.test)
        trains = (
            numbered(material.dealt(material.bound(("group",)), mixed, shares, request.seed)) == 0
        )
    one = Divided(test & ~(mixed & trains), rest & ~(mixed & ~trains))
    counts = {IN_TEST: int((rest & ~one.rest).sum()), IN_TRAIN: int((test & ~one.test).sum())}
    return Divided(
        one.test,
        one.rest,
        {why: n for why, n in counts.items() if n},
        _notes(one, test, rest, mixed),
    )


def mixed_rows(material: Material, test: Flags, rest: Flags) -> Flags:
    """Rows whose group is on both sides."""
    groups, has = (
        codes_of(material.records["group"]),
        material.records["group"].is_not_null().to_numpy(),
    )
    both = np.intersect1d(groups[test & has], groups[rest & has])
    mixed: Flags = np.isin(groups, both) & has & (test | rest)
    return mixed


def shared_note(material: Material, test: Flags, rest: Flags) -> tuple[str, ...]:
    """What a split gives away that lets translations be on both sides."""
    n = int((mixed_rows(material, test, rest) & test).sum())
    if not n:
        return ()
    return (
        (
            f"{several_of(n, int(test.sum()), 'test record')} {verb(n, 'has', 'have')} a"
            ' translation (the same group) in train or dev; pass `keep_together="group"` to keep'
            " translations on one side."
        ),
    )


def _enough(material: Material, some: Flags, whole: Flags) -> bool:
    labels = material.labels.to_numpy()
    classes = [{label for label in labels[rows] if label is not None} for rows in (some, whole)]
    return bool(some.sum() >= ENOUGH * whole.sum()) and classes[0] == classes[1]


def _notes(one: Divided, test: Flags, rest: Flags, mixed: Flags) -> tuple[str, ...]:
    """Both readings, where translations cost much: what is left, and what there is when they are on
    both sides.
    """
    left = {"training": (one.rest, rest), "test": (one.test, test)}
    short = [name for name, (some, whole) in left.items() if some.sum() < ENOUGH * whole.sum()]
    if not short:
        return ()
    return (
        f"Translations are kept on one side, which leaves {int(one.rest.sum()):,} of"
        f" {int(rest.sum()):,} training rows "
        f"and {int(one.test.sum()):,} of {int(test.sum()):,} test rows. The other reading, "
        f'`keep_together="exact"`, uses them all, and {int((mixed & test).sum()):,} test rows then'
        " have a translation "
        "in training: report the scores of both.",
    )
