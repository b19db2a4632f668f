"""Who talks to whom, as compressed rows: `indices[indptr[i]:indptr[i + 1]]` are the neighbours of
agent i, in order.

A network is undirected: a tie is in both rows. No agent is its own neighbour, and no tie occurs
twice. Where ties have tiers (Dunbar), the tier is one-sided, as people's is: i may hold j close
while j holds i at arm's length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject

Ints = NDArray[np.int32]
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

    indptr: NDArray[np.int64]
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
    def degrees(self) -> NDArray[np.int64]:
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
        held: Ints = self.indices[row][self.tiers[row] == TIERS.index(tier)]
        return held

    @property
    def owners(self) -> Ints:
        """Whose row each entry of `indices` is in."""
        return np.repeat(np.arange(self.size, dtype=np.int32), self.degrees)

    def having(self, entries: NDArray[np.bool_]) -> Network:
        """The same agents with these entries of `indices` only."""
        tiers = None if self.tiers is None else self.tiers[entries]
        scores = None if self.scores is None else self.scores[entries]
        indptr = row_starts(self.size, self.owners[entries])
        return replace(
            self, indptr=indptr, indices=self.indices[entries], tiers=tiers, scores=scores
        )

    def tied(self, a: Sequence[int] | Ints, b: Sequence[int] | Ints) -> NDArray[np.bool_]:
        """Whether a[k] and b[k] are neighbours, for every k."""
        held = pair_keys(self.owners, self.indices)
        pairs = pair_keys(np.asarray(a), np.asarray(b))
        place = np.searchsorted(held, pairs)
        ties: NDArray[np.bool_] = (
            held[np.minimum(place, held.size - 1)] == pairs if held.size else pairs < 0
        )
        return ties

    @classmethod
    def of_edges(
        cls, size: int, source: Ints, target: Ints, kind: str = "file", **more: Any
    ) -> Network:
        """A network from ties in any order; repeats count once, ties of an agent to itself not at
        all.
        """
        indptr, indices = compressed(size, source, target)
        return cls(indptr, indices, kind, **more)


def compressed(size: int, source: Ints, target: Ints) -> tuple[NDArray[np.int64], Ints]:
    """Ties as compressed rows: both directions, sorted, without loops and repeats."""
    keys = np.empty(2 * len(source), dtype=np.int64)
    keys[: len(source)] = pair_keys(source, target)
    keys[len(source) :] = pair_keys(target, source)
    keys.sort()  # one sort of whole numbers does ordering, grouping and finding repeats
    keep = np.empty(len(keys), dtype=np.bool_)
    keep[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    owner = (keys >> 32).astype(np.int32)
    other = keys.astype(np.int32)  # the low half
    keep &= owner != other
    if not keep.all():
        owner, other = owner[keep], other[keep]
    return row_starts(size, owner), other


def row_starts(size: int, owner: Ints | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each agent's row begins, from the owner of each entry."""
    indptr = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=size), out=indptr[1:])
    return indptr


def pair_keys(first: Ints, second: Ints) -> NDArray[np.int64]:
    """Two row numbers as one whole number that sorts by the first, then by the second."""
    keys = first.astype(np.int64)
    keys <<= 32
    keys |= second
    return keys
