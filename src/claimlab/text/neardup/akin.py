"""Near-duplicates as Akin 0.1.0 counts them, so that figures published with it can be reached
again.

Akin cuts the raw text, not normalised, into runs of five characters, takes 100 minima of 128-bit
MurmurHash3 values and bands them by two. What it calls Jaccard is the share of the 50 bands that
agree, about the square of the Jaccard similarity: its 0.7 is a true similarity near 0.84, and
random around it. The randomness is in the 100 hash seeds, drawn from NumPy's legacy generator: with
the same `seed` this finds the same pairs as Akin; without one Akin's own result changes from run to
run.

This is for comparison with published work; `find_pairs` is what new work should use.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab.core.progress import progress
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.kernel import I64, SHIFT, U64, Flags, distinct, ends, mix, stirred
from claimlab.text.neardup.results import Clusters, Pairs, Skipped
from claimlab.text.neardup.search import Texts, as_list

PERMUTATIONS, BANDS = 100, 50
NGRAM = 5


def akin_clusters(texts: Texts, *, threshold: float = 0.7, seed: int = 3) -> Clusters:
    """Akin's near-duplicates at `min_jaccard=threshold` with 50 bands of 2 rows over 5-grams of
    characters.

    `pairs.jaccard` is Akin's: the share of bands that agree. Texts of fewer than five characters,
    which Akin refuses, have no near-duplicates here. Of texts with one signature the first
    represents all, as in `find_pairs`.
    """
    if not 1 <= seed < 1 << 32:
        raise UsageError(
            f"Akin draws at random for the seed {seed}.", "Give a whole number from 1 to 2^32 - 1."
        )
    plan = BandPlan(threshold, None, BANDS, PERMUTATIONS // BANDS, needed=_needed(threshold))
    rows, keys = _band_keys([text or "" for text in as_list(texts)], seed)
    first, same_as = _same_signature(keys)
    copies = np.flatnonzero(same_as != np.arange(len(rows)))
    left, right, share = _agreeing(keys[first], plan.needed)
    same = (rows[same_as[copies]], rows[copies], np.ones(len(copies)))
    near = (rows[first[left]], rows[first[right]], share)
    return Clusters.of(Pairs.of(plan, same, near, skipped=Skipped()), len(texts))


def _needed(threshold: float) -> int:
    """The least number of agreeing bands whose share Akin does not find too small."""
    if not 0 < threshold <= 1:
        raise UsageError(
            f"The threshold {threshold} is not a share of bands.", "Give one above 0, at most 1."
        )
    return next(n for n in range(1, BANDS + 1) if n / BANDS >= threshold)


def _band_keys(texts: list[str], seed: int) -> tuple[I64, U64]:
    """The rows that have a shingle, and for each the keys of its bands."""
    rows = np.flatnonzero([len(text) >= NGRAM for text in texts])
    shingles, starts, words, lengths = _shingles([texts[row] for row in rows.tolist()])
    keys = np.zeros((len(rows), BANDS), np.uint64)
    if len(rows) == 0:
        return rows, keys
    hash_seeds = np.random.RandomState(seed).randint(1, 100_000_000, size=PERMUTATIONS)
    for number, hash_seed in enumerate(hash_seeds.tolist()):
        # the upper half of the 128 bits decides which value is least; that two shingles tie in it
        # is not to be feared
        least = np.minimum.reduceat(murmur3_upper(words, lengths, hash_seed)[shingles], starts)
        band = number * BANDS // PERMUTATIONS
        keys[:, band] = mix(keys[:, band] ^ least)
        progress("hash shingles", number + 1, PERMUTATIONS)
    return rows, keys


def _shingles(texts: list[str]) -> tuple[I64, I64, U64, I64]:
    """Each text as numbers of its shingles, end to end, where each text begins, and the distinct
    shingles as bytes.
    """
    counts = np.array([len(text) - NGRAM + 1 for text in texts], np.int64)
    number: dict[str, int] = {}
    ids = [
        number.setdefault(text[i : i + NGRAM], len(number))
        for text in texts
        for i in range(len(text) - NGRAM + 1)
    ]
    encoded = [shingle.encode("utf-8", "surrogatepass") for shingle in number]
    padded = b"".join(data.ljust(32, b"\0") for data in encoded)
    lengths = np.array([len(data) for data in encoded], np.int64)
    return (
        np.array(ids, np.int64),
        np.cumsum(counts) - counts,
        np.frombuffer(padded, "<u8").reshape(-1, 4),
        lengths,
    )


def _same_signature(keys: U64) -> tuple[I64, I64]:
    """The first row of each distinct signature, in order, and for each row the first that equals
    it.
    """
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return np.sort(first), first[inverse.reshape(-1)]


def _agreeing(keys: U64, needed: int) -> tuple[I64, I64, NDArray[np.float64]]:
    """Pairs that agree in `needed` bands or more. Such a pair agrees in one of any BANDS - needed +
    1 bands.
    """
    pairs = [np.empty(0, np.uint64)]
    for band in range(BANDS - needed + 1):
        for codes in _sharing(keys[:, band]):
            pairs.append(codes[_agreements(keys, *ends(codes)) >= needed])
    left, right = ends(distinct(np.concatenate(pairs)))
    return left, right, _agreements(keys, left, right) / BANDS


def _agreements(keys: U64, left: I64, right: I64) -> I64:
    return np.array((keys[left] == keys[right]).sum(axis=1), np.int64)


def _sharing(keys: U64) -> Iterator[U64]:
    """Pairs of rows with one key: those one place apart in sorted order, then two, and so on."""
    order = np.argsort(keys, kind="stable").astype(np.uint64)
    ordered = keys[order.astype(np.int64)]
    place = np.arange(len(keys))
    for step in range(1, len(keys)):
        place = place[place + step < len(keys)]
        same: Flags = ordered[place] == ordered[place + step]
        place = place[same]
        if len(place) == 0:
            return
        yield (order[place] << SHIFT) | order[place + step]


def _turn(x: U64, left: int) -> U64:
    return (x << np.uint64(left)) | (x >> np.uint64(64 - left))


def murmur3_upper(words: U64, lengths: I64, seed: int) -> U64:
    """The upper 64 bits of the 128-bit MurmurHash3 (x64) of strings of up to 31 bytes, as rows of
    four 8-byte words.
    """
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = np.full(len(words), seed, dtype=np.uint64)
    h2 = h1.copy()

    def first(k: U64) -> U64:
        return _turn(k * c1, 31) * c2

    def second(k: U64) -> U64:
        return _turn(k * c2, 33) * c1

    long = lengths >= 16  # one whole block, then the tail
    b1 = (_turn(h1 ^ first(words[:, 0]), 27) + h2) * 5 + 0x52DCE729
    b2 = (_turn(h2 ^ second(words[:, 1]), 31) + b1) * 5 + 0x38495AB5
    h1, h2 = np.where(long, b1, h1), np.where(long, b2, h2)
    h1 = h1 ^ first(np.where(long, words[:, 2], words[:, 0]))
    h2 = h2 ^ second(np.where(long, words[:, 3], words[:, 1]))
    size = lengths.astype(np.uint64)
    h1, h2 = h1 ^ size, h2 ^ size
    h1 = h1 + h2
    h2 = h2 + h1
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):
        h1, h2 = stirred(h1, 33, factor), stirred(h2, 33, factor)
    return h1 + h2 + h2
