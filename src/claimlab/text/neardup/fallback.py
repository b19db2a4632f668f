"""The same four loops as _kernel.c in NumPy, for machines without a compiler: same pairs, many
times slower.

Texts lie end to end in one array of code points; grams are computed for a block of texts at a time,
so that memory stays flat. A change of the arithmetic here must be made in the C file too; the tests
compare the two.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from claimlab.core.progress import progress
from claimlab.core.types import Sparse
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.kernel import (
    BASE,
    I64,
    LENGTH,
    LOW,
    ROUNDS,
    SHIFT,
    U32,
    U64,
    Bitmaps,
    Flags,
    Grams,
    Sketches,
    ends,
    mix,
    salts,
)
from claimlab.text.neardup.normal import brief_of, is_brief, is_word, normalise

BLOCK = 1 << 12  # texts a block
AT_ONCE = 1 << 16  # pairs sifted at a time
NONE = np.uint32(0xFFFFFFFF)
_ONES = np.array([i.bit_count() for i in range(256)], np.int64)  # bits set in a byte


class NumpyCorpus:
    def __init__(self, texts: Sequence[str | None], grams: Grams) -> None:
        words = grams.unit == "word"
        normal = [normalise(text, words=words) if text else "" for text in texts]
        self._codes = np.frombuffer(
            "".join(normal).encode("utf-32-le", "surrogatepass"), dtype="<u4"
        )
        self._starts = np.concatenate([[0], np.cumsum([len(t) for t in normal], dtype=np.int64)])
        self._grams = grams

    @property
    def characters(self) -> int:
        return len(self._codes)

    def grams(self, rows: Sequence[int] | I64 | range) -> tuple[U64, I64]:
        """The gram hashes of these texts end to end, repeats included, and where each text's
        begin.
        """
        rows = np.asarray(rows, np.int64)
        starts, lengths = self._starts[rows], self._starts[rows + 1] - self._starts[rows]
        places = _spread(starts, lengths)
        codes = self._codes[places].astype(np.uint64)
        if self._grams.unit == "word":
            codes, lengths = _words(codes, lengths)
            return _windows(codes, lengths, self._grams.ngram)
        return _windows(codes, lengths, self._grams.ngram, _widths(codes, self._grams.ngram))

    def sketch(self, plan: BandPlan, seed: int, lanes: int) -> Sketches:
        total = len(self._starts) - 1
        out = Sketches.of(total, plan.bands, lanes)
        salt = salts(seed, plan.bands * plan.rows)
        for start in range(0, total, BLOCK):
            block = slice(start, min(start + BLOCK, total))
            gram, offsets = self.grams(range(block.start, block.stop))
            counts = np.diff(offsets)
            owner = np.repeat(np.arange(len(counts)), counts)
            out.counts[block] = counts
            out.hashes[block] = _whole(gram, counts)
            out.bits[block] = _bitmaps(gram, owner, len(counts), lanes)
            slots = _fill_bins(gram, owner, len(counts), salt, plan.bands * plan.rows)
            keys = _band_keys(slots.reshape(len(counts), plan.bands, plan.rows))
            out.keys[:, block] = np.where(counts > 0, keys.T, 0)
            progress("sketch texts", block.stop, total)
        return out

    def verify(self, codes: U64) -> tuple[U32, U32]:
        """For pairs coded as left << 32 | right and sorted: the sizes of intersection and union of
        their gram sets.
        """
        both, either = np.empty(len(codes), np.uint32), np.empty(len(codes), np.uint32)
        for start in range(0, len(codes), BLOCK):
            block = slice(start, min(start + BLOCK, len(codes)))
            rows, places = np.unique(np.stack(ends(codes[block])), return_inverse=True)
            sets = self._sets(rows)
            left, right = (sets[side] for side in places.reshape(2, -1))
            both[block] = left.multiply(right).sum(axis=1)
            either[block] = left.sum(axis=1) + right.sum(axis=1) - both[block]
            progress("verify pairs", block.stop, len(codes))
        return both, either

    def _sets(self, rows: I64) -> Sparse:
        """The gram sets of these texts as the rows of a sparse matrix of ones."""
        sparse: Any = importlib.import_module(
            "scipy.sparse"
        )  # slow to import; the compiled kernel does without it

        gram, offsets = self.grams(rows)
        distinct, column = np.unique(gram, return_inverse=True)
        owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
        sets = sparse.csr_array(
            (np.ones(len(gram), np.int64), (owner, column)), shape=(len(rows), len(distinct))
        )
        sets.sum_duplicates()
        sets.data[:] = 1
        return sets


class NumpyKernel:
    name = "numpy"

    def corpus(self, texts: Sequence[str | None], grams: Grams, threads: int) -> NumpyCorpus:  # noqa: ARG002
        return NumpyCorpus(texts, grams)

    def match(
        self,
        packed: U64,
        sketched: Bitmaps,
        threshold: float,
        limit: int,
        second: Flags | None,
        threads: int,
    ) -> tuple[U64, I64]:
        """Pairs of rows that share a key and that the bitmaps do not prove to be below the
        threshold.

        `packed` holds key << 32 | row, sorted; pairs are coded as left << 32 | right. `second`
        marks the rows of a second list: then only pairs across the two count. Buckets of more than
        `limit` rows are left alone and returned as (start, end) places in `packed`.
        """
        _, starts, sizes = np.unique(packed >> SHIFT, return_index=True, return_counts=True)
        large, small = sizes > limit, (sizes > 1) & (sizes <= limit)
        codes = [np.empty(0, np.uint64)]
        for pairs in _all_pairs(packed & LOW, starts[small], sizes[small]):
            if second is not None:
                a, b = ends(pairs)
                pairs = pairs[second[a] != second[b]]
            codes.append(self.sift(pairs, sketched, threshold, threads))
        places = np.stack([starts[large], starts[large] + sizes[large]], axis=1)
        return np.concatenate(codes), places

    def sift(self, codes: U64, sketched: Bitmaps, threshold: float, threads: int) -> U64:  # noqa: ARG002
        """Of these pairs, those that the bitmaps do not prove to be below the threshold."""
        bits, counts = sketched.bits, sketched.counts
        pairs = [np.empty(0, np.uint64)]
        for start in range(0, len(codes), AT_ONCE):
            part = codes[start : start + AT_ONCE]
            a, b = ends(part)
            most = (1 - threshold) / (1 + threshold) * (
                counts[a].astype(np.float64) + counts[b]
            ) + 1e-6
            pairs.append(part[_ONES[(bits[a] ^ bits[b]).view(np.uint8)].sum(axis=1) <= most])
        return np.concatenate(pairs)


def _all_pairs(rows: U64, starts: I64, sizes: I64) -> Iterator[U64]:
    """Each row of a bucket with each later one: all pairs one place apart, then two, and so on."""
    ends = np.repeat(starts + sizes, sizes)
    place = _spread(starts, sizes)
    for step in range(1, int(sizes.max(initial=0))):
        inside = place + step < ends
        place, ends = place[inside], ends[inside]
        yield (rows[place] << SHIFT) | rows[place + step]


def _spread(starts: I64, lengths: I64) -> I64:
    """start, start + 1, ... for each start, as many as its length, concatenated."""
    ends = np.cumsum(lengths)
    spread: I64 = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
        starts - (ends - lengths), lengths
    )
    return spread


def _polynomials(values: U64, lengths: I64) -> U64:
    """For each stretch of values v0 .. vk: v0 * BASE^k + ... + vk; 0 for an empty one."""
    out = np.zeros(len(lengths), np.uint64)
    some = lengths > 0
    if some.any():
        ends = np.cumsum(lengths)
        exponent = np.repeat(ends, lengths) - 1 - np.arange(len(values))
        powers = np.full(int(lengths.max()), BASE)
        powers[0] = 1
        terms = values * np.multiply.accumulate(powers)[exponent]
        out[some] = np.add.reduceat(terms, (ends - lengths)[some])
    return out


def _widths(codes: U64, n: int) -> I64 | None:
    """How long the window is that begins with each character; null where all have `n`."""
    letters, which = np.unique(codes, return_inverse=True)
    brief = np.array([is_brief(chr(c)) for c in letters.tolist()], bool)
    if not brief.any():
        return None
    return np.where(brief, brief_of(n), n)[which]


def _windows(values: U64, lengths: I64, n: int, widths: I64 | None = None) -> tuple[U64, I64]:
    """The hashes of the windows of each stretch, `n` values or `widths` long; a stretch in which
    none has room is one window, an empty one none.
    """
    wanted = np.full(len(values), n, np.int64) if widths is None else widths
    owner = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    fits = np.arange(len(values)) + wanted <= np.repeat(starts + lengths, lengths)
    counts = np.bincount(owner[fits], minlength=len(lengths)).astype(np.int64)
    whole = (counts == 0) & (lengths > 0)
    fits[starts[whole]] = True
    counts[whole] = 1
    firsts = np.flatnonzero(fits)
    wide = np.minimum(wanted[firsts], np.repeat(lengths, counts))
    p = np.zeros(len(firsts), np.uint64)
    for k in range(int(wide.max(initial=0))):
        inside = wide > k
        p[inside] = p[inside] * BASE + values[firsts[inside] + k]
    return mix(p + wide.astype(np.uint64) * LENGTH), np.concatenate([[0], np.cumsum(counts)])


def _words(codes: U64, lengths: I64) -> tuple[U64, I64]:
    """The hashes of the words of all texts end to end, and how many each text has."""
    letters, which = np.unique(codes, return_inverse=True)
    word = np.array([is_word(chr(c)) for c in letters.tolist()], bool)[which]
    owner = np.repeat(np.arange(len(lengths)), lengths)
    wordless = np.bincount(owner[word], minlength=len(lengths)) == 0
    word |= wordless[owner]  # nothing but signs: the text is its one word
    opens = word.copy()
    opens[1:] &= ~word[:-1]
    first = (np.cumsum(lengths) - lengths)[lengths > 0]
    opens[first] = word[first]  # a word does not run on into the next text
    sizes = np.bincount((np.cumsum(opens) - 1)[word], minlength=int(opens.sum())).astype(np.int64)
    tokens = mix(_polynomials(codes[word], sizes) + sizes.astype(np.uint64) * LENGTH)
    return tokens, np.bincount(owner[opens], minlength=len(lengths)).astype(np.int64)


def _whole(gram: U64, counts: I64) -> U64:
    """Two sums over the grams of each text, each gram times an odd number that depends on its
    position.
    """
    out = np.zeros((len(counts), 2), np.uint64)
    some = counts > 0
    if some.any():
        starts = np.cumsum(counts) - counts
        place = (np.arange(len(gram)) - np.repeat(starts, counts)).astype(np.uint64) * np.uint64(
            2
        ) + 1
        turned = (gram << 32) | (gram >> 32)
        out[some, 0] = np.add.reduceat(gram * place, starts[some])
        out[some, 1] = np.add.reduceat(turned * place, starts[some])
    return out


def _bitmaps(gram: U64, owner: I64, texts: int, lanes: int) -> U64:
    bits = np.zeros((texts, lanes), np.uint64)
    bit = gram & lanes * 64 - 1
    place = owner * lanes + (bit >> 6).astype(np.int64)
    np.bitwise_or.at(bits.reshape(-1), place, 1 << (bit & 63))
    return bits


def _fill_bins(gram: U64, owner: I64, texts: int, salt: U64, bins: int) -> U32:
    """See fill_bins in the C file."""
    slots = np.full((texts, bins), NONE)
    for r in range(ROUNDS):
        x = (gram ^ salt[r, 0]) * salt[r, 1]
        thrown = np.concatenate([x >> 32, x & 0xFFFFFFFF])
        place = np.tile(owner * bins, 2) + ((thrown * bins) >> 32).astype(np.int64)
        empty = slots.reshape(-1)[place] == NONE
        np.minimum.at(slots.reshape(-1), place[empty], thrown[empty].astype(np.uint32))
        unready = (slots == NONE).any(axis=1)[owner]
        gram, owner = gram[unready], owner[unready]
    for b in range(bins):
        empty = slots[owner, b] == NONE
        x = ((gram[empty] ^ salt[ROUNDS + b, 0]) * salt[ROUNDS + b, 1]) >> 32
        np.minimum.at(slots[:, b], owner[empty], x.astype(np.uint32))
    return slots


def _band_keys(slots: U32) -> U32:
    texts, bands, rows = slots.shape
    key = np.tile(np.arange(bands, dtype=np.uint64), (texts, 1))
    for r in range(rows):
        key = (key ^ slots[:, :, r]) * BASE
        key ^= key >> 32
    return (mix(key) >> 32).astype(np.uint32)
