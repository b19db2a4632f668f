"""From band keys to candidate pairs, with a bound on their number.

Texts that agree in a band share a bucket. In a bucket of up to BUCKET_TEXTS texts every pair is a
candidate. A larger one (thousands of variants of one chain letter, or of posts that share little
but a link) would make millions of pairs, so there each text is compared with the first text of the
bucket and with its BUCKET_NEIGHBOURS neighbours, ordered by the key of the next band: the most
similar are adjacent, and a cluster stays whole. So no band makes more than BUCKET_TEXTS / 2
candidates a text. What is left out is counted.
"""

from __future__ import annotations

import numpy as np

from claimlab.text.neardup.fallback import NumpyKernel
from claimlab.text.neardup.kernel import LOW, SHIFT, U32, U64, Bitmaps, Flags, distinct, ends
from claimlab.text.neardup.results import Skipped

BUCKET_TEXTS = 256
BUCKET_NEIGHBOURS = 16


def pack(keys: U32, rows: U32) -> U64:
    """key << 32 | row, sorted: rows that share a key are adjacent. `keys` are in the order of
    `rows`.
    """
    packed: U64 = (keys.astype(np.uint64) << SHIFT) | rows
    packed.sort()
    return packed


def sharing(packed: U64) -> U64:
    """Of packed rows, those that share their key with another."""
    same = (packed[1:] >> SHIFT) == (packed[:-1] >> SHIFT)
    shared = np.zeros(len(packed), bool)
    shared[1:] = same
    shared[:-1] |= same
    return packed[shared]


def candidates(
    kernel: NumpyKernel,
    packed: U64,
    next_keys: U32,
    sketched: Bitmaps,
    threshold: float,
    threads: int,
    second: Flags | None = None,
) -> tuple[U64, Skipped]:
    """The candidates of one band, sifted, as left << 32 | right; and what the bound left out.

    `next_keys` are the keys of the next band, by row; `second` marks the rows of a second list, if
    only pairs across two lists count.
    """
    codes, large = kernel.match(packed, sketched, threshold, BUCKET_TEXTS, second, threads)
    parts, skipped = [codes], Skipped()
    for start, end in large.tolist():
        rows = packed[start:end] & LOW
        chosen = _of_large(rows, next_keys, second)
        skipped += Skipped(1, _possible(rows, second) - len(chosen))
        parts.append(kernel.sift(chosen, sketched, threshold, threads))
    return np.concatenate(parts), skipped


def _of_large(rows: U64, next_keys: U32, second: Flags | None) -> U64:
    order = rows[np.lexsort((rows, next_keys[rows.astype(np.int64)]))]
    codes = [_code(order[:-step], order[step:]) for step in range(1, BUCKET_NEIGHBOURS + 1)]
    codes += [_code(np.full(len(rows), leader), rows) for leader in _leaders(rows, second)]
    chosen: U64 = distinct(np.concatenate(codes))
    chosen = chosen[chosen >> SHIFT != chosen & LOW]
    if second is not None:
        left, right = ends(chosen)
        chosen = chosen[second[left] != second[right]]
    return chosen


def _leaders(rows: U64, second: Flags | None) -> list[np.uint64]:
    """The first row of the bucket; of two lists the first row of each, so that every row meets the
    other list.
    """
    if second is None:
        return [rows[0]]
    other = second[rows.astype(np.int64)]
    return [side[0] for side in (rows[~other], rows[other]) if len(side)]


def _possible(rows: U64, second: Flags | None) -> int:
    if second is None:
        return len(rows) * (len(rows) - 1) // 2
    other = int(second[rows.astype(np.int64)].sum())
    return other * (len(rows) - other)


def _code(a: U64, b: U64) -> U64:
    return (np.minimum(a, b) << SHIFT) | np.maximum(a, b)
