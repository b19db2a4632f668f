"""Near-duplicates of more texts than memory holds: the same search as in search.py, in four
stages through files.

Sketches, identical texts, candidates of each band, verified pairs: every stage is cut into shards
that any engine may do, on one machine or on many. How the work is cut depends on the input and on
`memory` alone, so the result is that of `find_clusters` on the same texts, whatever did the work
and however often it was stopped.

The four stages of a streamed search, each on one shard. They read and write one folder, which
all workers see.

A band is matched alone, and a large one in parts of its keys, so that matching scales with the
number of processes: no worker waits for another, and only rows that share a key are looked at.

What the stages leave in their shared folder, read as if it were in memory:

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
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.atomic import atomic_text
from claimlab.core.digest import write_parquet
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import current
from claimlab.core.engine.reads import check, digest_of, digests_in, keep, reads
from claimlab.core.engine.stage import Work
from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.journal import Journal
from claimlab.core.machine import fitting_workers
from claimlab.core.progress import progress, reporting, silent
from claimlab.core.types import Json, JsonObject
from claimlab.text.neardup.bands import BandPlan, choose
from claimlab.text.neardup.buckets import candidates, sharing
from claimlab.text.neardup.choose import load
from claimlab.text.neardup.kernel import (
    LOW,
    SHIFT,
    U32,
    U64,
    Bitmaps,
    Flags,
    Grams,
    bitmap_lanes,
    distinct,
    ends,
)
from claimlab.text.neardup.results import Clusters, Found, Pairs, Rows, Skipped
from claimlab.text.neardup.search import MAX_ROWS, Options, Wishes, first_of_same, verified
from claimlab.text.neardup.workers import count_threads

FILE = "job.json"
COLUMNS = ("left", "right", "jaccard")  # of a verified pair
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
        atomic_text(folder / FILE, text)
        return reads(folder / FILE, hashlib.sha256(text.encode("utf-8")).hexdigest())

    @classmethod
    def read(cls, folder: Path) -> Job:
        content: JsonObject = json.loads((folder / FILE).read_bytes())
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
                    pl.scan_parquet(path)
                    .select(self.column)
                    .slice(low, high - low)
                    .collect()[self.column]
                )
            before += height
        return pl.concat(parts) if parts else pl.Series(self.column, [], dtype=pl.String)


@dataclass(frozen=True)
class Store:
    """The sketches of all ranges as one long table."""

    folder: Path  # of the run
    job: Job
    # of each stage that is done: its outputs, in order, and the digests of their files
    done: dict[str, dict[str, dict[str, str]]]

    @classmethod
    def open(cls, shard: Mapping[str, Json]) -> Store:
        """As a worker sees it. What a shard names was checked: the job, and which outputs it may
        believe.
        """
        folder = Path(shard["job"]).parent
        return cls(folder, Job.read(folder), json.loads(Path(shard["done"]).read_bytes()))

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
        return mapped(file, KINDS[name]).reshape(shape.get(name, (rows,)))

    def ranges(self) -> Iterator[tuple[int, int, int]]:
        """Number, first row and end of each range."""
        for number, (start, stop) in enumerate(pairwise(self.job.cuts)):
            yield number, start, stop

    def gather(self, name: str, rows: Rows, band: int | None = None) -> NDArray[Any]:
        """An array at these rows, which are sorted."""
        parts = []
        for number, mine in self._by_range(rows):
            array = self.array(number, name)
            parts.append((array if band is None else array[band])[mine])
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
        for number, mine in self._by_range(rows):
            ends = self.array(number, "ends")
            yield number, np.append(0, ends)[mine], ends[mine]

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
        table = pl.concat([pl.read_parquet(path) for path in self.outputs("verify")])
        left, right, jaccard = (table[name].to_numpy() for name in COLUMNS)
        return left, right, jaccard


def mapped(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    """A file as an array; nothing can be mapped from an empty one."""
    return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.empty(0, kind)


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ROW_COST = 600  # bytes a text costs besides its characters while its sketch is made
HASH_COST = 80  # bytes a row costs while identical texts are looked for
PACK_COST = 40  # bytes a row costs while a band is sorted, besides the bitmaps of shared buckets
LEAST_ROWS, MOST_ROWS = 1_000, 1 << 18  # of a shard
WORKERS = 4  # shards that fit `memory` together
FEW = 500_000  # rows that are not worth more than one process


def stream_clusters(
    paths: str | Path | Sequence[str | Path],
    column: str,
    *,
    workdir: str | Path,
    memory: str | int = "8GB",
    keep: bool = False,
    engine: str | None = None,
    **options: Unpack[Wishes],
) -> Clusters:
    """Clusters of the texts in `column` of one Parquet file or several, whose rows count on from
    file to file.

    `memory` bounds what the work needs on one machine beyond the result. `workdir` needs about as
    much room as the texts and 280 bytes a row, and workers on other machines must see it; a job
    that was stopped goes on where it was if it is started again with the same arguments, and the
    folder is removed at the end unless `keep` is set.
    """
    budget = parse_memory(memory)
    source = Source.open([paths] if isinstance(paths, str | Path) else paths, column)
    wish = Options(**options)
    job = source.job(wish, max(budget // WORKERS, 1))
    folder = Journal(Path(workdir), {"source": source.identity(), **vars(job)}).folder
    assert folder is not None
    folder.mkdir(parents=True, exist_ok=True)
    shard = {"job": job.write(folder.absolute())}
    few = min(fitting_workers(job.share), WORKERS) if job.rows > FEW else 1
    stage = partial(
        run_stage,
        folder=folder.absolute(),
        engine=engine or current().engine or f"local:{few}",
        memory=job.share,
    )
    store = Store(folder.absolute(), job, {})
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


def _run(store: Store, shard: JsonObject, stage: Any) -> None:
    """All four stages; each starts when the one before is done."""
    job = store.job

    def run(work: Work, shards: Sequence[JsonObject], label: str = "") -> None:
        name = work.__name__
        known = {
            **shard,
            "done": keep(store.folder / "done", json.dumps(store.done).encode("utf-8"), "json"),
        }
        outputs = stage(
            work,
            [{**known, **one} for one in shards],
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


def _parts(job: Job, cost: int) -> list[list[int]]:
    """Part 0, 1, ... of so many parts that the rows of one fit in memory."""
    parts = max(1, min(-(-job.rows * cost // job.share), job.rows // LEAST_ROWS))
    return [[number, parts] for number in range(parts)]


def _cuts(stored: list[U64], job: Job) -> list[int]:
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

    def job(self, wish: Options, share: int) -> Job:
        rows = sum(self.heights)
        cost = ROW_COST + TEXT_COST * self.bytes / max(rows, 1)
        step = int(min(max(share // cost, LEAST_ROWS), MOST_ROWS))
        return Job(
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


CODE_COST = 64  # bytes a candidate costs while it is verified, besides the texts
TEXT_COST = 4  # copies of its characters that a text costs while it is worked on


def sketch(shard: JsonObject, output: Path) -> None:
    """Sketch a range of rows."""
    job = Store.open(shard).job
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
    np.array([row[first != row], first[first != row]], np.uint32).tofile(output)


def match(shard: JsonObject, output: Path) -> None:
    """Find the candidates of one band whose keys are in one part."""
    store, band = Store.open(shard), shard["band"]
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


def _of_buckets(store: Store, band: int, packed: U64) -> tuple[U64, Skipped]:
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
        return np.ones(len(keys), bool)
    return np.asarray((keys.astype(np.uint64) * np.uint64(parts)) >> SHIFT == np.uint64(number))


def verify(shard: JsonObject, output: Path) -> None:
    """Verify the candidates whose left row is in one range, so many at a time as the texts fit."""
    store = Store.open(shard)
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
    write_parquet(pl.DataFrame(dict(zip(COLUMNS, columns, strict=True))), output)


def _verify(store: Store, left: Rows, right: Rows) -> Found:
    rows = np.unique(np.concatenate([left, right]))
    corpus = load().corpus(store.texts(rows), store.job.grams, count_threads(None))
    a, b = (np.searchsorted(rows, side).astype(np.uint64) for side in (left, right))
    with reporting(silent):
        near_left, near_right, jaccard = verified(
            corpus, (a << SHIFT) | b, store.job.plan.threshold
        )
    return rows[near_left], rows[near_right], jaccard
