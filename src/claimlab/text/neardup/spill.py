"""The files that a streaming job works on: a journal's folder, filled in steps, each of which is done or not.

    sketched.json     how many rows are sketched, how many bytes of text are stored
    keys, bits, hashes, counts, ends, texts    arrays by row, written in place as the rows come
    candidates/       one sorted array for each band and part of its keys
    pairs/            one Parquet file for each range of left rows

Parameters and inputs are the key of the journal, so that a job with others starts afresh beside it. Arrays by row are
written, flushed to disk, and only then entered in the journal; the rest appears under its name when it is whole. So a
job that was killed goes on from its last step.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.journal import Journal
from claimlab.text.neardup.kernel import U32, U64, Sketches
from claimlab.text.neardup.results import Rows, Skipped

FOLDERS = ("candidates", "pairs")


class Spill:
    """`bits` and `counts` are mapped from disk and serve as the kernel's bitmaps."""

    def __init__(self, workdir: Path, job: dict[str, Any], rows: int, bands: int, lanes: int) -> None:
        self.workdir, self.journal = workdir, Journal(workdir, job)
        assert self.journal.folder is not None
        self.folder = self.journal.folder
        for name in FOLDERS:
            self.journal.place(name)
        self.keys: U32 = self._array("keys", np.uint32, (bands, rows))
        self.bits: U64 = self._array("bits", np.uint64, (rows, lanes))
        self.hashes: U64 = self._array("hashes", np.uint64, (rows, 2))
        self.counts: U32 = self._array("counts", np.uint32, (rows,))
        self.ends: Rows = self._array("ends", np.int64, (rows,))

    def _array(self, name: str, kind: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
        path = self.folder / name
        if 0 in shape:
            return np.empty(shape, dtype=kind)  # nothing can be mapped from an empty file
        if not path.exists():
            with path.open("wb") as file:
                file.truncate(int(np.prod(shape)) * np.dtype(kind).itemsize)
        return np.memmap(path, dtype=kind, mode="r+", shape=shape)

    # rows, in order

    def sketched(self) -> int:
        return self._stored()["rows"]

    def _stored(self) -> dict[str, int]:
        return self.journal.read("sketched") or {"rows": 0, "bytes": 0}

    def add(self, texts: pl.Series, sketches: Sketches) -> None:
        """Store the next rows."""
        stored = self._stored()
        start, stop = stored["rows"], stored["rows"] + len(texts)
        texts = texts.fill_null("")
        data = "".join(texts.to_list()).encode("utf-8")
        with (self.folder / "texts").open("r+b" if start else "wb") as file:
            file.seek(stored["bytes"])
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.ends[start:stop] = stored["bytes"] + np.cumsum(texts.str.len_bytes().to_numpy(), dtype=np.int64)
        self.keys[:, start:stop] = sketches.keys
        self.bits[start:stop] = sketches.bits
        self.hashes[start:stop] = sketches.hashes
        self.counts[start:stop] = sketches.counts
        for array in (self.ends, self.keys, self.bits, self.hashes, self.counts):
            if isinstance(array, np.memmap):
                array.flush()
        self.journal.write("sketched", {"rows": stop, "bytes": stored["bytes"] + len(data)})

    def sizes(self, rows: Rows) -> Rows:
        """Bytes of these texts."""
        begins = np.where(rows > 0, self.ends[np.maximum(rows - 1, 0)], 0)
        sizes: Rows = self.ends[rows] - begins
        return sizes

    def texts(self, rows: Rows) -> list[str]:
        if len(rows) == 0:
            return []
        ends = self.ends[rows]
        begins = ends - self.sizes(rows)
        store = np.memmap(self.folder / "texts", dtype=np.uint8, mode="r") if ends.max() else np.empty(0, np.uint8)
        return [bytes(store[a:b]).decode("utf-8") for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    # candidates

    def has_candidates(self, band: int, part: int) -> bool:
        return self.journal.read(_shard(band, part)) is not None

    def add_candidates(self, band: int, part: int, codes: U64, skipped: Skipped) -> None:
        """Store a sorted array of pairs; the count of what was skipped is written last and marks it as whole."""
        with (self.folder / f"{_shard(band, part)}.u64").open("wb") as file:
            codes.tofile(file)
            file.flush()
            os.fsync(file.fileno())
        self.journal.write(_shard(band, part), [skipped.buckets, skipped.comparisons])

    def skipped(self) -> Skipped:
        total = Skipped()
        for path in sorted((self.folder / "candidates").glob("*.json")):
            total += Skipped(*self.journal.read(f"candidates/{path.stem}"))
        return total

    def candidates(self) -> list[U64]:
        """Every stored array, mapped."""
        paths = sorted((self.folder / "candidates").glob("*.u64"))
        return [np.memmap(path, dtype=np.uint64, mode="r") for path in paths if path.stat().st_size]

    # pairs

    def pairs_path(self, first: int, last: int) -> Path:
        return self.folder / "pairs" / f"{first:010}-{last:010}.parquet"

    def add_pairs(self, path: Path, left: Rows, right: Rows, jaccard: NDArray[np.float32]) -> None:
        building = path.with_suffix(".building")
        pl.DataFrame({"left": left, "right": right, "jaccard": jaccard}).write_parquet(building)
        building.replace(path)

    def pairs(self) -> Iterator[pl.DataFrame]:
        for path in sorted((self.folder / "pairs").glob("*.parquet")):
            yield pl.read_parquet(path)

    def remove(self) -> None:
        """Take away what this job put into the folder, and the folder if nothing else is in it."""
        shutil.rmtree(self.folder)
        if not any(self.workdir.iterdir()):
            self.workdir.rmdir()


def _shard(band: int, part: int) -> str:
    return f"candidates/{band:04}-{part:04}"
