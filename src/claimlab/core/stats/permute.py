"""Permutation tests that respect groups: which labels may change places, how many did, and what p
follows.

Rows of one group (a pair, an event, copies of a text) do not get their labels independently, so
labels are not dealt out row by row. Groups of like size exchange their labels as a whole, and rows
within a group exchange theirs: pairs of one true and one false text swap inside the pair, events of
one class swap with events of about the same size. Whatever else belongs to a group, such as the
fold it was dealt to, travels with its labels, so that permuted data is stratified as the real data
is and nothing has to be assigned again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.scores import Floats, Ints

LIKE_SIZE = 1.5  # groups within this factor of each other's size may exchange labels
LABELS_AT_A_TIME = 1_000_000  # labels permuted at once
FEWEST_GROUPS = 10  # groups that exchange among themselves; fewer join the next smaller ones


class Exchange:
    """The permutations of `labels` that `groups` allow; with `any_size`, groups exchange theirs
    whatever their size.
    """

    def __init__(self, labels: Ints, groups: Ints, *, any_size: bool = False) -> None:
        self.labels = labels
        self.group = np.unique(groups, return_inverse=True)[1].ravel()
        self.size = np.bincount(self.group)
        self.start = np.concatenate([[0], np.cumsum(self.size)[:-1]])
        self.bins = np.zeros(len(self.size), np.int64) if any_size else like_sizes(self.size)
        self._sorted = labels[np.lexsort((labels, self.group))]
        self._by_bin = np.argsort(self.bins, kind="stable")
        self._first = np.zeros(len(self.size), np.int64)  # a row of each group
        self._first[self.group] = np.arange(len(labels))
        self._by_group = np.sort(self.group)
        self._rank = np.arange(len(labels)) - self.start[self._by_group]

    @property
    def moved_freely(self) -> float:
        """The share of labels that a free permutation moves, on average."""
        share = np.bincount(self.labels) / max(1, len(self.labels))
        return float(1 - (share**2).sum())

    def draw(
        self, rng: np.random.Generator, carried: npt.NDArray[np.integer]
    ) -> tuple[Ints, npt.NDArray[np.integer]]:
        """Permuted labels, and `carried` (..., rows; one value per group) moved along with them."""
        labels, source = self._permute(rng, 1)
        return labels[0], carried[..., self._first[source[0][self.group]]]

    def draw_labels(self, rng: np.random.Generator, times: int) -> Iterator[Ints]:
        """The labels of `times` draws, several at once: (draws, rows), as many as fit in memory."""
        most = max(1, LABELS_AT_A_TIME // max(1, len(self.labels)))
        for start in range(0, times, most):
            yield self._permute(rng, min(most, times - start))[0]

    def _permute(self, rng: np.random.Generator, times: int) -> tuple[Ints, Ints]:
        """Permuted labels (times, rows), and the group whose labels each group gets."""
        groups, rows, group = len(self.size), len(self.labels), self._by_group
        random = rng.random((times, groups + rows + groups))
        source = np.empty((times, groups), np.int64)
        source[:, self._by_bin] = np.argsort(self.bins + random[:, :groups], axis=1)
        origin = source[:, group]
        if groups == rows:  # every row is a group of its own
            shuffled, place = np.broadcast_to(self._first, (times, rows)), np.zeros_like(origin)
        else:
            shuffled = np.argsort(self.group + random[:, groups : groups + rows], axis=1)
            # Of a larger or smaller group, an even sample of its labels in order: the same mix, as
            # near as sizes allow.
            share = (self._rank + random[:, groups + rows :][:, group]) / self.size[group]
            size = self.size[origin]
            place = np.minimum((share * size).astype(np.int64), size - 1)
        labels = np.empty((times, rows), self.labels.dtype)
        np.put_along_axis(labels, shuffled, self._sorted[self.start[origin] + place], axis=1)
        return labels, source


def like_sizes(size: Ints) -> Ints:
    """A bin for every group: groups of one bin are of about the same size, and no bin holds only a
    few groups.
    """
    bins = np.floor(np.log(size) / np.log(LIKE_SIZE) + 1e-9).astype(np.int64)
    names, counts = np.unique(bins, return_counts=True)
    merged: dict[int, int] = {}
    waiting: list[int] = []
    groups = 0
    for name, n in zip(names[::-1].tolist(), counts[::-1].tolist(), strict=True):
        waiting.append(name)
        groups += n
        if groups >= FEWEST_GROUPS:
            merged |= dict.fromkeys(waiting, name)
            waiting, groups = [], 0
    last = min(merged.values(), default=0)
    merged |= dict.fromkeys(waiting, last)
    return np.array([merged[b] for b in bins.tolist()], dtype=np.int64)


def permutation_p(score: float, permuted: Floats, error: float) -> float:
    """The chance of a score this high by luck. `error` is the score's own standard error.

    It is the share of permuted scores that reach the score, itself counted. Where none does, a
    count cannot tell a near miss from a score far out of reach: then it is the tail of Student's t
    fitted to the permuted scores, whose spread is taken to be at least `error`, so that a control
    that hardly varies does not make everything significant.
    """
    from scipy.special import (
        stdtr,
    )  # the tail of Student's t, without the second that scipy.stats takes to import

    n = len(permuted)
    counted = (1 + int((permuted >= score - 1e-12).sum())) / (1 + n)
    if n < 3 or counted > 1 / (1 + n):
        return counted
    spread = max(float(permuted.std(ddof=1)), error, 1e-12)
    return min(
        counted, float(stdtr(n - 1, (permuted.mean() - score) / (spread * np.sqrt(1 + 1 / n))))
    )
