"""Many small decision trees at once, grown on counts.

A permutation test grows the same small tree hundreds of times on the same numbers with other
labels. So numbers are put into bins once, rows that fall into the same bins become one cell, and a
tree needs no rows any more, only how many of each class every cell holds. Each tree grows leaf by
leaf, as scikit-learn grows one: the best split first, Gini impurity, classes weighted alike. A
compiled loop (_forest.c) does it; where it was not built, NumPy grows the same trees, more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.scores import Flags, Floats32, Ints
from claimlab.core.types import Sparse

Codes = npt.NDArray[np.unsignedinteger]
Reals = npt.NDArray[np.floating]
Counts = npt.NDArray[np.integer]

QUESTIONS = 512  # thresholds in all, shared out among the numbers
EVERY_QUESTION = 2**18  # thresholds of one tree that is grown alone
LEAVES = 20
MIN_LEAF = 5  # rows
LEAST_GAIN = 1e-3  # rows: less is rounding
TINY = 1e-9
NO_SPLIT = -1


@dataclass(frozen=True)
class Questions:
    """Yes/no questions about cells: is the code of `column` at least `level`? One question per
    threshold.
    """

    column: Ints
    order: Ints  # columns by cells: the cells of each column by code
    below: Ints  # how many cells of its column say no to each question
    # sparse, cells by questions: the highest question of each column that a cell says yes to
    present: Sparse

    @classmethod
    def of(cls, codes: Codes) -> Questions:
        from scipy.sparse import csr_matrix

        most = codes.max(axis=0, initial=0).astype(np.int64)
        column = np.repeat(np.arange(codes.shape[1]), most)
        first = np.cumsum(most) - most
        level = np.arange(len(column)) - first[column] + 1
        order = np.argsort(codes.T, axis=1, kind="stable")
        tally = np.zeros((codes.shape[1], int(most.max(initial=0)) + 1), np.int64)
        np.add.at(tally, (np.arange(codes.shape[1]), codes), 1)
        below = np.cumsum(tally, axis=1)[column, level - 1]
        cell, at = np.nonzero(codes)
        ones = np.ones(len(cell), np.float32)
        place = first[at] + codes[cell, at] - 1
        return cls(
            column, order, below, csr_matrix((ones, (cell, place)), shape=(len(codes), len(column)))
        )

    def yes(self, counts: Floats32) -> Floats32:
        """From rows per highest question (..., questions): rows that say yes to each, by sums
        within a column.
        """
        if not len(self.column):
            return counts
        up_to = np.cumsum(counts, axis=-1)
        last = np.searchsorted(self.column, self.column, side="right") - 1
        out: Floats32 = up_to[..., last]
        out -= up_to
        out += counts
        return out


def into_bins(matrix: Reals) -> Codes:
    """Codes that order as the numbers do: distinct values where there are few, else quantiles.
    Missing is lowest.
    """
    # A bin of fewer rows than a leaf needs hardly makes a difference.
    bins = int(np.clip(min(QUESTIONS // max(1, matrix.shape[1]), len(matrix) // MIN_LEAF), 8, 255))
    return _codes(matrix, bins).astype(np.uint8)


def into_values(matrix: Reals) -> Codes:
    """The same with a bin for each value, as long as there are fewer than EVERY_QUESTION."""
    return _codes(matrix, max(EVERY_QUESTION // max(1, matrix.shape[1]), 8))


def _codes(matrix: Reals, bins: int) -> Codes:
    return np.stack([_binned(column, bins) for column in matrix.T], axis=1)


def _binned(values: Reals, bins: int) -> Codes:
    missing = np.isnan(values)
    ordered = np.sort(values[~missing])
    edges = np.unique(ordered)[1:]
    room = bins - 1 - int(missing.any())
    if len(edges) > room:
        edges = np.unique(ordered[np.linspace(0, len(ordered) - 1, room + 1).astype(np.int64)[1:]])
    codes = np.searchsorted(edges, values, side="right") + int(missing.any())
    return np.where(missing, 0, codes).astype(np.uint32)


def grow(questions: Questions, counts: Counts, allowed: Flags | None = None) -> Ints:
    """The class that each tree answers for each cell (trees, cells).

    `counts` (trees, cells, classes) are the training rows of each tree; `allowed` (trees, columns)
    says which columns each may ask about. A tree that cannot split answers the most frequent class
    of its training rows.
    """
    return grow_with_splits(questions, counts, allowed)[0]


def grow_with_splits(
    questions: Questions, counts: Counts, allowed: Flags | None = None
) -> tuple[Ints, Ints]:
    """The same, and how each tree was split (trees, LEAVES - 1, 2): the leaf and the question, in
    this order, then NO_SPLIT. Leaf 0 is the root; the side with fewer cells (`new_says_yes`)
    becomes the leaf with the next number, and the other keeps the number that it has.
    """
    trees, cells, classes = counts.shape
    answers = np.empty((trees, cells), np.int64)
    splits = np.full((trees, LEAVES - 1, 2), NO_SPLIT, np.int64)
    try:
        from claimlab.core.stats._forest import grow as grow_compiled
    except ImportError:  # not built here
        for number, rows in enumerate(counts):
            columns = None if allowed is None else allowed[number]
            answers[number] = _grow_one(questions, rows, columns, splits[number])
        return answers, splits
    if answers.size:
        grow_compiled(
            questions.column,
            np.ascontiguousarray(questions.order),
            questions.below,
            questions.present.indptr.astype(np.int32, copy=False),
            questions.present.indices.astype(np.int32, copy=False),
            np.ascontiguousarray(counts, np.int32),
            b"" if allowed is None else np.ascontiguousarray(allowed),
            classes,
            LEAVES,
            MIN_LEAF,
            LEAST_GAIN,
            TINY,
            answers,
            splits,
        )
    return answers, splits


def new_says_yes(below: int, cells: int) -> bool:
    """Whether the new leaf of a split has the cells that say yes: those are fewer, or as many."""
    return cells - below <= below


def _grow_one(questions: Questions, counts: Counts, allowed: Flags | None, splits: Ints) -> Ints:
    """The same for one tree."""
    rows = counts.astype(np.float32)
    size = rows.sum(axis=0)
    if not len(questions.column):
        return np.full(len(rows), size.argmax())
    weight = np.divide(size.sum(), len(size) * size, out=np.zeros_like(size), where=size > 0)
    present = questions.present.T
    leaf = np.zeros(len(rows), np.int64)
    gain = np.full(LEAVES, -np.inf, np.float32)
    best, total = np.zeros(LEAVES, np.int64), np.zeros((LEAVES, len(size)), np.float32)

    def look(number: int) -> None:
        """Note the best split of a leaf."""
        rows_of_leaf = rows * (leaf == number)[:, None]
        total[number] = rows_of_leaf.sum(axis=0)
        yes = questions.yes(np.asarray(present @ rows_of_leaf).T)
        whole = total[number][:, None]
        gains = _purity(yes, weight) + _purity(whole - yes, weight) - _purity(whole, weight)
        gains[(sum(yes) < MIN_LEAF) | (sum(whole - yes) < MIN_LEAF)] = -np.inf
        if allowed is not None:
            gains[~allowed[questions.column]] = -np.inf
        best[number] = gains.argmax()
        gain[number] = gains[best[number]]

    look(0)
    for new in range(1, LEAVES):
        parted = int(gain.argmax())
        if not gain[parted] > LEAST_GAIN:
            break
        below = questions.below[best[parted]]
        order = questions.order[questions.column[best[parted]]]
        fewer = order[below:] if new_says_yes(below, len(order)) else order[:below]
        splits[new - 1] = parted, best[parted]
        leaf[fewer[leaf[fewer] == parted]] = new
        look(parted)
        look(new)
    label = (total * weight).argmax(axis=1)
    if not leaf.any():
        label[0] = size.argmax()
    return np.asarray(label[leaf])


def _purity(rows: Floats32, weight: Floats32) -> Floats32:
    """Sum of squared class weights over their sum, along the classes (axis 0), one after the other:
    the higher, the purer."""
    weighted = rows * weight[:, None]
    return np.asarray(sum(weighted * weighted) / np.maximum(sum(weighted), TINY))
