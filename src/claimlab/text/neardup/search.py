"""Texts in memory, from sketches to verified pairs. The steps are the same for texts on disk
(stream.py).

The public functions on texts in memory: pairs, clusters, and pairs across two lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.progress import progress
from claimlab.text.neardup.bands import BandPlan, choose
from claimlab.text.neardup.buckets import candidates, pack, sharing
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.fallback import NumpyCorpus, NumpyKernel
from claimlab.text.neardup.kernel import (
    LOW,
    SHIFT,
    U32,
    U64,
    Flags,
    Grams,
    Sketches,
    Unit,
    bitmap_lanes,
    distinct,
    ends,
)
from claimlab.text.neardup.results import Clusters, Found, Pairs, Rows, Skipped
from claimlab.text.neardup.workers import count_threads, pool

Texts = Sequence[str | None] | pl.Series
MAX_ROWS = (1 << 32) - 1
CODES_GATHERED = 1 << 24  # candidates to gather before repeats are thrown out


class NearKeywords(TypedDict, total=False):
    """What a search may be asked for: see `NearOptions`."""

    threshold: float
    ngram: int
    unit: Unit
    recall: float
    seed: int


class NearKeywordsInMemory(NearKeywords, total=False):
    threads: int | None


@dataclass(frozen=True)
class NearOptions:
    """How near is near: texts whose sets of n-grams (of characters or words) have a Jaccard
    similarity of at least `threshold`, of which `recall` are found. `threads` is null for as many
    as there are processors.
    """

    threshold: float = 0.7
    ngram: int = 5
    unit: Unit = "char"
    recall: float = 0.99
    threads: int | None = None
    seed: int = 0

    @property
    def grams(self) -> Grams:
        return Grams(self.ngram, self.unit)


@dataclass(frozen=True)
class SketchedTexts:
    """Texts sketched and ready to be matched."""

    kernel: NumpyKernel
    corpus: NumpyCorpus
    sketches: Sketches
    plan: BandPlan
    threads: int

    @classmethod
    def over(cls, texts: Texts, wish: NearOptions) -> SketchedTexts:
        total = len(texts)
        if total > MAX_ROWS:
            raise UsageError(f"{total} texts are more than can be compared at once.", "Split them.")
        plan = choose(wish.threshold, wish.recall, total)
        kernel, workers = load(), count_threads(wish.threads)
        corpus = kernel.corpus(as_list(texts), wish.grams, workers)
        lanes = bitmap_lanes(corpus.characters, total)
        sketches = corpus.sketch(plan, wish.seed, lanes)
        return cls(kernel, corpus, sketches, plan, workers)

    def near(self, rows: U32, left: Rows, right: Rows, second: Flags | None = None) -> Pairs:
        """The verified pairs among `rows`, and those of identical texts (`left`, `right`)."""
        gathered = []
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
            if size > CODES_GATHERED:
                gathered = [distinct(np.concatenate(gathered))]
                size = 0
            progress("match bands", band + 1, self.plan.bands)
        codes = distinct(np.concatenate(gathered))
        near = verified(self.corpus, codes, self.plan.threshold)
        return Pairs.of(self.plan, (left, right, np.ones(len(left))), near, skipped=skipped)

    def _packed(self, rows: U32) -> Iterator[U64]:
        """The rows of each band in turn; as many bands are sorted at a time as there are
        threads.
        """
        for begin in range(0, self.plan.bands, self.threads):
            bands = range(begin, min(begin + self.threads, self.plan.bands))
            yield from pool(self.threads).map(
                lambda band: pack(self.sketches.keys[band][rows], rows), bands
            )


def verified(corpus: NumpyCorpus, codes: U64, threshold: float) -> Found:
    """Left, right and exact Jaccard similarity of the candidates that reach the threshold."""
    both, either = corpus.verify(codes)
    jaccard = both / np.maximum(either, 1)
    keep = jaccard >= threshold
    return *ends(codes[keep]), jaccard[keep].astype(np.float32)


def first_of_same(hashes: U64, counts: U32, second: Flags | None = None) -> Rows:
    """For each row the first row with the same text (in the same list); -1 for an empty text."""
    first = np.arange(len(counts), dtype=np.int64)
    # few rows share even half a hash: only those are sorted with care
    rows = (
        sharing(pack((hashes[:, 0] >> SHIFT).astype(np.uint32), first.astype(np.uint32))) & LOW
    ).astype(np.int64)
    high, low = hashes[rows, 0], hashes[rows, 1]
    side = np.zeros(len(rows), bool) if second is None else second[rows]
    order = np.lexsort((rows, side, low, high))
    rows, high, low, side = rows[order], high[order], low[order], side[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1]) | (side[1:] != side[:-1])
    first[rows] = rows[np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), 0))]
    first[counts == 0] = -1
    return first


def rows_to_compare(first: Rows) -> U32:
    return np.flatnonzero(first == np.arange(len(first))).astype(np.uint32)


def further_copies(first: Rows) -> Rows:
    return np.flatnonzero((first >= 0) & (first != np.arange(len(first))))


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


def find_pairs(texts: Texts, **options: Unpack[NearKeywordsInMemory]) -> Pairs:
    """All pairs of texts whose sets of n-grams have a Jaccard similarity of at least `threshold`.

    Each pair that is at the threshold is found with probability `recall` or more; no pair below it
    is returned. Of k texts with the same normal form the first represents all: it is paired with
    each of the others (k - 1 pairs, not k(k - 1) / 2), and only it is compared with different
    texts. Empty and null texts have no near-duplicates.
    """
    search = SketchedTexts.over(texts, NearOptions(**options))
    first = first_of_same(search.sketches.hashes, search.sketches.counts)
    copies = further_copies(first)
    return search.near(rows_to_compare(first), first[copies], copies)


def find_clusters(texts: Texts, **options: Unpack[NearKeywordsInMemory]) -> Clusters:
    """`find_pairs`, and the clusters that chains of pairs make."""
    return Clusters.of(find_pairs(texts, **options), len(texts))


def find_across(texts_a: Texts, texts_b: Texts, **options: Unpack[NearKeywordsInMemory]) -> Pairs:
    """Pairs of a text in `texts_a` and a text in `texts_b`: is this test set in that training set?

    Of several same texts in one list the first is compared; each further copy of a text that has a
    partner is returned once, with the best partner of the first. So every row that has a
    near-duplicate on the other side is in the result, and identical texts do not multiply.
    """
    both = [*as_list(texts_a), *as_list(texts_b)]
    border = len(texts_a)
    search = SketchedTexts.over(both, NearOptions(**options))
    second: Flags = np.arange(len(both)) >= border
    first = first_of_same(search.sketches.hashes, search.sketches.counts, second)
    rows = rows_to_compare(first)
    near = search.near(rows, *_same_across(search.sketches.hashes, rows, second), second)
    return _with_copies(near, first, border)


def _same_across(hashes: U64, rows: U32, second: Flags) -> tuple[Rows, Rows]:
    """Identical texts of the two lists, first copies only."""
    a, b = rows[~second[rows]].astype(np.int64), rows[second[rows]].astype(np.int64)
    _, at_a, at_b = np.intersect1d(
        hashes[a, 0], hashes[b, 0], assume_unique=True, return_indices=True
    )
    left, right = a[at_a], b[at_b]
    same = hashes[left, 1] == hashes[right, 1]
    return left[same], right[same]


def _with_copies(near: Pairs, first: Rows, border: int) -> Pairs:
    """Give each further copy the best partner of its first, and count right rows from the second
    list's start.
    """
    parts: list[Found] = [(near.left, near.right, near.jaccard)]
    copies = further_copies(first)
    best = np.lexsort((near.right, near.left, -near.jaccard))
    for own, others in ((near.left, near.right), (near.right, near.left)):
        row, at = np.unique(own[best], return_index=True)
        partner, score = others[best][at], near.jaccard[best][at]
        place = np.searchsorted(row, first[copies])
        hit = place < len(row)
        hit[hit] = row[place[hit]] == first[copies][hit]
        copy, other, its = copies[hit], partner[place[hit]], score[place[hit]]
        parts.append((np.minimum(copy, other), np.maximum(copy, other), its))
    pairs = Pairs.of(near.plan, *parts, skipped=near.skipped)
    return replace(pairs, right=pairs.right - border)
