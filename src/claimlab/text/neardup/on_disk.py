"""Near-duplicates of more texts than memory holds: the same search as in search.py, in four stages
through files. Every stage (stream.py) is cut into shards that any engine may do, on one machine or
on many. How the work is cut depends on the input and on `memory` alone, so the result is that of
`find_clusters` on the same texts, whatever did the work and however often it was stopped.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from claimlab.core.engine.names import current
from claimlab.core.engine.reads import digest_of, digests_in, keep, reads
from claimlab.core.engine.run import run_stage
from claimlab.core.engine.stage import Work
from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.journal import Journal
from claimlab.core.machine import fitting_workers
from claimlab.core.progress import progress
from claimlab.core.tables import scan_parquet
from claimlab.core.types import JsonObject
from claimlab.text.neardup.bands import choose
from claimlab.text.neardup.folder import StreamFolder, StreamJob
from claimlab.text.neardup.kernel import SHIFT, U64, bitmap_lanes
from claimlab.text.neardup.results import Clusters, Pairs
from claimlab.text.neardup.search import MAX_ROWS, NearKeywords, NearOptions
from claimlab.text.neardup.stream import (
    CODE_COST,
    PACK_COST,
    TEXT_COST,
    match,
    same,
    sketch,
    verify,
)

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ROW_COST = 600  # bytes a text costs besides its characters while its sketch is made
HASH_COST = 80  # bytes a row costs while identical texts are looked for
LEAST_ROWS, MOST_ROWS = 1_000, 1 << 18  # of a shard
SHARDS_AT_ONCE = 4  # shards that fit `memory` together
ONE_PROCESS_ROWS = 500_000  # not worth more than one process


def stream_clusters(
    paths: str | Path | Sequence[str | Path],
    column: str,
    *,
    workdir: str | Path,
    memory: str | int = "8GB",
    keep: bool = False,
    engine: str | None = None,
    **options: Unpack[NearKeywords],
) -> Clusters:
    """Clusters of the texts in `column` of one Parquet file or several, whose rows count on from
    file to file.

    `memory` bounds what the work needs on one machine beyond the result. `workdir` needs about as
    much room as the texts and 280 bytes a row, and workers on other machines must see it; a job
    that was stopped goes on where it was if it is started again with the same arguments, and the
    folder is removed at the end unless `keep` is set.
    """
    budget = parse_memory(memory)
    source = ParquetTexts.open([paths] if isinstance(paths, str | Path) else paths, column)
    wish = NearOptions(**options)
    job = source.job(wish, max(budget // SHARDS_AT_ONCE, 1))
    folder = Journal(Path(workdir), {"source": source.identity(), **vars(job)}).folder
    assert folder is not None
    folder.mkdir(parents=True, exist_ok=True)
    shard = {"job": job.write(folder.absolute())}
    few = min(fitting_workers(job.share), SHARDS_AT_ONCE) if job.rows > ONE_PROCESS_ROWS else 1
    stage = partial(
        run_stage,
        folder=folder.absolute(),
        engine=engine or current().engine or f"local:{few}",
        memory=job.share,
    )
    store = StreamFolder(folder.absolute(), job, {})
    _run(store, shard, stage)
    copies, first = store.copies()
    same = (first, copies, np.ones(len(copies)))
    pairs = Pairs.of(job.plan, same, store.pairs(), skipped=store.skipped())
    clusters = Clusters.of(pairs, job.rows)
    if not keep:
        shutil.rmtree(folder)
        if not any(Path(workdir).iterdir()):
            Path(workdir).rmdir()
    return clusters


def _run(store: StreamFolder, shard: JsonObject, stage: Any) -> None:
    """All four stages; each starts when the one before is done."""
    job = store.job

    def run(work: Work, shards: Sequence[JsonObject], label: str = "") -> None:
        name = work.__name__
        common = {
            **shard,
            "done": keep(store.folder / "done", json.dumps(store.done).encode("utf-8"), "json"),
        }
        outputs = stage(
            work,
            [{**common, **own} for own in shards],
            name=name,
            progress=(lambda _, done, total: progress(label, done, total)) if label else None,
        )
        store.done[name] = {
            output.name: digests_in(output) if output.is_dir() else {"": digest_of(output)}
            for output in outputs
        }

    files = [reads(path) for path in job.paths]
    run(sketch, [{"rows": rows, "files": files} for rows in pairwise(job.cuts)], "sketch texts")
    run(same, [{"part": part} for part in _parts(job, HASH_COST)])
    parts = _parts(job, PACK_COST)
    run(
        match,
        [{"band": band, "part": part} for band in range(job.plan.bands) for part in parts],
        "match bands",
    )
    run(
        verify,
        [{"rows": rows} for rows in pairwise(_cuts(store.candidates(), job))],
        "verify pairs",
    )


def _parts(job: StreamJob, cost: int) -> list[list[int]]:
    """Part 0, 1, ... of so many parts that the rows of one fit in memory."""
    parts = max(1, min(-(-job.rows * cost // job.share), job.rows // LEAST_ROWS))
    return [[number, parts] for number in range(parts)]


def _cuts(stored: list[U64], job: StreamJob) -> list[int]:
    """Left rows between which the candidates fit in memory and are about equally many, from a
    sample of them.
    """
    total = sum(map(len, stored))
    parts = max(1, min(-(-total * CODE_COST // job.share), total // LEAST_ROWS), total // MOST_ROWS)
    if parts == 1:
        return [0, job.rows + 1]
    stride = max(1, total // (parts * 256))
    sample = np.sort(np.concatenate([codes[::stride] for codes in stored])) >> SHIFT
    inner = sample[np.linspace(0, len(sample) - 1, parts + 1).astype(int)[1:-1]].tolist()
    return sorted({0, *inner, job.rows + 1})


@dataclass(frozen=True)
class ParquetTexts:
    """Parquet files as one long column."""

    paths: tuple[Path, ...]
    column: str
    heights: tuple[int, ...]
    characters: int
    bytes: int

    @classmethod
    def open(cls, paths: Sequence[str | Path], column: str) -> ParquetTexts:
        files = tuple(Path(p) for p in paths)
        heights, characters, size = [], 0, 0
        for file in files:
            text = pl.col(column)
            try:
                scan = scan_parquet(file)
                if scan.collect_schema().get(column) != pl.String:
                    raise DataError(
                        f"'{file}' has no text column '{column}'.", "Name a column of strings."
                    )
                counts = scan.select(
                    pl.len(), text.str.len_chars().sum().alias("chars"), text.str.len_bytes().sum()
                )
                height, chars, width = counts.collect(engine="streaming").row(0)
            except (OSError, pl.exceptions.PolarsError) as error:
                raise UnreadableFile(
                    f"'{file}' cannot be read as Parquet: {error}.", "Check the path."
                ) from None
            heights.append(height)
            characters += chars
            size += width
        if sum(heights) > MAX_ROWS:
            raise UsageError(
                f"{sum(heights)} texts are more than can be compared at once.", "Split them."
            )
        return cls(files, column, tuple(heights), characters, size)

    def identity(self) -> list[list[object]]:
        """What must be unchanged for a stopped job to go on."""
        stats = [path.stat() for path in self.paths]
        return [
            [str(p), s.st_size, s.st_mtime_ns, self.column]
            for p, s in zip(self.paths, stats, strict=True)
        ]

    def job(self, wish: NearOptions, share: int) -> StreamJob:
        rows = sum(self.heights)
        cost = ROW_COST + TEXT_COST * self.bytes / max(rows, 1)
        step = int(min(max(share // cost, LEAST_ROWS), MOST_ROWS))
        return StreamJob(
            paths=tuple(str(path.absolute()) for path in self.paths),
            heights=self.heights,
            column=self.column,
            plan=choose(wish.threshold, wish.recall, rows),
            grams=wish.grams,
            seed=wish.seed,
            lanes=bitmap_lanes(self.characters, rows),
            cuts=(*range(0, max(rows, 1), step), rows),
            share=share,
        )


def needed(texts: pl.Series) -> int:
    """About how many bytes the search takes when it is done in memory."""
    return ROW_COST * len(texts) + TEXT_COST * int(texts.str.len_bytes().sum() or 0)


def parse_memory(memory: str | int) -> int:
    """Bytes, from a number or from words such as "8GB" or "500 MB"."""
    if isinstance(memory, int) and memory > 0:
        return memory
    words = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)i?b?", str(memory).lower().strip())
    try:
        size = int(float(words[1]) * _UNITS[words[2]]) if words else 0
    except ValueError:
        size = 0
    if size <= 0:
        raise UsageError(
            f"'{memory}' is not an amount of memory.",
            "Give a number of bytes, or words such as 8GB.",
        )
    return size
