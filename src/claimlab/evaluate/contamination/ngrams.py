"""Which word n-grams of the test texts occur in a corpus, with memory for the test texts and one
batch only.

A word is what `text/tokens` calls one, lower-cased: by Unicode's rules, and by ICU's dictionaries
in scripts without spaces. An n-gram is known by a 64-bit number; two different ones share it by
chance once in 10^19.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.scores import Ints

Hashes = npt.NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost in the product


class Grams:
    """The distinct n-grams of the test texts, numbered in the order of their first occurrence."""

    def __init__(self, words: pl.Series, n: int) -> None:
        hashes, self.row = gram_hashes(words, n)
        self.n, self.rows = n, len(words)
        self._known, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        self._number = np.empty(len(first), dtype=np.int64)
        self._number[np.argsort(first, kind="stable")] = np.arange(len(first))
        self.gram: Ints = self._number[inverse] if len(first) else np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known)

    def among(self, hashes: Hashes) -> Ints:
        """The numbers of those that are among `hashes`."""
        if not len(self) or not len(hashes):
            return np.empty(0, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._known, hashes), len(self) - 1)
        return np.unique(self._number[place[self._known[place] == hashes]])

    def counts(self) -> Ints:
        """How many n-grams each text has."""
        return np.bincount(self.row, minlength=self.rows)

    def matches(self, numbers: Sequence[int] | Ints) -> Ints:
        """How many n-grams of each text are among `numbers`."""
        seen = np.zeros(len(self), dtype=bool)
        seen[np.asarray(numbers, dtype=np.int64)] = True
        return np.bincount(self.row[seen[self.gram]], minlength=self.rows)


def gram_hashes(words: pl.Series, n: int) -> tuple[Hashes, Ints]:
    """A number for every run of `n` words, and the row that it is in; `words` are lists of
    words.
    """
    lengths = words.list.len().fill_null(0).to_numpy().astype(np.int64)
    long = lengths >= n
    if not long.any():
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    marks = words.filter(pl.Series(long)).explode().hash(seed=0).to_numpy()
    lengths, rows = lengths[long], np.flatnonzero(long)
    total = np.zeros(len(marks) - n + 1, dtype=np.uint64)
    for k in range(n):
        total = total * _FACTOR + marks[k : len(marks) - n + 1 + k]
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(
        len(marks)
    )  # words from here to the end of the text
    starts = np.flatnonzero(left >= n)
    return total[starts], np.repeat(rows, lengths)[starts]
