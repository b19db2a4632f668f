"""Texts in memory, from sketches to verified pairs. The steps are the same for texts on disk
(stream.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.text.neardup.bands import Plan, choose
from claimlab.text.neardup.buckets import LOW, SHIFT, candidates, distinct, pack, sharing
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.kernel import (
    U32,
    U64,
    Corpus,
    Flags,
    Grams,
    Kernel,
    Sketches,
    bitmap_lanes,
)
from claimlab.text.neardup.results import Pairs, Rows, Skipped
from claimlab.text.neardup.workers import count_threads, pool

Texts = Sequence[str | None] | pl.Series
MAX_ROWS = (1 << 32) - 1
COMPACT = 1 << 24  # candidates to gather before repeats are thrown out


@dataclass(frozen=True)
class Near:
    """Pairs while they are being gathered."""

    left: Rows
    right: Rows
    jaccard: NDArray[np.float32]
    plan: Plan
    skipped: Skipped

    def with_exact(self, left: Rows, right: Rows) -> Pairs:
        """Add pairs of identical texts, drop duplicates, and sort."""
        one = np.ones(len(left), dtype=np.float32)
        return sorted_pairs(
            np.concatenate([left, self.left]),
            np.concatenate([right, self.right]),
            np.concatenate([one, self.jaccard]),
            self.plan,
            self.skipped,
        )


@dataclass(frozen=True)
class Search:
    """Texts sketched and ready to be matched."""

    kernel: Kernel
    corpus: Corpus
    sketches: Sketches
    plan: Plan
    threads: int
    progress: Progress

    @classmethod
    def over(
        cls,
        texts: Texts,
        grams: Grams,
        threshold: float,
        recall: float,
        threads: int | None,
        seed: int,
        progress: Progress,
    ) -> Search:
        total = len(texts)
        if total > MAX_ROWS:
            raise UsageError(f"{total} texts are more than can be compared at once.", "Split them.")
        plan = choose(threshold, recall, total)
        kernel, workers = load(), count_threads(threads)
        corpus = kernel.corpus(as_list(texts), grams, workers)
        sketches = corpus.sketch(plan, seed, bitmap_lanes(corpus.characters, total), progress)
        return cls(kernel, corpus, sketches, plan, workers, progress)

    def near(self, rows: U32, second: Flags | None = None) -> Near:
        """The verified pairs among `rows`, identical texts excepted where they were collapsed."""
        gathered: list[U64] = []
        skipped, size = Skipped(), 0
        for band, packed in enumerate(self._packed(rows)):
            next_keys = self.sketches.keys[(band + 1) % self.plan.bands]
            codes, left_out = candidates(
                self.kernel,
                packed,
                next_keys,
                self.sketches,
                self.plan.threshold,
                self.threads,
                second,
            )
            skipped += left_out
            gathered.append(codes)
            size += len(codes)
            if size > COMPACT:
                gathered = [distinct(np.concatenate(gathered))]
                size = 0
            self.progress("match bands", band + 1, self.plan.bands)
        codes = distinct(np.concatenate(gathered))
        left, right, jaccard = verified(self.corpus, codes, self.plan.threshold, self.progress)
        return Near(left, right, jaccard, self.plan, skipped)

    def _packed(self, rows: U32) -> Iterator[U64]:
        """The rows of each band in turn; as many bands are sorted at a time as there are
        threads.
        """
        for begin in range(0, self.plan.bands, self.threads):
            bands = range(begin, min(begin + self.threads, self.plan.bands))
            yield from pool(self.threads).map(
                lambda band: pack(self.sketches.keys[band][rows], rows), bands
            )


def verified(
    corpus: Corpus, codes: U64, threshold: float, progress: Progress = silent
) -> tuple[Rows, Rows, NDArray[np.float32]]:
    """Left, right and exact Jaccard similarity of the candidates that reach the threshold."""
    both, either = corpus.verify(codes, progress)
    jaccard = both / np.maximum(either, 1)
    keep = jaccard >= threshold
    codes = codes[keep]
    return (
        (codes >> SHIFT).astype(np.int64),
        (codes & LOW).astype(np.int64),
        jaccard[keep].astype(np.float32),
    )


def sorted_pairs(
    left: Rows,
    right: Rows,
    jaccard: NDArray[np.float32],
    plan: Plan,
    skipped: Skipped | None = None,
) -> Pairs:
    codes = (left.astype(np.uint64) << SHIFT) | right.astype(np.uint64)
    _, order = np.unique(codes, return_index=True)
    return Pairs(left[order], right[order], jaccard[order], plan, skipped or Skipped())


def first_of_same(hashes: U64, counts: U32, second: Flags | None = None) -> Rows:
    """For each row the first row with the same text (in the same list); -1 for an empty text."""
    first = np.arange(len(counts), dtype=np.int64)
    # few rows share even half a hash: only those are sorted with care
    rows = (
        sharing(pack((hashes[:, 0] >> SHIFT).astype(np.uint32), first.astype(np.uint32))) & LOW
    ).astype(np.int64)
    one, two = hashes[rows, 0], hashes[rows, 1]
    side = np.zeros(len(rows), dtype=bool) if second is None else second[rows]
    order = np.lexsort((rows, side, two, one))
    rows, one, two, side = rows[order], one[order], two[order], side[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (one[1:] != one[:-1]) | (two[1:] != two[:-1]) | (side[1:] != side[:-1])
    first[rows] = rows[np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), 0))]
    first[counts == 0] = -1
    return first


def rows_to_compare(first: Rows) -> U32:
    return np.flatnonzero(first == np.arange(len(first))).astype(np.uint32)


def as_list(texts: Texts) -> Sequence[str | None]:
    if isinstance(texts, str):
        raise UsageError(
            "One text alone was given where a list of texts is needed.", "Put it in a list."
        )
    if isinstance(texts, pl.Series):
        if texts.dtype != pl.String:
            raise UsageError(
                f"The column '{texts.name}' is {texts.dtype}, not text.",
                "Give a column of strings.",
            )
        return texts.to_list()
    for kind in set(map(type, texts)):
        if not issubclass(kind, str | None):
            row = next(row for row, text in enumerate(texts) if type(text) is kind)
            raise UsageError(
                f"Text {row} is of type '{kind.__name__}'.",
                "Give strings, and None where text is missing.",
            )
    return texts
