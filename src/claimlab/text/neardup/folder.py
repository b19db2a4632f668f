"""The folder that all stages of a streamed search share: its job, and what each stage left there,
read as if it were in memory.

    job.json            the parameters and inputs
    done/DIGEST.json    what each finished stage wrote, by digest: written by the run, for the
                        workers of later stages
    sketch/outputs/N    a folder for each range of rows: keys, bits, hashes, counts, ends, texts
    same/outputs/N      for a part of the hashes: the rows that are copies, and the first row with
                        their text
    match/outputs/N     for a band and a part of its keys: a sorted array of candidate pairs, and
                        what was skipped
    verify/outputs/N    for a range of left rows: the verified pairs

All arrays are flat binary files, mapped or read in portions: a worker needs the rows it works on
and a few numbers a row, never the whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.atomic import atomic_text
from claimlab.core.engine.reads import check, reads
from claimlab.core.tables import read_parquet, scan_parquet
from claimlab.core.types import Json, JsonObject
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.kernel import U64, Flags, Grams
from claimlab.text.neardup.results import Found, Rows, Skipped

JOB_FILE = "job.json"
PAIR_COLUMNS = ("left", "right", "jaccard")  # of a verified pair
ARRAY_TYPES: dict[str, type[np.generic]] = {
    "keys": np.uint32,
    "bits": np.uint64,
    "hashes": np.uint64,
    "counts": np.uint32,
    "ends": np.int64,
}


@dataclass(frozen=True)
class StreamJob:
    """Everything that decides the result, and how the work is cut: the same whatever does the
    work.
    """

    paths: tuple[str, ...]
    heights: tuple[int, ...]
    column: str
    plan: BandPlan
    grams: Grams
    seed: int
    lanes: int
    cuts: tuple[int, ...]  # rows between which a range of texts is sketched
    share: int  # bytes that one shard may need

    @property
    def rows(self) -> int:
        return sum(self.heights)

    def write(self, folder: Path) -> dict[str, str]:
        """As part of a shard."""
        plan, grams = vars(self.plan), vars(self.grams)
        text = json.dumps({**vars(self), "plan": plan, "grams": grams})
        atomic_text(folder / JOB_FILE, text)
        return reads(folder / JOB_FILE, hashlib.sha256(text.encode("utf-8")).hexdigest())

    @classmethod
    def read(cls, folder: Path) -> StreamJob:
        content: JsonObject = json.loads((folder / JOB_FILE).read_bytes())
        tuples = {name: tuple(content[name]) for name in ("paths", "heights", "cuts")}
        parts = {"plan": BandPlan(**content["plan"]), "grams": Grams(**content["grams"])}
        return cls(**{**content, **tuples, **parts})

    def texts(self, start: int, stop: int) -> pl.Series:
        """The rows from `start` to `stop`, counted on from file to file."""
        before, parts = 0, []
        for path, height in zip(self.paths, self.heights, strict=True):
            low, high = max(start - before, 0), min(stop - before, height)
            if low < high:
                parts.append(
                    scan_parquet(path)
                    .select(self.column)
                    .slice(low, high - low)
                    .collect()[self.column]
                )
            before += height
        return pl.concat(parts) if parts else pl.Series(self.column, [], dtype=pl.String)


@dataclass(frozen=True)
class StreamFolder:
    """The sketches of all ranges as one long table."""

    folder: Path  # of the run
    job: StreamJob
    # of each stage that is done: its outputs, in order, and the digests of their files
    done: dict[str, dict[str, dict[str, str]]]

    @classmethod
    def open(cls, shard: Mapping[str, Json]) -> StreamFolder:
        """As a worker sees it. What a shard names was checked: the job, and which outputs it may
        believe.
        """
        folder = Path(shard["job"]).parent
        return cls(folder, StreamJob.read(folder), json.loads(Path(shard["done"]).read_bytes()))

    def outputs(self, stage: str, name: str = "") -> list[Path]:
        """The files of this name that a stage wrote (its outputs themselves, where they are files),
        which still are as they were written. Others are not read to see that.
        """
        place = self.folder / stage / "outputs"
        return [
            check(place / output / name, digests[name])
            for output, digests in self.done[stage].items()
        ]

    @cached_property
    def _files(self) -> dict[str, list[Path]]:
        return {}

    def _sketched(self, number: int, name: str) -> Path:
        """A file of one range of rows."""
        if name not in self._files:
            self._files[name] = self.outputs("sketch", name)
        return self._files[name][number]

    def array(self, number: int, name: str) -> NDArray[Any]:
        """An array of one range of rows, mapped; bands come first in `keys`, rows in all others."""
        rows = self.job.cuts[number + 1] - self.job.cuts[number]
        shape = {
            "keys": (self.job.plan.bands, rows),
            "bits": (rows, self.job.lanes),
            "hashes": (rows, 2),
        }
        file = self._sketched(number, name)
        return mapped(file, ARRAY_TYPES[name]).reshape(shape.get(name, (rows,)))

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """Number, first row and end of each range."""
        for number, (start, stop) in enumerate(pairwise(self.job.cuts)):
            yield number, start, stop

    def gather(self, name: str, rows: Rows, band: int | None = None) -> NDArray[Any]:
        """An array at these rows, which are sorted."""
        parts = []
        for number, local_rows in self._by_range(rows):
            array = self.array(number, name)
            parts.append((array if band is None else array[band])[local_rows])
        return np.concatenate(parts)

    def _by_range(self, rows: Rows) -> Iterator[tuple[int, Rows]]:
        """Each range with those of these sorted rows that are in it, counted from its first."""
        bounds = np.searchsorted(rows, self.job.cuts)
        for number, start, _ in self.ranges():
            yield number, rows[bounds[number] : bounds[number + 1]] - start

    def sizes(self, rows: Rows) -> Rows:
        """Bytes of these texts; the rows may come in any order."""
        order = np.argsort(rows, kind="stable")
        sizes = np.empty(len(rows), np.int64)
        sizes[order] = np.concatenate([end - begin for _, begin, end in self._spans(rows[order])])
        return sizes

    def texts(self, rows: Rows) -> list[str]:
        """The texts of these rows, which are sorted."""
        texts = []
        for number, begin, end in self._spans(rows):
            store = mapped(self._sketched(number, "texts"), np.uint8)
            texts += [
                bytes(store[a:b]).decode("utf-8")
                for a, b in zip(begin.tolist(), end.tolist(), strict=True)
            ]
        return texts

    def _spans(self, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
        """For each range, where the texts of its rows begin and end."""
        for number, local_rows in self._by_range(rows):
            ends = self.array(number, "ends")
            yield number, np.append(0, ends)[local_rows], ends[local_rows]

    # what later stages wrote

    def copies(self) -> tuple[Rows, Rows]:
        """The rows whose text an earlier row has, sorted, and that row."""
        pairs = np.concatenate(
            [np.fromfile(path, np.uint32).reshape(2, -1) for path in self.outputs("same")], axis=1
        )
        pairs = pairs[:, np.argsort(pairs[0], kind="stable")].astype(np.int64)
        return pairs[0], pairs[1]

    def compared(self) -> Flags:
        """Whether a row is compared with others: its text is not empty, and no earlier row has
        it.
        """
        flags = np.concatenate([self.array(number, "counts") > 0 for number, _, _ in self.ranges()])
        flags[self.copies()[0]] = False
        return np.asarray(flags)

    def candidates(self) -> list[U64]:
        """Every array of candidates, mapped."""
        return [mapped(path, np.uint64) for path in self.outputs("match", "codes")]

    def skipped(self) -> Skipped:
        notes = [json.loads(path.read_bytes()) for path in self.outputs("match", "skipped.json")]
        return sum((Skipped(*note) for note in notes), Skipped())

    def pairs(self) -> Found:
        """The verified ones."""
        table = pl.concat([read_parquet(path) for path in self.outputs("verify")])
        left, right, jaccard = (table[name].to_numpy() for name in PAIR_COLUMNS)
        return left, right, jaccard


def mapped(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    """A file as an array; nothing can be mapped from an empty one."""
    return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.empty(0, kind)
