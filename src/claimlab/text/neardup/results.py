"""What the near-duplicate functions return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claimlab.text.neardup.bands import Plan

Rows = NDArray[np.int64]


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
    plan: Plan
    skipped: Skipped = Skipped()

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

    def __len__(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def sizes(self) -> Rows:
        """The number of rows of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self))
