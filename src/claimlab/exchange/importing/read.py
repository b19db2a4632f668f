"""The first step of an import: from what the user named (files, folders, zips) to one table that
still says which file each row came from.

A linked table is joined by a key (texts in one file, labels or reviews in another), and the fields
of objects inside records become columns that a role may take: reviewRating.alternateName,
label.verdict.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.words import several, several_of, verb
from claimlab.exchange.importing.choose import TEXTS, Member, choose, is_table, only, suffix_of
from claimlab.exchange.importing.layouts import FILE, Gathered
from claimlab.exchange.importing.shared import Read, shared_tables
from claimlab.exchange.importing.texts import read_texts
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.objects import NotATable
from claimlab.files.raw import Options, RawTable, as_text, json_of, literal_text
from claimlab.files.read import read_table

DEPTH = 3  # of objects inside objects
MOST_KEYS = 60  # of the objects in one column; more of them are ids rather than names of fields


def read(
    bundles: Sequence[Bundle],
    options: Options,
    *,
    chosen: Sequence[str] = (),
    join: Sequence[str] = (),
    progress: Progress = silent,
) -> Gathered:
    """Read every file that the bundles hold, and join the tables that `join` names. Nothing that
    was refused or left out goes unsaid.
    """
    links = [_linked(bundles, words, options) for words in join]
    joined = {link.table.name for link in links}
    members, ignored = choose(bundles, chosen)
    members = [member for member in members if member[1] not in joined]
    with ThreadPoolExecutor(1) as beside:
        hashing = beside.submit(_inputs, bundles)  # needs no lock: reads beside us
        tables = _tables(members, options, ignored, progress)
        inputs = hashing.result()
    for table in tables:
        _refuse_ruins(table)
    frame, literal = _together(tables)
    for table in tables:  # the rows are in `frame` now; keeping them twice would double the memory
        table.frame = table.frame.clear()
    gathered = Gathered(frame, literal, tables, inputs, ignored, bool(chosen))
    for link in links:
        link.join(gathered)
    inner = inner_columns(gathered.frame, gathered.literal)
    gathered.frame, gathered.inner = gathered.frame.hstack(inner), frozenset(inner.columns)
    return gathered


def _inputs(bundles: Sequence[Bundle]) -> dict[str, str]:
    """Name and sha256 of everything that was given; files of one name in several folders are
    numbered.
    """
    inputs: dict[str, str] = {}
    for bundle in bundles:
        for name, digest in bundle.hashes().items():
            inputs[_free(name, inputs)] = digest
    return inputs


def _tables(
    members: Sequence[Member], options: Options, ignored: list[str], progress: Progress
) -> list[RawTable]:
    """The tables in `members`, or the one table of all texts; JSON files beside tables that hold no
    records are put on the list of ignored files.
    """
    texts = len(members) > 1 and all(suffix_of(name) in TEXTS for _, name in members)
    if texts and not any(map(is_table, members[:20])):
        return [read_texts(members, options, progress)]
    tables: list[RawTable] = []
    shared = shared_tables(members, options, progress)
    for done, member in enumerate(members):
        progress("reading files", done, len(members))
        try:
            table = _table(member, members, options, shared[done] if shared else None)
        except NotATable:
            if done == len(members) - 1 and not tables:
                raise
            ignored.append(member[1])
            continue
        if len(members) > 1:
            _note_file(table, member[1])
        tables.append(table)
    progress("reading files", len(members), len(members))
    return tables


def _note_file(table: RawTable, name: str) -> None:
    """Say in a column of our own which file the rows are from."""
    if FILE in table.frame.columns:
        table.frame = table.frame.rename({FILE: _free(FILE, table.frame.columns)})
    stem = str(PurePosixPath(name).with_suffix(""))
    table.frame = table.frame.with_columns(pl.lit(stem).alias(FILE))


def _table(
    member: Member, members: Sequence[Member], options: Options, shared: Read | None
) -> RawTable:
    """The table of a member, or what another process has read of it. Where it cannot be read, the
    message offers to leave it out.
    """
    bundle, name = member
    try:
        if shared is None:
            return read_table(bundle, name, options, HEADER_WORDS)
        if isinstance(shared, RawTable):
            return shared
        raise shared
    except UnreadableFile as error:
        if isinstance(error, NotATable) or len(members) == 1:
            raise
        names = [name for _, name in members]
        choice = only([other for other in names if other != name], names)
        raise UnreadableFile(error.problem, f"{error.todo} Or leave it out: {choice}.") from None


def _refuse_ruins(table: RawTable) -> None:
    """A file of which more than half is refused was misread, or is damaged: better nothing than a
    part of it.
    """
    read, refused = table.rows_read, table.refused
    if not read:
        raise UnreadableFile(
            f"'{table.name}' holds no records.",
            "Give a file with at least one row below its header.",
        )
    if refused.total * 2 > read:
        reason, n = refused.reasons.most_common(1)[0]
        lines = ", ".join(str(line) for line, _ in refused.listed[:5])
        raise UnreadableFile(
            f"{several_of(refused.total, read, 'row')} of '{table.name}' (read as"
            f" {table.layout.describe()}) {verb(refused.total, 'was', 'were')} refused, {n:,} for"
            f" {reason} ({refused.unit} {lines}).",
            "Fix the file, or say how it is laid out: `delimiter`, `quotes`, `encoding`, `header`.",
        )


def _together(tables: Sequence[RawTable]) -> tuple[pl.DataFrame, frozenset[str]]:
    """One frame of all rows; a column that is JSON values in one file is so in all, and header case
    does not matter.
    """
    spelled: dict[str, str] = {}
    for table in tables:
        names = {name: spelled.setdefault(fold_name(name), name) for name in table.frame.columns}
        if len(set(names.values())) == len(names):
            table.frame = table.frame.rename(names)
            table.literal = frozenset(names[name] for name in table.literal)
    literal = frozenset().union(*(table.literal for table in tables))
    frames = []
    for table in tables:
        plain = (literal - table.literal) & set(table.frame.columns)
        frames.append(table.frame.with_columns(json_of(name).alias(name) for name in plain))
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal"), literal


def _free(name: str, taken: Container[str]) -> str:
    """`name`, or a variant of it that is not taken yet."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


@dataclass(frozen=True)
class _Link:
    """A table to join to the records, the key of the records, and its own key."""

    table: RawTable
    key: str
    its_key: str

    def join(self, gathered: Gathered) -> None:
        """Give each row the columns of the one row of the table that has its key, and note how many
        have one.
        """
        frame = gathered.plain()
        mine = _key_column(frame, self.key, "the records")
        theirs = _key_column(self.table.frame, self.its_key, f"'{self.table.name}'")
        other = self.table.frame.with_columns(
            literal_text(self.table.frame[name]) for name in self.table.literal
        ).drop_nulls(theirs)
        if repeated := other.height - other[theirs].n_unique():
            rows = f"{several(repeated, 'row')} {verb(repeated, 'repeats', 'repeat')}"
            raise DataError(
                f"In '{self.table.name}', {rows} a value of '{theirs}'.",
                "Join by a key that names one row, or remove the other rows.",
            )
        stem = Path(self.table.name).stem
        taken = (set(other.columns) & set(frame.columns)) - {theirs}
        other = other.rename({name: f"{name} ({stem})" for name in taken})
        known = frame.join(other, left_on=mine, right_on=theirs, how="semi").height
        gathered.frame = frame.join(
            other, left_on=mine, right_on=theirs, how="left", maintain_order="left"
        )
        gathered.literal = frozenset()
        matched = f"{several_of(known, frame.height, 'row')} {verb(known, 'has', 'have')} a match"
        gathered.tables[0].notes.append(f"{matched} in '{self.table.name}' (by '{mine}').")


def _linked(bundles: Sequence[Bundle], join: str, options: Options) -> _Link:
    """The table that `join` ("FILE:KEY" or "FILE:KEY=ITS_KEY") names. FILE is a file of its own, or
    a member of what is imported.
    """
    file, _, keys = join.rpartition(":")
    if not file or not keys:
        raise UsageError(
            f"`join` cannot be '{join}'.", "Write it as FILE:KEY, such as reviews.csv:news_id."
        )
    key, _, its_key = keys.partition("=")
    if Path(file).is_file():
        with Bundle.open(file) as bundle:
            table = read_table(bundle, bundle.names()[0], options, HEADER_WORDS)
        return _Link(table, key, its_key or key)
    for bundle in bundles:
        if members := bundle.match(file):
            table = read_table(bundle, members[0], options, HEADER_WORDS)
            return _Link(table, key, its_key or key)
    raise DataError(
        f"There is no file '{file}' to join.",
        "Give its path, or its name inside the folder or zip.",
    )


def _key_column(frame: pl.DataFrame, name: str, where: str) -> str:
    folded = fold_name(name)
    alike = [column for column in frame.columns if fold_name(column) == folded]
    if name in frame.columns:
        return name
    if len(alike) != 1:
        raise DataError(
            f"There is no column '{name}' in {where} to join by.",
            f"There are: {', '.join(frame.columns[:12])}.",
        )
    return alike[0]


def inner_columns(frame: pl.DataFrame, literal: Iterable[str]) -> pl.DataFrame:
    """The fields of the objects in columns of JSON values, as text, under the names of both
    ("user.name").

    Only objects of which every record has one: a list of several (comments, evidence) is not a
    field of its record.
    """
    inner = [one for column in sorted(literal) for one in _fields_of(frame[column])]
    return pl.DataFrame([one for one in inner if one.name not in frame.columns and one.count()])


def _fields_of(values: pl.Series) -> list[pl.Series]:
    objects = values.str.starts_with("{") | values.str.starts_with("[{")
    if not values.count() or objects.sum() < values.count():
        return []
    rows = [dict(_fields(json.loads(value or "{}"), "", DEPTH)) for value in values.to_list()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [
        pl.Series(values.name + name, [row.get(name) for row in rows], dtype=pl.String)
        for name in (names if len(names) <= MOST_KEYS else [])
    ]


def _fields(value: object, path: str, depth: int) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _fields(inner, f"{path}.{key}", depth - 1)
    elif path and not isinstance(value, list | Mapping) and value != "":
        yield path, as_text(value)
