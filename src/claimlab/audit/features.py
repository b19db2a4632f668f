"""What a shortcut check feeds a small model: fixed numbers, words chosen on the training rows, or
one category.

A feature gives the rows with equal values the same `cell`, and answers for every cell from the
training rows per cell and class. So nothing can be learnt from rows that it will be tested on, and
many models are fitted at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.stats.trees import Counts, Questions, Reals, grow, into_bins
from claimlab.core.types import Sparse
from claimlab.text.telling import KEYWORDS_COUNTED, WIDESPREAD_WORDS, first, widespread

GOLDEN_STEP = 0.6180339887  # the golden ratio: its multiples spread evenly


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


class FrequentWords:
    """Presence of the `top` words that are most frequent in the training rows, out of many
    candidate columns.
    """

    def __init__(self, presence: Sparse, top: int = KEYWORDS_COUNTED) -> None:
        self.presence, self.top = presence, top  # sparse, rows by words: see details.py

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

    def chosen(self, hits: Reals, size: Counts) -> Flags:  # noqa: ARG002
        """Which words each model may use (models, words), given rows per class (models,
        classes).
        """
        return first(hits.sum(axis=1), self.top)

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


class OneSidedWords(FrequentWords):
    """Presence of the most one-sided words of the training rows: those at least RATIO times as
    frequent in one class as in the others together, and in at least SUPPORT of the rows of that
    class.

    Rows that hold none of them are answered at random, in the proportions of such rows in training:
    a word that gives away a tenth of one class must not look worthless because nothing is known of
    the other rows.
    """

    def __init__(self, presence: Sparse) -> None:
        super().__init__(presence, WIDESPREAD_WORDS)

    def answers(self, counts: Counts) -> Ints:
        chosen = self.chosen(self.held(counts), counts.sum(axis=1))
        holds = np.asarray(self.presence @ chosen.T.astype(np.float32)).T > 0
        silent = np.where(holds[:, :, None], 0, counts).sum(axis=1)
        ends = np.cumsum(silent / np.maximum(silent.sum(axis=1, keepdims=True), 1), axis=1)
        draws = np.random.default_rng(0).random(counts.shape[1])
        places = (
            draws + GOLDEN_STEP * np.arange(len(counts))[:, None]
        ) % 1  # other draws for each model
        drawn = (places[:, :, None] >= ends[:, None, :-1]).sum(axis=2)
        return np.where(holds, self._tree(counts, chosen), drawn)

    def columns(self, y: Ints, classes: int) -> Ints:
        """The words that all rows together would choose, the most widespread first."""
        counts = (y[:, None] == np.arange(classes)).astype(np.int32)[None]
        weights = self.held(counts)
        chosen = np.flatnonzero(self.chosen(weights, counts.sum(axis=1))[0])
        rate = (weights[0] / np.maximum(counts.sum(axis=1), 1)[0][:, None]).max(axis=0)
        return chosen[np.argsort(-rate[chosen], kind="stable")]

    def chosen(self, hits: Reals, size: Counts) -> Flags:
        one_sided, rate = widespread(hits, size)
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
        seen_values, new = (
            ((rows + share) / np.maximum(total, 1)).argmax(axis=-1)
            for rows, share, total in (
                (counts, usual[:, None], overall[:, None]),
                (once, usual, overall),
            )
        )
        new = np.where(once.any(axis=1), new, overall.argmax(axis=1))
        return np.asarray(np.where(met == 0, new[:, None], seen_values), dtype=np.int64)


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
