"""Deal whole groups of rows to train, dev and test so that each side gets its share of every class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from claimlab.audit.subject import Codes

LARGE = 20  # rows: larger groups are placed one by one

Floats = npt.NDArray[np.float64]


def deal(y: Codes, groups: Codes, shares: Sequence[float], seed: int) -> Codes:
    """The side (an index into `shares`) of every row. Rows with one group code are never parted.

    Large groups go first, largest first, to the side that is then least overfull. Small groups of equal make-up are
    dealt by lot, so that the cost grows with rows and the shares of every class come out even.
    """
    if len(y) == 0:
        return np.empty(0, np.int64)
    rng = np.random.default_rng(seed)
    group_of = np.unique(groups, return_inverse=True)[1].ravel()
    counts = np.zeros((int(group_of.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (group_of, y), 1.0)
    room = np.asarray(shares, dtype=np.float64)[:, None] * counts.sum(axis=0)  # sides by classes: rows wanted
    side = np.empty(len(counts), np.int64)
    size = counts.sum(axis=1)
    large = np.flatnonzero(size > LARGE)
    for group in large[np.argsort(-size[large], kind="stable")]:
        side[group] = _least_overfull(room, counts[group])
        room[side[group]] -= counts[group]
    small = rng.permutation(np.flatnonzero(size <= LARGE))
    make_up = counts[small] @ (LARGE + 1.0) ** np.arange(counts.shape[1])
    # Rare and large make-ups first: single rows of the common classes then even out what is left.
    kinds, alike = np.unique(make_up, return_counts=True)
    for kind in kinds[np.lexsort((kinds, alike))]:
        mine = small[make_up == kind]
        side[mine] = _quota(room, counts[mine[0]], len(mine))
        np.subtract.at(room, side[mine], counts[mine])
    return side[group_of]


def _least_overfull(room: Floats, group: Floats) -> int:
    """The side with most room left, relative to what it wants, for the classes of this group."""
    wanted = np.maximum(room, 0) @ group
    return int(wanted.argmax()) if wanted.max() > 0 else int(room.sum(axis=1).argmax())


def _quota(room: Floats, group: Floats, n: int) -> Codes:
    """How `n` groups of one make-up are shared out: by the room left for their classes, whole groups only."""
    left = np.maximum(room, 0) @ (group > 0)
    if left.sum() == 0:
        left = np.maximum(room.sum(axis=1), 0) + 1e-9
    exact = n * left / left.sum()
    whole = np.floor(exact).astype(np.int64)
    short = np.argsort(-(exact - whole), kind="stable")[: n - int(whole.sum())]
    whole[short] += 1
    return np.repeat(np.arange(len(room)), whole)
