"""What the stages of a streamed search leave in their shared folder, read as if it were in memory.

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
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.atomic import atomic_text
from claimlab.core.engine.reads import check, reads
from claimlab.core.types import Json, JsonObject
from claimlab.text.neardup.bands import Plan
from claimlab.text.neardup.kernel import U32, U64, Flags, Grams, Sketches, Unit
from claimlab.text.neardup.results import Rows, Skipped

FILE = "job.json"
KINDS: dict[str, type[np.generic]] = {
    "keys": np.uint32,
    "bits": np.uint64,
    "hashes": np.uint64,
    "counts": np.uint32,
    "ends": np.int64,
}


@dataclass(frozen=True)
class Job:
    """Everything that decides the result, and how the work is cut: the same whatever does the
    work.
    """

    paths: tuple[str, ...]
    heights: tuple[int, ...]
    column: str
    plan: Plan
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
        atomic_text(folder / FILE, text)
        return reads(folder / FILE, hashlib.sha256(text.encode("utf-8")).hexdigest())

    @classmethod
    def read(cls, folder: Path) -> Job:
        content: JsonObject = json.loads((folder / FILE).read_text(encoding="utf-8"))
        tuples = {name: tuple(content[name]) for name in ("paths", "heights", "cuts")}
        unit: Unit = content["grams"]["unit"]
        grams = Grams(content["grams"]["ngram"], unit)
        return cls(**{**content, **tuples, "plan": Plan(**content["plan"]), "grams": grams})

    def texts(self, start: int, stop: int) -> pl.Series:
        """The rows from `start` to `stop`, counted on from file to file."""
        before, parts = 0, []
        for path, height in zip(self.paths, self.heights, strict=True):
            low, high = max(start - before, 0), min(stop - before, height)
            if low < high:
                parts.append(
                    pl.scan_parquet(path)
                    .select(self.column)
                    .slice(low, high - low)
                    .collect()[self.column]
                )
            before += height
        return pl.concat(parts) if parts else pl.Series(self.column, [], dtype=pl.String)


def write_sketches(folder: Path, texts: pl.Series, sketches: Sketches) -> None:
    folder.mkdir()
    texts = texts.fill_null("")
    (folder / "texts").write_bytes("".join(texts.to_list()).encode("utf-8"))
    np.cumsum(texts.str.len_bytes().to_numpy(), dtype=np.int64).tofile(folder / "ends")
    for name in ("keys", "bits", "hashes", "counts"):
        getattr(sketches, name).tofile(folder / name)


@dataclass(frozen=True)
class Store:
    """The sketches of all ranges as one long table."""

    folder: Path  # of the run
    job: Job
    done: dict[
        str, dict[str, str]
    ]  # of each stage that is done: its outputs, in order, and their digests

    @classmethod
    def open(cls, shard: Mapping[str, Json]) -> Store:
        """As a worker sees it. What a shard names was checked: the job, and which outputs it may
        believe.
        """
        folder = Path(shard["job"]).parent
        return cls(
            folder, Job.read(folder), json.loads(Path(shard["done"]).read_text(encoding="utf-8"))
        )

    def outputs(self, stage: str) -> list[Path]:
        """What a stage wrote, and still is as it was written."""
        place = self.folder / stage / "outputs"
        return [check(place / name, digest) for name, digest in self.done[stage].items()]

    @cached_property
    def _ranges(self) -> list[Path]:
        return self.outputs("sketch")

    def array(self, number: int, name: str) -> NDArray[Any]:
        """An array of one range of rows, mapped; bands come first in `keys`, rows in all others."""
        rows = self.job.cuts[number + 1] - self.job.cuts[number]
        shape = {
            "keys": (self.job.plan.bands, rows),
            "bits": (rows, self.job.lanes),
            "hashes": (rows, 2),
        }
        return mapped(self._ranges[number] / name, KINDS[name]).reshape(shape.get(name, (rows,)))

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """Number, first row and end of each range."""
        for number, start in enumerate(self.job.cuts[:-1]):
            yield number, start, self.job.cuts[number + 1]

    def gather(self, name: str, rows: Rows, band: int | None = None) -> NDArray[Any]:
        """An array at these rows, which are sorted."""
        bounds = np.searchsorted(rows, self.job.cuts)
        parts = []
        for number, start, _ in self.ranges():
            array = self.array(number, name)
            mine = rows[bounds[number] : bounds[number + 1]] - start
            parts.append((array if band is None else array[band])[mine])
        return np.concatenate(parts)

    def sizes(self, rows: Rows) -> Rows:
        """Bytes of these texts; the rows may come in any order."""
        order = np.argsort(rows, kind="stable")
        sizes = np.empty(len(rows), np.int64)
        sizes[order] = np.concatenate([end - begin for _, begin, end in self._spans(rows[order])])
        return sizes

    def texts(self, rows: Rows) -> list[str]:
        """The texts of these rows, which are sorted."""
        texts: list[str] = []
        for number, begin, end in self._spans(rows):
            store = mapped(self._ranges[number] / "texts", np.uint8)
            texts += [
                bytes(store[a:b]).decode("utf-8")
                for a, b in zip(begin.tolist(), end.tolist(), strict=True)
            ]
        return texts

    def _spans(self, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
        """For each range, where the texts of its rows begin and end."""
        bounds = np.searchsorted(rows, self.job.cuts)
        for number, start, _ in self.ranges():
            mine, ends = (
                rows[bounds[number] : bounds[number + 1]] - start,
                self.array(number, "ends"),
            )
            yield (
                number,
                np.where(mine > 0, ends[np.maximum(mine - 1, 0)], 0) if len(mine) else mine,
                ends[mine],
            )

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
        return [mapped(path / "codes", np.uint64) for path in self.outputs("match")]

    def skipped(self) -> Skipped:
        notes = [
            json.loads((path / "skipped.json").read_text(encoding="utf-8"))
            for path in self.outputs("match")
        ]
        return sum((Skipped(*note) for note in notes), Skipped())

    def pairs(self) -> pl.DataFrame:
        return pl.concat([pl.read_parquet(path) for path in self.outputs("verify")])


def mapped(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    """A file as an array; nothing can be mapped from an empty one."""
    return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.empty(0, dtype=kind)


@dataclass(frozen=True)
class Bits:
    """The bitmaps of a few rows, for the kernel."""

    bits: U64
    counts: U32
