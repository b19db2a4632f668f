"""Near-duplicates of more texts than memory holds: the same search as in find.py, step by step through files.

Only a few numbers a row stay in memory (about 40 bytes); texts, band keys, bitmaps and candidates lie on disk and are
read in portions that fit the limit. The result is that of `find_clusters` on the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.text.neardup.bands import Plan, choose
from claimlab.text.neardup.buckets import LOW, SHIFT, candidates, distinct, pack
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.cluster import label
from claimlab.text.neardup.kernel import U32, U64, Grams, Kernel, Unit, bitmap_lanes
from claimlab.text.neardup.results import Clusters, Rows
from claimlab.text.neardup.search import MAX_ROWS, first_of_same, rows_to_compare, sorted_pairs, verified
from claimlab.text.neardup.spill import Spill
from claimlab.text.neardup.workers import count_threads

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ROW_COST = 600  # bytes a text costs besides its characters while its sketch is made
PACK_COST = 24  # bytes a row costs while a band is sorted
CODE_COST = 64  # bytes a candidate costs while it is verified, besides the texts
TEXT_COST = 4  # copies of its characters that a text costs while it is worked on


def stream_clusters(
    paths: str | Path | Sequence[str | Path],
    column: str,
    *,
    workdir: str | Path,
    memory: str | int = "8GB",
    threshold: float = 0.7,
    ngram: int = 5,
    unit: Unit = "char",
    recall: float = 0.99,
    threads: int | None = None,
    seed: int = 0,
    keep: bool = False,
    progress: Progress = silent,
) -> Clusters:
    """Clusters of the texts in `column` of one Parquet file or several, whose rows count on from file to file.

    `memory` bounds what the work needs beyond the result. `workdir` needs about as much room as the texts and 280
    bytes a row; a job that was stopped goes on where it was if it is started again with the same arguments, and the
    folder is removed at the end unless `keep` is set.
    """
    budget = parse_memory(memory)
    source = Source.open([paths] if isinstance(paths, str | Path) else paths, column)
    grams, plan = Grams(ngram, unit), choose(threshold, recall, source.rows)
    lanes = bitmap_lanes(source.characters, source.rows)
    settings = {**plan.as_dict(), **asdict(grams), "seed": seed, "lanes": lanes, "memory": budget}
    spill = Spill(Path(workdir), {"source": source.identity(), **settings}, source.rows, plan.bands, lanes)
    work = Job(source, spill, plan, grams, seed, budget, load(), count_threads(threads), progress)
    work.sketch()
    first = work.first_of_same()
    work.match(rows_to_compare(first))
    work.verify()
    clusters = work.clusters(first)
    if not keep:
        spill.remove()
    return clusters


@dataclass(frozen=True)
class Source:
    """Parquet files as one long column."""

    paths: tuple[Path, ...]
    column: str
    heights: tuple[int, ...]
    characters: int
    bytes: int

    @classmethod
    def open(cls, paths: Sequence[str | Path], column: str) -> Source:
        files = tuple(Path(p) for p in paths)
        heights, characters, size = [], 0, 0
        for file in files:
            text = pl.col(column)
            try:
                scan = pl.scan_parquet(file)
                if scan.collect_schema().get(column) != pl.String:
                    raise DataError(f"'{file}' has no text column '{column}'.", "Name a column of strings.")
                counts = scan.select(pl.len(), text.str.len_chars().sum().alias("chars"), text.str.len_bytes().sum())
                height, chars, width = counts.collect(engine="streaming").row(0)
            except (OSError, pl.exceptions.PolarsError) as error:
                raise UnreadableFile(f"'{file}' cannot be read as Parquet: {error}.", "Check the path.") from None
            heights.append(height)
            characters += chars
            size += width
        if sum(heights) > MAX_ROWS:
            raise UsageError(f"{sum(heights)} texts are more than can be compared at once.", "Split them.")
        return cls(files, column, tuple(heights), characters, size)

    @property
    def rows(self) -> int:
        return sum(self.heights)

    def identity(self) -> list[list[object]]:
        """What must be unchanged for a stopped job to go on."""
        stats = [path.stat() for path in self.paths]
        return [[str(p), s.st_size, s.st_mtime_ns, self.column] for p, s in zip(self.paths, stats, strict=True)]

    def read(self, start: int, portion: int) -> Iterator[pl.Series]:
        """The rows from `start` on, so many at a time."""
        before = 0
        for path, height in zip(self.paths, self.heights, strict=True):
            for offset in range(max(start - before, 0), height, portion):
                size = min(portion, height - offset)
                yield pl.scan_parquet(path).select(self.column).slice(offset, size).collect()[self.column]
            before += height


@dataclass(frozen=True)
class Job:
    source: Source
    spill: Spill
    plan: Plan
    grams: Grams
    seed: int
    budget: int
    kernel: Kernel
    threads: int
    progress: Progress

    def sketch(self) -> None:
        rows, done = self.source.rows, self.spill.sketched()
        cost = ROW_COST + TEXT_COST * self.source.bytes / max(rows, 1)
        for texts in self.source.read(done, portion(self.budget / 2, cost, 1 << 18)):
            corpus = self.kernel.corpus(texts.to_list(), self.grams, self.threads)
            self.spill.add(texts, corpus.sketch(self.plan, self.seed, self.spill.bits.shape[1], silent))
            done += len(texts)
            self.progress("sketch texts", done, rows)

    def first_of_same(self) -> Rows:
        """As first_of_same on all rows, by parts of the hashes."""
        first = np.arange(self.source.rows, dtype=np.int64)
        first[self.spill.counts == 0] = -1
        for rows in self._parts(self.spill.hashes[:, 0] >> SHIFT, np.arange(self.source.rows, dtype=np.uint32)):
            first[rows] = rows[first_of_same(self.spill.hashes[rows], self.spill.counts[rows])]
        first[self.spill.counts == 0] = -1
        return first

    def match(self, rows: U32) -> None:
        for band in range(self.plan.bands):
            keys, next_keys = self.spill.keys[band], self.spill.keys[(band + 1) % self.plan.bands]
            if all(self.spill.has_candidates(band, part) for part in range(self._count_parts(len(rows)))):
                continue
            for part, mine in enumerate(self._parts(keys[rows], rows)):
                codes, skipped = candidates(
                    self.kernel, pack(keys[mine], mine), next_keys, self.spill, self.plan.threshold, self.threads
                )
                self.spill.add_candidates(band, part, distinct(codes), skipped)
            self.progress("match bands", band + 1, self.plan.bands)

    def _count_parts(self, rows: int) -> int:
        return max(1, -(-rows * PACK_COST // max(self.budget // 2, 1)))

    def _parts(self, keys: U32 | U64, rows: U32) -> Iterator[U32]:
        """The rows in parts that can be sorted in memory; equal keys fall into one part."""
        parts = self._count_parts(len(rows))
        if parts == 1:
            yield rows
            return
        number = (keys.astype(np.uint64) * np.uint64(parts)) >> SHIFT
        for part in range(parts):
            yield rows[number == part]

    def verify(self) -> None:
        stored = self.spill.candidates()
        total, done = sum(map(len, stored)), 0
        for low, high in pairwise(self._cuts(stored, total)):
            path = self.spill.pairs_path(low, high - 1)
            bounds = [np.searchsorted(codes, np.array([low, high], np.uint64) << SHIFT) for codes in stored]
            done += sum(int(b - a) for a, b in bounds)
            if not path.exists():
                slices = [codes[a:b] for codes, (a, b) in zip(stored, bounds, strict=True)]
                self._verify_range(distinct(np.concatenate(slices)), path)
            self.progress("verify pairs", done, total)

    def _cuts(self, stored: list[U64], total: int) -> list[int]:
        """Left rows between which the candidates fit in memory, from a sample of them."""
        parts = max(1, -(-total * CODE_COST // max(self.budget // 2, 1)))
        if parts == 1 or total == 0:
            return [0, self.source.rows + 1] if total else [0]
        stride = max(1, total // (parts * 256))
        sample = np.sort(np.concatenate([codes[::stride] for codes in stored])) >> SHIFT
        inner = sample[np.linspace(0, len(sample) - 1, parts + 1).astype(int)[1:-1]].tolist()
        return sorted({0, *(int(row) for row in inner), self.source.rows + 1})

    def _verify_range(self, codes: U64, path: Path) -> None:
        left, right = (codes >> SHIFT).astype(np.int64), (codes & LOW).astype(np.int64)
        cost = np.cumsum(TEXT_COST * (self.spill.sizes(left) + self.spill.sizes(right)) + CODE_COST)
        portions = np.searchsorted(cost, np.arange(0, int(cost[-1]) if len(cost) else 0, max(self.budget // 2, 1)))
        cuts = sorted({0, *portions.tolist(), len(codes)})
        verified = [self._verify_portion(left[a:b], right[a:b]) for a, b in pairwise(cuts)]
        columns = (
            [np.concatenate(c) for c in zip(*verified, strict=True)] if verified else [left, right, np.empty(0, "f4")]
        )
        self.spill.add_pairs(path, *columns)

    def _verify_portion(self, left: Rows, right: Rows) -> tuple[Rows, Rows, NDArray[np.float32]]:
        rows = np.unique(np.concatenate([left, right]))
        corpus = self.kernel.corpus(self.spill.texts(rows), self.grams, self.threads)
        a, b = (np.searchsorted(rows, side).astype(np.uint64) for side in (left, right))
        codes = (a << SHIFT) | b
        near_left, near_right, jaccard = verified(corpus, codes, self.plan.threshold)
        return rows[near_left], rows[near_right], jaccard

    def clusters(self, first: Rows) -> Clusters:
        copies = np.flatnonzero((first >= 0) & (first != np.arange(len(first))))
        near = pl.concat(
            [
                pl.DataFrame({"left": first[copies], "right": copies, "jaccard": np.ones(len(copies), np.float32)}),
                *self.spill.pairs(),
            ]
        )
        left, right, jaccard = (near[c].to_numpy() for c in ("left", "right", "jaccard"))
        pairs = sorted_pairs(left, right, jaccard, self.plan, self.spill.skipped())
        return Clusters(label(pairs.left, pairs.right, self.source.rows), pairs)


def needed(texts: pl.Series) -> int:
    """About how many bytes the search takes when it is done in memory."""
    return ROW_COST * len(texts) + TEXT_COST * int(texts.str.len_bytes().sum() or 0)


def portion(budget: float, cost: float, most: int) -> int:
    """How many things of this cost fit the budget."""
    return int(min(max(budget // max(cost, 1), 1), most))


def parse_memory(memory: str | int) -> int:
    """Bytes, from a number or from words such as "8GB" or "500 MB"."""
    if isinstance(memory, int) and memory > 0:
        return memory
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    try:
        size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    except ValueError:
        size = 0
    if size <= 0:
        raise UsageError(f"'{memory}' is not an amount of memory.", "Give a number of bytes, or words such as 8GB.")
    return size
