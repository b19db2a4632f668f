"""Who talks to whom, as compressed rows: `indices[indptr[i]:indptr[i + 1]]` are the neighbours of
agent i, in order.

A network is undirected: a tie is in both rows. No agent is its own neighbour, and no tie occurs
twice. Where ties have tiers (Dunbar), the tier is one-sided, as people's is: i may hold j close
while j holds i at arm's length.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TIERS = (
    "named by the other only",
    "strong",
    "moderate",
)  # what `tiers` stand for; strangers are the weak tier
_NONE: Ints = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Network:
    """`kind` is a name of the registry NETWORKS ("random", "scale-free", ...), or "file" for one
    that none made.

    `tiers` and `scores`, where a network has them, are parallel to `indices`: how the agent of the
    row holds the other (an index into TIERS), and how alike the two are.
    """

    indptr: Longs
    indices: Ints
    kind: str
    hubs: Ints = field(default_factory=lambda: _NONE)
    parameters: JsonObject = field(default_factory=dict)
    tiers: NDArray[np.int8] | None = None
    scores: NDArray[np.float32] | None = None

    @property
    def size(self) -> int:
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        return len(self.indices) // 2

    @property
    def mean_degree(self) -> float:
        return len(self.indices) / self.size if self.size else 0.0

    @property
    def degrees(self) -> Longs:
        return np.diff(self.indptr)

    def neighbours(self, agent: int) -> Ints:
        return self.indices[self.indptr[agent] : self.indptr[agent + 1]]

    def named(self, agent: int, tier: str) -> Ints:
        """Those whom `agent` holds in a tier ("strong" or "moderate")."""
        if self.tiers is None:
            raise DataError(
                f"A {self.kind} network has no tiers.", "Build or read a Dunbar network."
            )
        row = slice(self.indptr[agent], self.indptr[agent + 1])
        tied: Ints = self.indices[row][self.tiers[row] == TIERS.index(tier)]
        return tied

    @property
    def owners(self) -> Ints:
        """Whose row each entry of `indices` is in."""
        return np.repeat(np.arange(self.size, dtype=np.int32), self.degrees)

    def having(self, entries: Flags) -> Network:
        """The same agents with these entries of `indices` only."""
        tiers = None if self.tiers is None else self.tiers[entries]
        scores = None if self.scores is None else self.scores[entries]
        indptr = row_starts(self.size, self.owners[entries])
        return replace(
            self, indptr=indptr, indices=self.indices[entries], tiers=tiers, scores=scores
        )

    @classmethod
    def of_edges(
        cls, size: int, source: Ints, target: Ints, kind: str = "file", **more: Any
    ) -> Network:
        """A network from ties in any order; repeats count once, ties of an agent to itself not at
        all.
        """
        indptr, indices = compressed(size, source, target)
        return cls(indptr, indices, kind, **more)


def compressed(size: int, source: Ints, target: Ints) -> tuple[Longs, Ints]:
    """Ties as compressed rows: both directions, sorted, without loops and repeats."""
    # one sort of whole numbers does ordering, grouping and finding repeats
    keys = unique_sorted(np.concatenate([pair_keys(source, target), pair_keys(target, source)]))
    owner, other = (keys >> 32).astype(np.int32), keys.astype(np.int32)  # the low half
    if (loops := owner == other).any():
        owner, other = owner[~loops], other[~loops]
    return row_starts(size, owner), other


def row_starts(size: int, owner: Ints | Longs) -> Longs:
    """Where each agent's row begins, from the owner of each entry."""
    indptr = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=size), out=indptr[1:])
    return indptr


def pair_keys(first: Ints, second: Ints) -> Longs:
    """Two row numbers as one whole number that sorts by the first, then by the second."""
    keys = first.astype(np.int64)
    keys <<= 32
    keys |= second
    return keys


def unique_sorted(keys: Longs) -> Longs:
    keys.sort()
    keep = np.empty(keys.size, dtype=np.bool_)
    keep[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys if keep.all() else keys[keep]
