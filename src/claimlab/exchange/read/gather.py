"""From what the user named (files, folders, zips) to one table that still says which file each row came from."""

from __future__ import annotations

from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.errors import ClaimlabError, DataError, UnreadableFile
from claimlab.core.progress import Progress, silent
from claimlab.exchange.vocabulary import HEADER_WORDS
from claimlab.files.bundle import Bundle
from claimlab.files.encoding import read_text
from claimlab.files.kinds import TABLES, kind_of
from claimlab.files.raw import Layout, Options, RawTable, Refused
from claimlab.files.read import read_table
from claimlab.files.typed import json_of

TEXTS = (".txt", ".text")
# Files about the data, by the start of their name or by their whole name.
ABOUT = ("readme", "license", "licence", "copying", "changelog", "citation", "notice")
ABOUT_TABLES = ("claimlab.json", "croissant.json", "dataset_infos.json", "datapackage.json", "package.json")
FILE, FOLDER, PATH = "from_file", "from_folder", "path"  # columns of our own: where a row came from
MANY = "one text per file"

Member = tuple[Bundle, str]


@dataclass
class Gathered:
    """`tables` keeps each file's layout and refusals; its rows are in `frame`."""

    frame: pl.DataFrame
    literal: frozenset[str]
    tables: list[RawTable]
    inputs: dict[str, str]
    ignored: list[str] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        return self.frame.height + sum(t.refused.total for t in self.tables)

    def differ(self) -> bool:
        """Whether the files have different columns."""
        return len({frozenset(t.frame.columns) for t in self.tables}) > 1

    def layouts(self) -> str:
        """The different sets of columns, in words, each with a file that has it."""
        sets: dict[tuple[str, ...], list[str]] = {}
        for table in self.tables:
            sets.setdefault(tuple(c for c in table.frame.columns if c != FILE), []).append(table.name)
        common = sorted(sets.items(), key=lambda kv: -len(kv[1]))
        shown = [
            f"{len(names)} like '{names[0]}' with {', '.join(columns[:5])}{', …' if len(columns) > 5 else ''}"
            for columns, names in common[:4]
        ]
        more = f"; and {len(common) - 4} more" if len(common) > 4 else ""
        return f"The {len(self.tables)} files have {len(common)} layouts: {'; '.join(shown)}{more}"

    def lacking(self, column: str) -> list[str]:
        """Files that have no such column, when several were read."""
        return [t.name for t in self.tables if column not in t.frame.columns and column in self.frame.columns]


def gather(
    paths: Sequence[str | Path], options: Options, *, only: Sequence[str] = (), progress: Progress = silent
) -> Gathered:
    """Read every file that `paths` name or hold. Nothing that was refused or left out goes unsaid."""
    with ExitStack() as stack:
        bundles = [stack.enter_context(Bundle.open(path)) for path in paths]
        members, ignored = _choose(bundles, only)
        hashing = stack.enter_context(ThreadPoolExecutor(1)).submit(_inputs, bundles)  # needs no lock: reads beside us
        if len(members) > 1 and all(_suffix(name) in TEXTS for _, name in members):
            tables = [_texts(members, options, progress)]
        else:
            tables = _tables(members, options, progress)
        inputs = hashing.result()
    frame, literal = _together(tables)
    for table in tables:
        table.frame = table.frame.clear()  # the rows are in `frame` now; keeping them twice would double the memory
    return Gathered(frame, literal, tables, inputs, ignored)


def _inputs(bundles: Sequence[Bundle]) -> dict[str, str]:
    """Name and sha256 of everything that was given; files of one name in several folders are numbered."""
    inputs: dict[str, str] = {}
    for bundle in bundles:
        for name, digest in bundle.hashes().items():
            inputs[_free(name, inputs)] = digest
    return inputs


def _choose(bundles: Sequence[Bundle], only: Sequence[str]) -> tuple[list[Member], list[str]]:
    """The members to read: tables, or else texts. A file that was named itself is always read."""
    everything = [(b, n) for b in bundles for n in b.names()]
    if only:
        chosen = [(b, n) for b in bundles for n in b.match(*only)]
        if not chosen:
            raise DataError(f"No file matches {' or '.join(map(repr, only))}.", f"There are: {_some(everything)}.")
        return chosen, []
    named = [(b, n) for b, n in everything if b.local(n) == b.path]
    inside = (
        [(b, n) for b, n in everything if (b, n) not in named and not _about(n)] if len(named) < len(bundles) else []
    )
    tables = [m for m in inside if _suffix(m[1]) in TABLES]
    texts = [m for m in inside if _suffix(m[1]) in TEXTS]
    chosen = named + (tables or texts)
    if not chosen:
        where = ", ".join(f"'{b.path}'" for b in bundles)
        if not everything:
            raise DataError(f"{where} holds no file.", "Give a file, or a folder or zip that holds some.")
        raise DataError(
            f"{where} holds no table and no text (it holds: {_some(everything)}).",
            "Give CSV, TSV, JSON, JSONL, Parquet, XLSX or TXT files, or choose others with --only '*.dat'.",
        )
    kept = {id(b): {n for c, n in chosen if c is b} for b in bundles}
    return chosen, [n for b, n in everything if n not in kept[id(b)]]


def _tables(members: Sequence[Member], options: Options, progress: Progress) -> list[RawTable]:
    tables = []
    for i, (bundle, name) in enumerate(members):
        progress("reading files", i, len(members))
        table = read_table(bundle, name, options, HEADER_WORDS)
        _refuse_ruins(table)
        if len(members) > 1:
            stem = str(PurePosixPath(name).with_suffix(""))
            if FILE in table.frame.columns:
                table.frame = table.frame.rename({FILE: _free(FILE, table.frame.columns)})
            table.frame = table.frame.with_columns(pl.lit(stem).alias(FILE))
        tables.append(table)
    progress("reading files", len(members), len(members))
    return tables


def _texts(members: Sequence[Member], options: Options, progress: Progress) -> RawTable:
    """One record per text file. The folder it lies in is often its label."""
    rows: list[tuple[str, str, str]] = []
    refused, encodings, notes = Refused(unit="file"), set(), []
    for i, (bundle, name) in enumerate(members):
        if i % 500 == 0:
            progress("reading files", i, len(members))
        try:
            data = bundle.read(name)
            if data.strip():
                kind_of(data[:65_536], len(data), name)
            text, encoding, said = read_text(data, name, options.encoding)
        except ClaimlabError as error:
            refused.add(i + 1, "a file that is not text", error.problem)
            continue
        encodings.add(encoding)
        notes += said
        place = PurePosixPath(name)
        rows.append((text.strip(), str(place.with_suffix("")), place.parent.name))
    progress("reading files", len(members), len(members))
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    frame = pl.DataFrame(dict(zip(("text", PATH, FOLDER), columns, strict=True)), schema_overrides={"text": pl.String})
    if frame[FOLDER].n_unique() < 2:
        frame = frame.drop(FOLDER)
    layout = Layout(MANY, ", ".join(sorted(encodings)))
    table = RawTable(MANY, frame.with_columns(pl.when(pl.all() != "").then(pl.all())), layout, refused=refused)
    table.notes = notes[:20]
    _refuse_ruins(table)
    return table


def _refuse_ruins(table: RawTable) -> None:
    """A file of which more than half is refused was misread, or is damaged: better nothing than a part of it."""
    read, refused = table.rows_read, table.refused
    if not read:
        raise UnreadableFile(f"'{table.name}' holds no records.", "Give a file with at least one row below its header.")
    if refused.total * 2 > read:
        reason, n = refused.reasons.most_common(1)[0]
        lines = ", ".join(str(line) for line, _ in refused.listed[:5])
        raise UnreadableFile(
            f"{refused.total:,} of {read:,} rows of '{table.name}' (read as {table.layout.describe()}) were refused, "
            f"{n:,} of them for {reason} ({refused.unit} {lines}).",
            "Mend the file, or say how it is laid out with --delimiter, --quotes, --encoding or --no-header.",
        )


def _together(tables: Sequence[RawTable]) -> tuple[pl.DataFrame, frozenset[str]]:
    """One frame of all rows; a column that is JSON values in one file is so in all."""
    literal = frozenset().union(*(t.literal for t in tables))
    frames = []
    for table in tables:
        plain = [c for c in table.frame.columns if c in literal and c not in table.literal]
        frames.append(table.frame.with_columns(json_of(c).alias(c) for c in plain))
    if len(frames) == 1:
        return frames[0], literal
    return pl.concat(frames, how="diagonal"), literal


def _free(name: str, taken: Container[str]) -> str:
    """`name`, or a variant of it that is not taken yet."""
    number = 2
    free = name
    while free in taken:
        free = f"{name} ({number})"
        number += 1
    return free


def _about(name: str) -> bool:
    file = PurePosixPath(name).name.lower()
    return file.startswith(ABOUT) or file in ABOUT_TABLES


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _some(members: Sequence[Member]) -> str:
    return ", ".join(n for _, n in members[:8]) + (", …" if len(members) > 8 else "")
