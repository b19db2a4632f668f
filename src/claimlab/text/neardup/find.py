"""The public functions on texts in memory: pairs, clusters, and pairs across two lists."""

from __future__ import annotations

import numpy as np

from claimlab.core.progress import Progress, silent
from claimlab.text.neardup.cluster import label
from claimlab.text.neardup.kernel import U32, U64, Flags, Grams, Unit
from claimlab.text.neardup.results import Clusters, Pairs, Rows
from claimlab.text.neardup.search import (
    Search,
    Texts,
    as_list,
    first_of_same,
    rows_to_compare,
    sorted_pairs,
)


def find_pairs(
    texts: Texts,
    *,
    threshold: float = 0.7,
    ngram: int = 5,
    unit: Unit = "char",
    recall: float = 0.99,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Pairs:
    """All pairs of texts whose sets of n-grams have a Jaccard similarity of at least `threshold`.

    Each pair that is at the threshold is found with probability `recall` or more; no pair below it
    is returned. Of k texts with the same normal form the first represents all: it is paired with
    each of the others (k - 1 pairs, not k(k - 1) / 2), and only it is compared with different
    texts. Empty and null texts have no near-duplicates.
    """
    search = Search.over(texts, Grams(ngram, unit), threshold, recall, threads, seed, progress)
    first = first_of_same(search.sketches.hashes, search.sketches.counts)
    copies = np.flatnonzero((first >= 0) & (first != np.arange(len(first))))
    near = search.near(rows_to_compare(first))
    return near.with_exact(first[copies], copies)


def find_clusters(
    texts: Texts,
    *,
    threshold: float = 0.7,
    ngram: int = 5,
    unit: Unit = "char",
    recall: float = 0.99,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Clusters:
    """`find_pairs`, and the clusters that chains of pairs make."""
    pairs = find_pairs(
        texts,
        threshold=threshold,
        ngram=ngram,
        unit=unit,
        recall=recall,
        threads=threads,
        seed=seed,
        progress=progress,
    )
    return Clusters(label(pairs.left, pairs.right, len(texts)), pairs)


def find_across(
    texts_a: Texts,
    texts_b: Texts,
    *,
    threshold: float = 0.7,
    ngram: int = 5,
    unit: Unit = "char",
    recall: float = 0.99,
    threads: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Pairs:
    """Pairs of a text in `texts_a` and a text in `texts_b`: is this test set in that training set?

    Of several same texts in one list the first is compared; each further copy of a text that has a
    partner is returned once, with the best partner of the first. So every row that has a
    near-duplicate on the other side is in the result, and identical texts do not multiply.
    """
    both = [*as_list(texts_a), *as_list(texts_b)]
    border = len(texts_a)
    search = Search.over(both, Grams(ngram, unit), threshold, recall, threads, seed, progress)
    second: Flags = np.arange(len(both)) >= border
    first = first_of_same(search.sketches.hashes, search.sketches.counts, second)
    rows = rows_to_compare(first)
    near = search.near(rows, second).with_exact(*_same_across(search.sketches.hashes, rows, second))
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
    left, right, jaccard = [near.left], [near.right], [near.jaccard]
    copies = np.flatnonzero((first >= 0) & (first != np.arange(len(first))))
    best = np.lexsort((near.right, near.left, -near.jaccard))
    for mine, theirs in ((near.left, near.right), (near.right, near.left)):
        row, at = np.unique(mine[best], return_index=True)
        partner, score = theirs[best][at], near.jaccard[best][at]
        place = np.searchsorted(row, first[copies])
        hit = place < len(row)
        hit[hit] = row[place[hit]] == first[copies][hit]
        copy, other, its = copies[hit], partner[place[hit]], score[place[hit]]
        left.append(np.minimum(copy, other))
        right.append(np.maximum(copy, other))
        jaccard.append(its)
    pairs = sorted_pairs(
        np.concatenate(left),
        np.concatenate(right),
        np.concatenate(jaccard),
        near.plan,
        near.skipped,
    )
    return Pairs(pairs.left, pairs.right - border, pairs.jaccard, pairs.plan, pairs.skipped)
