"""What occurs on two sides of a split: the same text, a near-duplicate, the same group; and with
which label.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Flags
from claimlab.core.types import JsonObject, Sparse
from claimlab.split.strategy import SIDES, Material, Side, numbered

PAIRS: tuple[tuple[Side, Side], ...] = (("test", "train"), ("test", "dev"), ("dev", "train"))
IDS_SHOWN = 50


@dataclass(frozen=True)
class Leak:
    """Rows of one side that are also on another. Null counts were not measured (no text, no
    group).
    """

    of: Side
    seen_in: Side
    rows: int  # on the side `of`
    exact: int | None  # with exactly the same text there
    near: int | None  # with a near-duplicate there, and no exact one
    same_label: int | None  # of these, how many have the same label there
    other_label: int | None  # and how many another
    group: int | None  # rows whose group is there
    records: tuple[str, ...] = ()

    @property
    def texts(self) -> int:
        return (self.exact or 0) + (self.near or 0)

    def __bool__(self) -> bool:
        return bool(self.texts or self.group)

    def to_json(self) -> JsonObject:
        return {**asdict(self), "records": list(self.records)}


@dataclass(frozen=True)
class _Seen:
    """For each row of a side, what of it occurs on the other."""

    rows: Codes
    exact: Flags
    near: Flags
    same: Flags
    other: Flags
    group: Flags


def find_leaks(material: Material, side: pl.Series) -> list[Leak]:
    """Every pair of sides that both have rows."""
    number = numbered(side)
    texts, groups = material.near.text_of >= 0, material.records["group"].is_not_null().to_numpy()
    out = []
    for of, seen_in in PAIRS:
        here, there = number == SIDES.index(of), number == SIDES.index(seen_in)
        seen = _seen(material, here, there)
        if seen is None:
            continue
        # Where one of the two sides has no text at all, no copy could have been found: that is not
        # "none".
        read, grouped = (
            bool((has & here).any() and (has & there).any()) for has in (texts, groups)
        )
        text = seen.exact | seen.near
        hits = seen.rows[text | seen.group][:IDS_SHOWN]
        out.append(
            Leak(
                of=of,
                seen_in=seen_in,
                rows=len(seen.rows),
                exact=int(seen.exact.sum()) if read else None,
                near=int(seen.near.sum()) if read else None,
                same_label=int((text & seen.same).sum()) if read else None,
                other_label=int((text & seen.other).sum()) if read else None,
                group=int(seen.group.sum()) if grouped else None,
                records=tuple(material.records["id"].gather(hits)),
            )
        )
    return out


def leaking_rows(material: Material, side: pl.Series) -> Flags:
    """The rows of train or dev whose text is on a later side, exactly or nearly.

    Rows that only share a group are left: a split that keeps groups whole is another strategy, not
    a cure for this one.
    """
    number = numbered(side)
    leaking = np.zeros(material.n, np.bool_)
    for later, earlier in PAIRS:
        here, there = (~leaking & (number == SIDES.index(s)) for s in (earlier, later))
        seen = _seen(material, here, there)
        if seen is not None:
            leaking[seen.rows[seen.exact | seen.near]] = True
    return leaking


def _seen(material: Material, here: Flags, elsewhere: Flags) -> _Seen | None:
    from scipy.sparse import coo_matrix

    if not here.any() or not elsewhere.any():
        return None
    near, label = material.near, _label_codes(material)
    rows = np.flatnonzero(here)
    there = np.flatnonzero(elsewhere & (near.text_of >= 0))
    none = len(material.classes)  # the column of rows without a label
    ones = np.ones(len(there), np.int64)
    tally = coo_matrix(
        (ones, (near.text_of[there], label[there])), shape=(max(near.texts, 1), none + 1)
    ).tocsr()
    around = (near.graph @ tally if near.texts else tally).tocsr()
    has = near.text_of[rows] >= 0
    text = np.where(has, near.text_of[rows], 0)
    exact = has & (_row_sums(tally)[text] > 0)
    anything = has & (_row_sums(around)[text] > 0)
    own = np.asarray(around[text, label[rows]]).ravel()
    unlabelled = around[:, none].toarray().ravel()[text]
    labelled = label[rows] < none
    other = _row_sums(around)[text] - unlabelled - own
    groups = material.records["group"]
    shared = groups.gather(rows).is_in(
        groups.filter(pl.Series(elsewhere)).drop_nulls().unique().to_list()
    )
    return _Seen(
        rows=rows,
        exact=exact,
        near=anything & ~exact,
        same=has & labelled & (own > 0),
        other=has & labelled & (other > 0),
        group=shared.fill_null(False).to_numpy(),
    )


def _label_codes(material: Material) -> Codes:
    numbers = {name: i for i, name in enumerate(material.classes)}
    none = len(numbers)
    return np.array([numbers.get(label, none) for label in material.labels], np.int64)


def _row_sums(table: Sparse) -> Codes:
    return np.asarray(table.sum(axis=1)).ravel().astype(np.int64)
