"""The files that a streaming job works on: one folder, filled in steps, each of which is done or not.

    job.json          parameters and inputs; another job is refused
    journal.json      how many rows are sketched, how many bytes of text are stored
    keys, bits, hashes, counts, ends, texts    arrays by row, written in place as the rows come
    candidates/       one sorted array for each band and part of its keys
    pairs/            one Parquet file for each range of left rows

Arrays by row are written, flushed to disk, and only then entered in the journal; the rest appears under its name when
it is whole. So a job that was killed goes on from its last step.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.atomic import atomic_text
from claimlab.core.errors import UsageError
from claimlab.text.neardup.kernel import U32, U64, Sketches
from claimlab.text.neardup.results import Rows, Skipped

ARRAYS = ("keys", "bits", "hashes", "counts", "ends")
FOLDERS = ("candidates", "pairs")


class Spill:
    """`bits` and `counts` are mapped from disk and serve as the kernel's bitmaps."""

    def __init__(self, folder: Path, job: dict[str, Any], rows: int, bands: int, lanes: int) -> None:
        self.folder = folder
        self._claim(job)
        for name in FOLDERS:
            (folder / name).mkdir(exist_ok=True)
        self.keys: U32 = self._array("keys", np.uint32, (bands, rows))
        self.bits: U64 = self._array("bits", np.uint64, (rows, lanes))
        self.hashes: U64 = self._array("hashes", np.uint64, (rows, 2))
        self.counts: U32 = self._array("counts", np.uint32, (rows,))
        self.ends: Rows = self._array("ends", np.int64, (rows,))

    def _claim(self, job: dict[str, Any]) -> None:
        """Take an empty folder for this job, or go on with it; refuse one that holds anything else."""
        path = self.folder / "job.json"
        if not path.exists() and self.folder.is_dir() and any(self.folder.iterdir()):
            raise UsageError(f"The workdir '{self.folder}' is not empty.", "Give a folder that is new or empty.")
        if path.exists() and json.loads(path.read_text(encoding="utf-8")) != json.loads(json.dumps(job)):
            raise UsageError(
                f"'{self.folder}' holds the work of another near-duplicate job.",
                "Choose another workdir, or remove that folder.",
            )
        atomic_text(path, json.dumps(job, indent=1, sort_keys=True))

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
        return int(self._journal()["rows"])

    def _journal(self) -> dict[str, int]:
        path = self.folder / "journal.json"
        if not path.exists():
            return {"rows": 0, "bytes": 0}
        journal: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
        return journal

    def add(self, texts: pl.Series, sketches: Sketches) -> None:
        """Store the next rows."""
        journal = self._journal()
        start, stop = journal["rows"], journal["rows"] + len(texts)
        texts = texts.fill_null("")
        data = "".join(texts.to_list()).encode("utf-8")
        with (self.folder / "texts").open("r+b" if start else "wb") as file:
            file.seek(journal["bytes"])
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.ends[start:stop] = journal["bytes"] + np.cumsum(texts.str.len_bytes().to_numpy(), dtype=np.int64)
        self.keys[:, start:stop] = sketches.keys
        self.bits[start:stop] = sketches.bits
        self.hashes[start:stop] = sketches.hashes
        self.counts[start:stop] = sketches.counts
        for array in (self.ends, self.keys, self.bits, self.hashes, self.counts):
            if isinstance(array, np.memmap):
                array.flush()
        journal = {"rows": stop, "bytes": journal["bytes"] + len(data)}
        atomic_text(self.folder / "journal.json", json.dumps(journal))

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
        return self._skipped_path(band, part).exists()

    def add_candidates(self, band: int, part: int, codes: U64, skipped: Skipped) -> None:
        """Store a sorted array of pairs; the count of what was skipped is written last and marks it as whole."""
        with (self.folder / "candidates" / f"{band:04}-{part:04}.u64").open("wb") as file:
            codes.tofile(file)
            file.flush()
            os.fsync(file.fileno())
        atomic_text(self._skipped_path(band, part), json.dumps([skipped.buckets, skipped.comparisons]))

    def _skipped_path(self, band: int, part: int) -> Path:
        return self.folder / "candidates" / f"{band:04}-{part:04}.json"

    def skipped(self) -> Skipped:
        total = Skipped()
        for path in sorted((self.folder / "candidates").glob("*.json")):
            total += Skipped(*json.loads(path.read_text(encoding="utf-8")))
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
        for name in FOLDERS:
            shutil.rmtree(self.folder / name)
        for name in ("job.json", "journal.json", "texts", *ARRAYS):
            (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()
