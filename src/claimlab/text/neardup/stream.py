"""The four stages of a streamed search, each on one shard: sketches, identical texts, candidates of
each band, verified pairs. They read and write one folder, which all workers see. A band is matched
alone, and a large one in parts of its keys, so that matching scales with the number of processes:
no worker waits for another, and only rows that share a key are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.digest import write_parquet
from claimlab.core.progress import reporting, silent
from claimlab.core.types import JsonObject
from claimlab.text.neardup.buckets import candidates, sharing
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.folder import PAIR_COLUMNS, StreamFolder
from claimlab.text.neardup.kernel import LOW, SHIFT, U32, U64, Bitmaps, Flags, distinct, ends
from claimlab.text.neardup.results import Found, Rows, Skipped
from claimlab.text.neardup.search import first_of_same, verified
from claimlab.text.neardup.workers import count_threads

PACK_COST = 40  # bytes a row costs while a band is sorted, besides the bitmaps of shared buckets
CODE_COST = 64  # bytes a candidate costs while it is verified, besides the texts
TEXT_COST = 4  # copies of its characters that a text costs while it is worked on


def sketch(shard: JsonObject, output: Path) -> None:
    """Sketch a range of rows."""
    job = StreamFolder.open(shard).job
    start, stop = shard["rows"]
    texts = job.texts(start, stop)
    corpus = load().corpus(texts.to_list(), job.grams, count_threads(None))
    with reporting(silent):
        sketches = corpus.sketch(job.plan, job.seed, job.lanes)
    output.mkdir()
    texts = texts.fill_null("")
    (output / "texts").write_bytes("".join(texts.to_list()).encode("utf-8"))
    np.cumsum(texts.str.len_bytes().to_numpy(), dtype=np.int64).tofile(output / "ends")
    for name in ("keys", "bits", "hashes", "counts"):
        getattr(sketches, name).tofile(output / name)


def same(shard: JsonObject, output: Path) -> None:
    """Find identical texts among those whose hash is in one part."""
    store = StreamFolder.open(shard)
    rows, hashes = [np.empty(0, np.int64)], [np.empty((0, 2), np.uint64)]
    for number, start, _ in store.ranges():
        hashes_here: U64 = store.array(number, "hashes")
        here = np.flatnonzero(
            (store.array(number, "counts") > 0)
            & _in_part(hashes_here[:, 0] >> SHIFT, shard["part"])
        )
        rows.append(here + start)
        hashes.append(hashes_here[here])
    row, both = np.concatenate(rows), np.concatenate(hashes)
    first = row[first_of_same(both, np.ones(len(row), np.uint32))]
    np.array([row[first != row], first[first != row]], np.uint32).tofile(output)


def match(shard: JsonObject, output: Path) -> None:
    """Find the candidates of one band whose keys are in one part."""
    store, band = StreamFolder.open(shard), shard["band"]
    shared = sharing(_packed(store, band, shard["part"], store.compared()))
    most = store.job.share // (PACK_COST + 8 * store.job.lanes)
    pairs, skipped = [np.empty(0, np.uint64)], Skipped()
    for buckets in _portions(shared, most):
        codes, left_out = _of_buckets(store, band, buckets)
        pairs.append(codes)
        skipped += left_out
    output.mkdir()
    distinct(np.concatenate(pairs)).tofile(output / "codes")
    (output / "skipped.json").write_text(
        json.dumps([skipped.buckets, skipped.comparisons]), encoding="utf-8"
    )


def _portions(packed: U64, most: int) -> Iterator[U64]:
    """Whole buckets, about `most` rows at a time."""
    start = 0
    while start < len(packed):
        last = packed[min(start + most, len(packed)) - 1]
        end = int(np.searchsorted(packed, last | LOW, side="right"))
        yield packed[start:end]
        start = end


def _of_buckets(store: StreamFolder, band: int, packed: U64) -> tuple[U64, Skipped]:
    job, kernel = store.job, load()
    rows = np.sort((packed & LOW).astype(np.int64))
    # the kernel sees these rows alone, numbered in their order
    places = np.searchsorted(rows, (packed & LOW).astype(np.int64)).astype(np.uint64)
    next_keys: U32 = store.gather("keys", rows, (band + 1) % job.plan.bands)
    bitmaps = Bitmaps(store.gather("bits", rows), store.gather("counts", rows))
    codes, skipped = candidates(
        kernel,
        (packed & ~LOW) | places,
        next_keys,
        bitmaps,
        job.plan.threshold,
        count_threads(None),
    )
    numbers = rows.astype(np.uint64)
    return (numbers[codes >> SHIFT] << SHIFT) | numbers[codes & LOW], skipped


def _packed(store: StreamFolder, band: int, part: list[int], compared: Flags) -> U64:
    """key << 32 | row of one band, sorted, as `pack` makes it."""
    parts = []
    for number, start, stop in store.ranges():
        keys: U32 = store.array(number, "keys")[band]
        rows = np.flatnonzero(compared[start:stop] & _in_part(keys, part))
        parts.append((keys[rows].astype(np.uint64) << SHIFT) | (rows + start).astype(np.uint64))
    packed: U64 = np.concatenate(parts)
    packed.sort()
    return packed


def _in_part(keys: U32 | U64, part: list[int]) -> Flags:
    """Whether 32-bit keys are in the part `number` of `parts`; equal keys are in one part."""
    number, parts = part
    if parts == 1:
        return np.ones(len(keys), bool)
    return np.asarray((keys.astype(np.uint64) * np.uint64(parts)) >> SHIFT == np.uint64(number))


def verify(shard: JsonObject, output: Path) -> None:
    """Verify the candidates whose left row is in one range, so many at a time as the texts fit."""
    store = StreamFolder.open(shard)
    low, high = (np.uint64(row) << SHIFT for row in shard["rows"])
    slices = [codes[slice(*np.searchsorted(codes, [low, high]))] for codes in store.candidates()]
    codes = distinct(np.concatenate([np.empty(0, np.uint64), *slices]))
    left, right = ends(codes)
    cost = np.cumsum(TEXT_COST * (store.sizes(left) + store.sizes(right)) + CODE_COST)
    portions = np.searchsorted(
        cost, np.arange(0, int(cost[-1]) if len(cost) else 0, store.job.share)
    )
    cuts = sorted({0, *portions.tolist(), len(codes)})
    near = [_verify(store, left[a:b], right[a:b]) for a, b in pairwise(cuts)]
    near = near or [(left, right, np.empty(0, np.float32))]
    columns = [np.concatenate(column) for column in zip(*near, strict=True)]
    write_parquet(pl.DataFrame(dict(zip(PAIR_COLUMNS, columns, strict=True))), output)


def _verify(store: StreamFolder, left: Rows, right: Rows) -> Found:
    rows = np.unique(np.concatenate([left, right]))
    corpus = load().corpus(store.texts(rows), store.job.grams, count_threads(None))
    a, b = (np.searchsorted(rows, side).astype(np.uint64) for side in (left, right))
    with reporting(silent):
        near_left, near_right, jaccard = verified(
            corpus, (a << SHIFT) | b, store.job.plan.threshold
        )
    return rows[near_left], rows[near_right], jaccard
