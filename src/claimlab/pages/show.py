"""What a folder that claimlab wrote holds: a dataset or a run with its counts, tables, lineage and first records, or,
briefly, a report or an export. `verify` compares every file with the hash that was stored when it was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset, Lineage, read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.edits import accept_edits as accept
from claimlab.core.errors import FileChanged, SchemaError, UsageError
from claimlab.core.guard import DATASET, foreign_files, kind_of
from claimlab.core.run import Source
from claimlab.core.shown import Shown
from claimlab.pages.blocks import Block, Items, Section, Table, Text

COUNTED = ("veracity", "split", "language", "kind")
RUN = "run"  # a dataset with predictions
MOST = 12  # values of a column that are listed
LONGEST = 90  # characters of a line of lineage


@dataclass(frozen=True, repr=False)
class Folder(Shown):
    """What was found in one folder. `files` are its files; those in `foreign` claimlab did not write."""

    name: str
    kind: str
    path: Path | None
    dataset: Dataset | None = None
    records: pl.DataFrame = field(default_factory=pl.DataFrame)  # the first ones
    files: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def table(self) -> pl.DataFrame:
        """The first records of a dataset, or the files of another folder."""
        return pl.DataFrame({"file": self.files}) if self.dataset is None else self.records

    def headline(self) -> str:
        if self.dataset is None:
            return f"'{self.name}': a claimlab {self.kind}, {len(self.files)} files"
        made = ", synthetic" if self.dataset.synthetic else ""
        return f"'{self.name}': a {self.kind} of {len(self.dataset):,} records{made}"

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"name": self.name, "kind": self.kind, "path": self.path and str(self.path)}
        if self.dataset is None:
            return {**shown, "files": list(self.files), "foreign": list(self.foreign)}
        manifest = self.dataset.manifest()
        about = manifest.model_dump(include={"card", "licence", "synthetic", "counts", "files", "lineage", "notes"})
        dates = list(_dates(self.dataset.records))
        rows = self.records.to_dicts()
        return {**shown, **about, "dates": dates, "foreign": list(self.foreign), "records": rows}


def show(data: Source, *, limit: int = 5, verify: bool = False, accept_edits: str | None = None) -> Folder:
    """What a dataset, or any folder that claimlab wrote, holds; `limit` is the number of records to show.

    `verify=True` compares every file with its stored sha256 and raises `FileChanged` with the names of those that
    differ. `accept_edits="why"` takes a dataset folder as it is now and records the edit in its lineage.
    """
    if isinstance(data, Dataset):
        if verify or accept_edits is not None:
            raise UsageError("A dataset in memory has no files to compare.", "Pass its folder.")
        return _dataset(data, limit)
    folder = Path(data)
    kind = kind_of(folder) if folder.is_dir() else None
    if kind is None:
        read_manifest(folder)  # says what is wrong with it
        raise SchemaError(f"'{folder}' was not written by claimlab.", "Pass a folder that claimlab wrote.")
    if kind != DATASET:
        if verify or accept_edits is not None:
            raise UsageError(f"'{folder}' is a claimlab {kind}; only datasets keep hashes.", "Pass a dataset folder.")
        return Folder(folder.name, kind, folder, files=_files(folder), foreign=tuple(foreign_files(folder)))
    if accept_edits is not None:
        _accept(folder, accept_edits)
    if verify:
        _verify(folder)
    return _dataset(Dataset.open(folder), limit)


def _dataset(dataset: Dataset, limit: int) -> Folder:
    kind = RUN if "predictions" in dataset.tables else DATASET
    known = () if dataset.path is None else tuple(foreign_files(dataset.path))
    return Folder(dataset.name, kind, dataset.path, dataset, dataset.records.head(limit), tuple(dataset.files), known)


def _accept(folder: Path, why: str) -> None:
    if not why.strip():
        raise UsageError("An edit needs a reason.", "Say in a few words why it was made.")
    accept(folder, why)


def _verify(folder: Path) -> None:
    """Every file that the manifest lists, reports beside the tables included."""
    stored = read_manifest(folder).files
    changed = [n for n, h in stored.items() if not (folder / n).is_file() or digest_file(folder / n) != h]
    if changed:
        raise FileChanged(folder, changed)


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()))


def _dates(records: pl.DataFrame) -> Iterator[str]:
    """The first and the last date."""
    dates = records["date"].drop_nulls()
    if len(dates):
        yield from (str(dates.min())[:10], str(dates.max())[:10])


def blocks(folder: Folder) -> list[Block]:
    """The folder as sections to read."""
    if folder.dataset is None:
        return [Section(folder.headline(), [Items(folder.files[:40]), *_foreign(folder)])]
    dataset = folder.dataset
    about = [f"licence: {dataset.licence or 'not stated'}"]
    about += [f"dates: {' to '.join(dates)}"] if (dates := list(_dates(dataset.records))) else ["dates: none"]
    counts = dataset.manifest().counts
    about += [f"{column}: {_tally(counts[column])}" for column in COUNTED if column in counts]
    sides = [(name, table.height, ", ".join(table.columns)) for name, table in sorted(dataset.tables.items())]
    steps = [(n, s.step, _short(s), s.tool) for n, s in enumerate(dataset.lineage, 1)]
    parts: list[Block] = [Items(about), *_foreign(folder)]
    parts += [Section("Side tables", [Table(("table", "rows", "columns"), sides)])] if sides else []
    parts += [Section("Lineage", [Table(("no.", "step", "what", "tool"), steps)])] if steps else []
    parts += [Section("Notes", [Items(dataset.notes)])] if dataset.notes else []
    if folder.records.height:
        columns = ("id", "veracity", "language", "split", "text")
        parts.append(Section("First records", [Table(columns, folder.records.select(columns).rows())]))
    return [Section(folder.headline(), parts)]


def _foreign(folder: Folder) -> list[Block]:
    return [Text(f"Not written by claimlab: {', '.join(folder.foreign[:MOST])}.", "note")] if folder.foreign else []


def _tally(values: dict[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    more = f", and {len(ranked) - MOST} more" if len(ranked) > MOST else ""
    return ", ".join(f"{value} {n:,}" for value, n in ranked[:MOST]) + more


def _short(step: Lineage) -> str:
    """The plain parameters of a step, its seed and its counts, on one line; `to_json` has all of it."""
    simple = {k: v for k, v in step.parameters.items() if isinstance(v, str | int | float) and v not in ("", False)}
    seed = {} if step.seed is None else {"seed": step.seed}
    words = [f"{key}={value}" for key, value in {**simple, **seed}.items()]
    line = "; ".join(filter(None, [", ".join(words), ", ".join(f"{k} {n:,}" for k, n in step.counts.items() if n)]))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
