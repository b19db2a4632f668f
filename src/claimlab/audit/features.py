"""What a shortcut check feeds a small model: fixed numbers, words chosen on the training rows, or
one category.

A feature gives the rows with equal values the same `cell`, and answers for every cell from the
training rows per cell and class. So nothing can be learnt from rows that it will be tested on, and
many models are fitted at once.

Many small decision trees at once, grown on counts.

A permutation test grows the same small tree hundreds of times on the same numbers with other
labels. So numbers are put into bins once, rows that fall into the same bins become one cell, and a
tree needs no rows any more, only how many of each class every cell holds. Each tree (one per
permutation, repeat and fold) grows leaf by leaf, as scikit-learn grows one: the best split first,
Gini impurity, classes weighted alike. A compiled loop (_forest.c) does it; where it was not built,
NumPy grows the same trees, more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.scores import Flags, Floats32, Ints
from claimlab.core.types import Sparse
from claimlab.text.telling import KEYWORDS, WIDESPREAD, first, widespread

Small = npt.NDArray[np.uint8]
Reals = npt.NDArray[np.floating]
Counts = npt.NDArray[np.integer]

QUESTIONS = 512  # thresholds in all, shared out among the numbers
LEAVES = 20
MIN_LEAF = 5  # rows
LEAST_GAIN = 1e-3  # rows: less is rounding
TINY = 1e-9


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
    def of(cls, codes: Small) -> Questions:
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


def into_bins(matrix: Reals) -> Small:
    """Codes that order as the numbers do: distinct values where there are few, else quantiles.
    Missing is lowest.
    """
    # A bin of fewer rows than a leaf needs hardly makes a difference.
    bins = int(np.clip(min(QUESTIONS // max(1, matrix.shape[1]), len(matrix) // MIN_LEAF), 8, 255))
    return np.stack([_binned(column, bins) for column in matrix.T], axis=1)


def _binned(values: Reals, bins: int) -> Small:
    missing = np.isnan(values)
    known = np.sort(values[~missing])
    edges = np.unique(known)[1:]
    room = bins - 1 - int(missing.any())
    if len(edges) > room:
        edges = np.unique(known[np.linspace(0, len(known) - 1, room + 1).astype(np.int64)[1:]])
    codes = np.searchsorted(edges, values, side="right").astype(np.uint8)
    return np.where(missing, np.uint8(0), codes + np.uint8(missing.any())).astype(np.uint8)


def grow(questions: Questions, counts: Counts, allowed: Flags | None = None) -> Ints:
    """The class that each tree answers for each cell (trees, cells).

    `counts` (trees, cells, classes) are the training rows of each tree; `allowed` (trees, columns)
    says which columns each may ask about. A tree that cannot split answers the most frequent class
    of its training rows.
    """
    trees, cells, classes = counts.shape
    answers = np.empty((trees, cells), np.int64)
    try:
        from claimlab.audit._forest import grow as grow_compiled
    except ImportError:  # not built here
        for number, rows in enumerate(counts):
            mine = None if allowed is None else allowed[number]
            answers[number] = _grow_one(questions, rows, mine)
        return answers
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
        )
    return answers


def _grow_one(questions: Questions, counts: Counts, allowed: Flags | None) -> Ints:
    """The same for one tree. Leaf 0 is the root; of a split, the side with fewer cells gets a new
    number, and the other keeps the old one."""
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
        mine = rows * (leaf == number)[:, None]
        total[number] = mine.sum(axis=0)
        yes = questions.yes(np.asarray(present @ mine).T)
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
        fewer = order[below:] if len(order) - below <= below else order[:below]
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


STEP = 0.6180339887  # the golden ratio: its multiples spread evenly


class Feature(Protocol):
    @property
    def cell(self) -> Ints:
        """The cell of each row, numbered from 0."""
        ...

    def answers(self, counts: Counts) -> Ints:
        """What each model answers for each cell (models, cells), given training rows (models,
        cells, classes).
        """
        ...


class Numbers:
    """Fixed numbers per row (length, case, time), for a small tree. Not-a-number is missing, and a
    value of its own.
    """

    def __init__(self, matrix: Reals) -> None:
        cells, cell = np.unique(into_bins(matrix), axis=0, return_inverse=True)
        self.cell: Ints = cell.ravel()
        self.questions = Questions.of(cells)

    def answers(self, counts: Counts) -> Ints:
        return grow(self.questions, counts)


class Words:
    """Presence of the `top` words that are most frequent in the training rows, out of many
    candidate columns.
    """

    def __init__(self, presence: Sparse, top: int = KEYWORDS) -> None:
        self.presence, self.top = presence, top  # sparse, rows by words: see audit/words.py

    @property
    def cell(self) -> Ints:
        return np.arange(self.presence.shape[0])

    @cached_property
    def _words(self) -> Sparse:
        return self.presence.T.tocsr().astype(np.float32)

    def held(self, counts: Counts) -> Reals:
        """Training rows that hold each word (models, classes, words)."""
        models, cells, classes = counts.shape
        flat = counts.transpose(1, 0, 2).reshape(cells, models * classes).astype(np.float32)
        return np.asarray(self._words @ flat).T.reshape(models, classes, -1)

    def chosen(self, held: Reals, size: Counts) -> Flags:  # noqa: ARG002
        """Which words each model may use (models, words), given rows per class (models,
        classes).
        """
        return first(held.sum(axis=1), self.top)

    def answers(self, counts: Counts) -> Ints:
        return self._tree(counts, self.chosen(self.held(counts), counts.sum(axis=1)))

    def _tree(self, counts: Counts, chosen: Flags) -> Ints:
        columns = np.flatnonzero(chosen.any(axis=0))
        codes = self.presence[:, columns].toarray().astype(np.uint8)
        _, at, pattern = np.unique(
            np.packbits(codes, axis=1), axis=0, return_index=True, return_inverse=True
        )
        folded = fold_cells(counts, pattern.ravel(), len(at))
        return grow(Questions.of(codes[at]), folded, chosen[:, columns])[:, pattern.ravel()]


class Giveaways(Words):
    """Presence of the most one-sided words of the training rows: those at least RATIO times as
    frequent in one class as in the others together, and in at least SUPPORT of the rows of that
    class.

    Rows that hold none of them are answered at random, in the proportions of such rows in training:
    a word that gives away a tenth of one class must not look worthless because nothing is known of
    the other rows.
    """

    def __init__(self, presence: Sparse) -> None:
        super().__init__(presence, WIDESPREAD)

    def answers(self, counts: Counts) -> Ints:
        chosen = self.chosen(self.held(counts), counts.sum(axis=1))
        holds = np.asarray(self.presence @ chosen.T.astype(np.float32)).T > 0
        silent = np.where(holds[:, :, None], 0, counts).sum(axis=1)
        ends = np.cumsum(silent / np.maximum(silent.sum(axis=1, keepdims=True), 1), axis=1)
        draws = np.random.default_rng(0).random(counts.shape[1])
        places = (draws + STEP * np.arange(len(counts))[:, None]) % 1  # other draws for each model
        drawn = (places[:, :, None] >= ends[:, None, :-1]).sum(axis=2)
        return np.where(holds, self._tree(counts, chosen), drawn)

    def columns(self, y: Ints, classes: int) -> Ints:
        """The words that all rows together would choose, the most widespread first."""
        counts = (y[:, None] == np.arange(classes)).astype(np.int32)[None]
        held = self.held(counts)
        chosen = np.flatnonzero(self.chosen(held, counts.sum(axis=1))[0])
        rate = (held[0] / np.maximum(counts.sum(axis=1), 1)[0][:, None]).max(axis=0)
        return chosen[np.argsort(-rate[chosen], kind="stable")]

    def chosen(self, held: Reals, size: Counts) -> Flags:
        one_sided, rate = widespread(held, size)
        return first(np.where(one_sided, rate, 0.0), self.top) & one_sided


class Category:
    """One category per row (-1 = missing): guess the class that is over-represented in that
    category in training.

    Shares are smoothed by one row of the overall distribution, and weighted so that a rare class
    counts as much as a frequent one. A category never met in training is answered as those that
    were met once: where one publisher is always false, a new one is rather true. Without such
    categories it is answered with the most frequent class.
    """

    def __init__(self, codes: Ints) -> None:
        self.cell: Ints = np.unique(codes, return_inverse=True)[1].ravel()

    def answers(self, counts: Counts) -> Ints:
        overall = counts.sum(axis=1)
        usual = overall / np.maximum(overall.sum(axis=1, keepdims=True), 1)
        met = counts.sum(axis=2)
        once = np.where((met == 1)[:, :, None], counts, 0).sum(axis=1)
        known, new = (
            ((rows + share) / np.maximum(total, 1)).argmax(axis=-1)
            for rows, share, total in (
                (counts, usual[:, None], overall[:, None]),
                (once, usual, overall),
            )
        )
        new = np.where(once.any(axis=1), new, overall.argmax(axis=1))
        return np.asarray(np.where(met == 0, new[:, None], known), dtype=np.int64)


def fold_cells(counts: Counts, into: Ints, cells: int) -> Counts:
    """The same training rows with fewer cells: cell i becomes part of cell `into[i]`."""
    from scipy.sparse import csr_matrix

    models, many, classes = counts.shape
    joined = csr_matrix((np.ones(many, np.float32), (into, np.arange(many))), shape=(cells, many))
    flat = counts.transpose(1, 0, 2).reshape(many, models * classes).astype(np.float32)
    whole: Counts = (
        np.asarray(joined @ flat)
        .reshape(cells, models, classes)
        .transpose(1, 0, 2)
        .astype(np.int32)
    )
    return whole
