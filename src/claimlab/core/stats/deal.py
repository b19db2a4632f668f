"""Deal whole groups of rows to train, dev and test so that each side gets its share of every cell
(class, language).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Flags, Floats

LARGE_GROUP_ROWS = 20  # rows: larger groups are placed one by one
# groups of equal make-up: fewer are placed one by one, since rounding would rob the smallest side
MANY_GROUPS = 20


def deal(
    cells: Codes, groups: Codes, shares: Sequence[float], seed: int, *, first: Flags | None = None
) -> Codes:
    """The side (an index into `shares`) of every row. Rows with one group code are never parted.

    Groups with a row flagged in `first` go to the first side and count as dealt there. Of the
    others, large groups go first, largest first, to the side that they bring closest to its target.
    Small groups with the same contents are assigned at random, so that the cost is linear in the
    rows and every cell gets even shares.
    """
    if len(cells) == 0:
        return np.empty(0, np.int64)
    rng = np.random.default_rng(seed)
    group_of = np.unique(groups, return_inverse=True)[1].ravel()
    table = _Held(group_of, np.unique(cells, return_inverse=True)[1].ravel())
    # sides by cells: target rows
    want = np.asarray(shares, dtype=np.float64)[:, None] * table.totals
    room = want.copy()  # and rows still missing
    side = np.full(table.groups, -1, np.int64)
    if first is not None and first.any():
        side[group_of[first]] = 0
        room[0] -= table.sum_of(side == 0)
    free = side < 0
    large = np.flatnonzero(free & (table.size > LARGE_GROUP_ROWS))
    for group in large[np.argsort(-table.size[large], kind="stable")].tolist():
        own, n = table.of_group(group)
        side[group] = _nearest(room[:, own], want[:, own], n)
        room[side[group], own] -= n
    small = rng.permutation(np.flatnonzero(free & (table.size <= LARGE_GROUP_ROWS)))
    for alike in _by_make_up(table, small):
        own, n = table.of_group(int(alike[0]))
        if len(alike) < MANY_GROUPS:
            for group in alike.tolist():
                side[group] = _nearest(room[:, own], want[:, own], n)
                room[side[group], own] -= n
            continue
        whole = _quota(room[:, own], want[:, own], len(alike))
        side[alike] = np.repeat(np.arange(len(shares)), whole)
        room[:, own] -= np.outer(whole, n)
    return side[group_of]


class _Held:
    """How many rows of each cell each group holds, as a sparse table: most groups hold one cell of
    hundreds.
    """

    def __init__(self, group_of: Codes, cells: Codes) -> None:
        kinds, self.groups = int(cells.max()) + 1, int(group_of.max()) + 1
        pair, n = np.unique(group_of * kinds + cells, return_counts=True)
        self.at, self.cell, self.n = pair // kinds, pair % kinds, n.astype(np.float64)
        self.totals = np.bincount(cells).astype(np.float64)
        self.start = np.searchsorted(self.at, np.arange(self.groups + 1))
        self.size = np.bincount(self.at, weights=self.n)

    def of_group(self, group: int) -> tuple[Codes, Floats]:
        part = slice(self.start[group], self.start[group + 1])
        return self.cell[part], self.n[part]

    def sum_of(self, chosen: Flags) -> Floats:
        entries = chosen[self.at]
        counted = np.bincount(
            self.cell[entries], weights=self.n[entries], minlength=len(self.totals)
        )
        return counted.astype(np.float64)


def _by_make_up(table: _Held, small: Codes) -> list[Codes]:
    """`small` in batches of groups that have the same cells the same number of times.

    Rare make-ups come first, and large groups before small ones: what is common and small then
    evens out what is left. Ties are in random order.
    """
    if not len(small):
        return []
    holds = pl.DataFrame({"group": table.at, "cell": table.cell, "n": table.n.astype(np.int64)})
    word = pl.concat_str(["cell", "n"], separator=":")
    contents = holds.select("group", make_up=word).group_by("group", maintain_order=True)
    make_up = contents.agg(pl.col("make_up").str.join(","))["make_up"].gather(small)
    lots = (
        pl.DataFrame({"group": small, "make_up": make_up})
        .group_by("make_up", maintain_order=True)
        .agg("group")
    )
    size = pl.Series(table.size[lots["group"].list.first().to_numpy()])
    lots = lots.with_columns(n=pl.col("group").list.len(), size=size)
    ordered = lots.sort("n", "size", descending=[False, True], maintain_order=True)
    ends = np.cumsum(ordered["n"].to_numpy())
    return np.split(ordered["group"].explode().to_numpy(), ends[:-1])


def _nearest(room: Floats, want: Floats, n: Floats) -> int:
    """The side that a group with `n` rows of each cell brings closest to its target, by the
    chi-square of all sides.

    Each cell counts relative to its own size, so that a rare language weighs as much as a common
    one.
    """
    return int(((n - 2 * room) * n / np.maximum(want, 1e-9)).sum(axis=1).argmin())


def _quota(room: Floats, want: Floats, lot: int) -> Codes:
    """How many groups of a batch with the same contents go to each side: by the room left for their
    cells.
    """
    left = (np.maximum(room, 0) / want.sum(axis=0)).sum(axis=1)
    if left.sum() == 0:
        left = want.sum(axis=1)
    exact = lot * left / left.sum()
    whole: Codes = np.floor(exact).astype(np.int64)
    short = np.argsort(-(exact - whole), kind="stable")[: lot - int(whole.sum())]
    whole[short] += 1
    return whole
