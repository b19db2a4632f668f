"""The fast kernel: Python cuts the work into ranges, one thread each; the loops run in C without
the GIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from claimlab.core.progress import progress
from claimlab.text.neardup import _kernel
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.fallback import NumpyCorpus, NumpyKernel
from claimlab.text.neardup.kernel import I64, U32, U64, Bitmaps, Flags, Grams, Sketches, salts
from claimlab.text.neardup.normal import PAGE, TABLE_SIZE, folding_table, normalise
from claimlab.text.neardup.workers import ITEMS_PER_TASK, in_ranges


class CompiledCorpus(NumpyCorpus):
    def __init__(self, texts: Sequence[str | None], grams: Grams, threads: int) -> None:
        # a list of our own: the kernel reads the strings in place, and those it cannot fold are
        # replaced
        self._texts = ["" if text is None else text for text in texts]
        self._grams = grams
        self._threads = threads
        self._folded: NDArray[np.uint8] = np.zeros(len(self._texts), np.uint8)
        self._table = folding_table()
        self._table.fill([0])  # what ASCII needs
        self._fold_the_rest()

    def _fold_the_rest(self) -> None:
        """Fill the folding table as far as these texts need it, and fold in Python those that it
        cannot.
        """
        if self._scan():
            self._scan()
        flagged = np.flatnonzero(self._folded)
        words = self._grams.unit == "word"
        folded = [normalise(self._texts[row], words=words) for row in flagged.tolist()]
        for row, text in zip(flagged.tolist(), folded, strict=True):
            self._texts[row] = text
        if folded:  # the table must know their letters too, to tell words
            self._cover(
                _kernel.scan(folded, 0, len(folded), self._table.table, bytearray(len(folded)))
            )

    def _scan(self) -> bool:
        """Flag the texts that the table cannot fold; true if pages had to be filled, so that flags
        may be wrong.
        """
        needed = [bytes(TABLE_SIZE // PAGE)]

        def scan(start: int, stop: int) -> None:
            needed.append(_kernel.scan(self._texts, start, stop, self._table.table, self._folded))

        in_ranges(scan, len(self._texts), self._threads)
        return self._cover(*needed)

    def _cover(self, *needed: bytes) -> bool:
        pages = np.frombuffer(b"".join(needed), bool).reshape(len(needed), -1).any(axis=0)
        if pages.any():
            self._table.fill(np.flatnonzero(pages).tolist())
        return bool(pages.any())

    @property
    def characters(self) -> int:
        return sum(map(len, self._texts))

    def sketch(self, plan: BandPlan, seed: int, lanes: int) -> Sketches:
        total = len(self._texts)
        out = Sketches.of(total, plan.bands, lanes)
        salt = salts(seed, plan.bands * plan.rows)
        ngram, word = self._grams.ngram, self._grams.unit == "word"

        def sketch(start: int, stop: int) -> None:
            _kernel.sketch(
                self._texts,
                start,
                stop,
                self._folded,
                self._table.table,
                self._table.extra,
                ngram,
                word,
                salt,
                plan.bands,
                plan.rows,
                lanes,
                out.keys,
                out.bits,
                out.hashes,
                out.counts,
            )

        in_ranges(sketch, total, self._threads, lambda done: progress("sketch texts", done, total))
        return out

    def verify(self, codes: U64) -> tuple[U32, U32]:
        both, either = np.empty(len(codes), np.uint32), np.empty(len(codes), np.uint32)
        ngram, word = self._grams.ngram, self._grams.unit == "word"

        def verify(start: int, stop: int) -> None:
            part = slice(start, stop)
            _kernel.verify(
                self._texts,
                self._folded,
                self._table.table,
                self._table.extra,
                ngram,
                word,
                codes[part],
                both[part],
                either[part],
            )

        in_ranges(
            verify,
            len(codes),
            self._threads,
            lambda done: progress("verify pairs", done, len(codes)),
        )
        return both, either


class CompiledKernel(NumpyKernel):
    name = "compiled"

    def corpus(self, texts: Sequence[str | None], grams: Grams, threads: int) -> CompiledCorpus:
        return CompiledCorpus(texts, grams, threads)

    def match(
        self,
        packed: U64,
        sketched: Bitmaps,
        threshold: float,
        limit: int,
        second: Flags | None,
        threads: int,
    ) -> tuple[U64, I64]:
        share = (1 - threshold) / (1 + threshold)
        cuts = _between_keys(packed, 4 * threads if len(packed) > ITEMS_PER_TASK else 1)
        bits, counts = sketched.bits, sketched.counts
        parts = {}

        def match(at: int, _: int) -> None:
            start, stop = cuts[at]
            codes, large = _kernel.match(
                packed[start:stop], bits, bits.shape[1], counts, share, limit, second
            )
            places = np.frombuffer(large, np.int64).reshape(-1, 2) + start
            parts[at] = np.frombuffer(codes, np.uint64), places

        in_ranges(match, len(cuts), threads, share=1)
        codes, places = zip(*(parts[at] for at in range(len(cuts))), strict=True)
        return np.concatenate(codes), np.concatenate(places)

    def sift(self, codes: U64, sketched: Bitmaps, threshold: float, threads: int) -> U64:
        keep: NDArray[np.uint8] = np.empty(len(codes), np.uint8)
        share = (1 - threshold) / (1 + threshold)

        bits, counts = sketched.bits, sketched.counts

        def sift(start: int, stop: int) -> None:
            part = slice(start, stop)
            _kernel.sift(codes[part], bits, bits.shape[1], counts, share, keep[part])

        in_ranges(sift, len(codes), threads)
        pairs: U64 = codes[keep.view(bool)]
        return pairs


def _between_keys(packed: U64, parts: int) -> list[tuple[int, int]]:
    """At most `parts` ranges, none of which cuts a bucket in two."""
    bounds = [0]
    for part in range(1, parts):
        key = int(packed[len(packed) * part // parts]) >> 32
        bounds.append(int(np.searchsorted(packed, np.uint64(key << 32))))
    bounds = sorted({*bounds, len(packed)})
    return list(pairwise(bounds)) or [(0, 0)]
