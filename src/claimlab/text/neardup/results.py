"""What the near-duplicate functions return.

From pairs to clusters: rows that are joined by a chain of pairs get one label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.kernel import SHIFT

Rows = NDArray[np.int64]
Found = tuple[Rows, Rows, NDArray[np.floating]]  # left, right and Jaccard similarity of pairs


@dataclass(frozen=True)
class Skipped:
    """What the bound on work left out: buckets with too many texts, and the comparisons not made in
    them.

    A comparison left out in one band may have been made in another, so this is an upper bound. Zero
    means that every candidate was verified.
    """

    buckets: int = 0
    comparisons: int = 0

    def __add__(self, other: Skipped) -> Skipped:
        return Skipped(self.buckets + other.buckets, self.comparisons + other.comparisons)


@dataclass(frozen=True)
class Pairs:
    """Near-duplicate pairs, sorted by left, then right.

    Within one list of texts left < right; across two lists left is a row of the first and right a
    row of the second. `jaccard` is exact, never estimated.
    """

    left: Rows
    right: Rows
    jaccard: NDArray[np.float32]
    plan: BandPlan
    skipped: Skipped = Skipped()

    @classmethod
    def of(cls, plan: BandPlan, *parts: Found, skipped: Skipped) -> Pairs:
        """All these pairs, each once."""
        left, right, jaccard = (np.concatenate(column) for column in zip(*parts, strict=True))
        codes = (left.astype(np.uint64) << SHIFT) | right.astype(np.uint64)
        _, order = np.unique(codes, return_index=True)
        exact = jaccard[order].astype(np.float32)
        return cls(left[order], right[order], exact, plan, skipped)

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.left.tolist(), self.right.tolist(), self.jaccard.tolist(), strict=True)

    def rows(self) -> Rows:
        """Every row that has a near-duplicate (of a pair within one list)."""
        return np.unique(np.concatenate([self.left, self.right]))


@dataclass(frozen=True)
class Clusters:
    """`labels[row]` numbers the clusters 0, 1, ... in order of their first row; -1: no
    near-duplicate.
    """

    labels: Rows
    pairs: Pairs

    @classmethod
    def of(cls, pairs: Pairs, total: int) -> Clusters:
        """The clusters that chains of pairs make of so many rows."""
        return cls(label(pairs.left, pairs.right, total), pairs)

    def __len__(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def sizes(self) -> Rows:
        """The number of rows of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self))


def label(left: Rows, right: Rows, total: int) -> Rows:
    """Number the connected components of two rows or more in order of their first row; -1 for the
    rest.
    """
    labels = np.full(total, -1, dtype=np.int64)
    rows, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    roots = _roots(ends[: len(left)], ends[len(left) :], len(rows))
    # a root is the least row of its component, so sorted roots are in order of first appearance
    labels[rows] = np.unique(roots, return_inverse=True)[1]
    return labels


def _roots(left: Rows, right: Rows, total: int) -> Rows:
    """For each node the least node of its component: union-find on whole arrays at once.

    Each round attaches the greater root of every unconnected pair to the lesser one and then points
    all nodes straight at their roots. Every component that is not whole loses roots in each round,
    usually more than half.
    """
    parent = np.arange(total, dtype=np.int64)
    while len(left):
        a, b = parent[left], parent[right]
        apart = a != b
        left, right, a, b = left[apart], right[apart], a[apart], b[apart]
        np.minimum.at(parent, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(shorter := parent[parent], parent):
            parent = shorter
    return parent
