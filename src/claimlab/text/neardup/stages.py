"""The four stages of a streamed search, each on one shard. They read and write one folder, which
all workers see.

A band is matched alone, and a large one in parts of its keys, so that matching scales with the
number of processes: no worker waits for another, and only rows that share a key are looked at.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.digest import write_parquet
from claimlab.core.progress import silent
from claimlab.text.neardup.buckets import LOW, SHIFT, candidates, distinct, sharing
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.kernel import U32, U64, Flags
from claimlab.text.neardup.results import Rows
from claimlab.text.neardup.search import first_of_same, verified
from claimlab.text.neardup.store import Bits, Store, write_sketches
from claimlab.text.neardup.workers import count_threads

CODE_COST = 64  # bytes a candidate costs while it is verified, besides the texts
TEXT_COST = 4  # copies of its characters that a text costs while it is worked on


def sketch(shard: Any, output: Path) -> None:
    """Sketch a range of rows."""
    job = Store.open(shard).job
    start, stop = shard["rows"]
    texts = job.texts(start, stop)
    corpus = load().corpus(texts.to_list(), job.grams, count_threads(None))
    write_sketches(output, texts, corpus.sketch(job.plan, job.seed, job.lanes, silent))


def same(shard: Any, output: Path) -> None:
    """Find identical texts among those whose hash is in one part."""
    store = Store.open(shard)
    rows, hashes = [np.empty(0, np.int64)], [np.empty((0, 2), np.uint64)]
    for number, start, _ in store.ranges():
        mine: U64 = store.array(number, "hashes")
        here = np.flatnonzero(
            (store.array(number, "counts") > 0) & _in_part(mine[:, 0] >> SHIFT, shard["part"])
        )
        rows.append(here + start)
        hashes.append(mine[here])
    row, both = np.concatenate(rows), np.concatenate(hashes)
    first = row[first_of_same(both, np.ones(len(row), np.uint32))]
    np.array([row[first != row], first[first != row]], dtype=np.uint32).tofile(output)


def match(shard: Any, output: Path) -> None:
    """Find the candidates of one band whose keys are in one part."""
    store, band = Store.open(shard), shard["band"]
    job, kernel = store.job, load()
    shared = sharing(_packed(store, band, shard["part"], store.compared()))
    rows = np.sort((shared & LOW).astype(np.int64))
    # the kernel sees these rows alone, numbered in their order
    packed: U64 = (shared & ~LOW) | np.searchsorted(rows, (shared & LOW).astype(np.int64)).astype(
        np.uint64
    )
    next_keys: U32 = store.gather("keys", rows, (band + 1) % job.plan.bands)
    bitmaps = Bits(store.gather("bits", rows), store.gather("counts", rows))
    codes, skipped = candidates(
        kernel, packed, next_keys, bitmaps, job.plan.threshold, count_threads(None)
    )
    numbers = rows.astype(np.uint64)
    output.mkdir()
    distinct((numbers[codes >> SHIFT] << SHIFT) | numbers[codes & LOW]).tofile(output / "codes")
    (output / "skipped.json").write_text(
        json.dumps([skipped.buckets, skipped.comparisons]), encoding="utf-8"
    )


def _packed(store: Store, band: int, part: list[int], compared: Flags) -> U64:
    """key << 32 | row of one band, sorted, as `pack` makes it."""
    parts = []
    for number, start, stop in store.ranges():
        keys: U32 = store.array(number, "keys")[band]
        mine = np.flatnonzero(compared[start:stop] & _in_part(keys, part))
        parts.append((keys[mine].astype(np.uint64) << SHIFT) | (mine + start).astype(np.uint64))
    packed: U64 = np.concatenate(parts)
    packed.sort()
    return packed


def _in_part(keys: U32 | U64, part: list[int]) -> Flags:
    """Whether 32-bit keys are in the part `number` of `parts`; equal keys are in one part."""
    number, parts = part
    if parts == 1:
        return np.ones(len(keys), dtype=bool)
    return np.asarray((keys.astype(np.uint64) * np.uint64(parts)) >> SHIFT == np.uint64(number))


def verify(shard: Any, output: Path) -> None:
    """Verify the candidates whose left row is in one range, so many at a time as the texts fit."""
    store = Store.open(shard)
    low, high = (np.uint64(row) << SHIFT for row in shard["rows"])
    slices = [codes[slice(*np.searchsorted(codes, [low, high]))] for codes in store.candidates()]
    codes = distinct(np.concatenate([np.empty(0, np.uint64), *slices]))
    left, right = (codes >> SHIFT).astype(np.int64), (codes & LOW).astype(np.int64)
    cost = np.cumsum(TEXT_COST * (store.sizes(left) + store.sizes(right)) + CODE_COST)
    portions = np.searchsorted(
        cost, np.arange(0, int(cost[-1]) if len(cost) else 0, store.job.share)
    )
    cuts = sorted({0, *portions.tolist(), len(codes)})
    near = [_verify(store, left[a:b], right[a:b]) for a, b in pairwise(cuts)]
    near = near or [(left, right, np.empty(0, np.float32))]
    columns = [np.concatenate(column) for column in zip(*near, strict=True)]
    write_parquet(
        pl.DataFrame(dict(zip(("left", "right", "jaccard"), columns, strict=True))), output
    )


def _verify(store: Store, left: Rows, right: Rows) -> tuple[Rows, Rows, NDArray[np.float32]]:
    rows = np.unique(np.concatenate([left, right]))
    corpus = load().corpus(store.texts(rows), store.job.grams, count_threads(None))
    a, b = (np.searchsorted(rows, side).astype(np.uint64) for side in (left, right))
    near_left, near_right, jaccard = verified(corpus, (a << SHIFT) | b, store.job.plan.threshold)
    return rows[near_left], rows[near_right], jaccard
