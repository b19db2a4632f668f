"""From what the user named (files, folders, zips) to one table that still says which file each row
came from.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.core.progress import Progress, silent
from claimlab.core.words import several_of, verb
from claimlab.exchange.read.choose import TEXTS, Member, choose, is_table, suffix_of
from claimlab.exchange.read.gathered import FILE, Gathered
from claimlab.exchange.read.globs import only
from claimlab.exchange.read.join import joined, read_linked
from claimlab.exchange.read.nested import inner_columns
from claimlab.exchange.read.shared import Read, shared_tables
from claimlab.exchange.read.texts import read_texts
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.objects import NotATable
from claimlab.files.raw import Options, RawTable
from claimlab.files.read import read_table
from claimlab.files.typed import json_of


def gather(
    paths: Sequence[str | Path],
    options: Options,
    *,
    chosen: Sequence[str] = (),
    join: Sequence[str] = (),
    progress: Progress = silent,
) -> Gathered:
    """Read every file that `paths` name or hold, and join the tables that `join` names. Nothing
    that was refused or left out goes unsaid."""
    with ExitStack() as stack:
        bundles = [stack.enter_context(Bundle.open(path)) for path in paths]
        linked = [read_linked(bundles, words, options) for words in join]
        members, ignored = choose(bundles, chosen)
        members = [(b, n) for b, n in members if n not in {table.name for table, _, _ in linked}]
        hashing = stack.enter_context(ThreadPoolExecutor(1)).submit(
            _inputs, bundles
        )  # needs no lock: reads beside us
        texts = len(members) > 1 and all(suffix_of(name) in TEXTS for _, name in members)
        if texts and not any(is_table(member) for member in members[:20]):
            tables = [read_texts(members, options, progress)]
        else:
            tables = _tables(members, options, ignored, progress)
        inputs = hashing.result()
    for table in tables:
        _refuse_ruins(table)
    frame, literal = _together(tables)
    for table in tables:
        table.frame = (
            table.frame.clear()
        )  # the rows are in `frame` now; keeping them twice would double the memory
    gathered = Gathered(frame, literal, tables, inputs, ignored, bool(chosen))
    for other, key, its_key in linked:
        gathered.frame, note = joined(gathered.plain(), other, key, its_key)
        gathered.literal = frozenset()
        tables[0].notes.append(note)
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
    """The tables in `members`; JSON files beside them that hold no records are put on the list of
    ignored files.
    """
    tables: list[RawTable] = []
    shared = shared_tables(members, options, progress)
    for i, (bundle, name) in enumerate(members):
        progress("reading files", i, len(members))
        try:
            table = _table(shared[i]) if shared else read_table(bundle, name, options, HEADER_WORDS)
        except NotATable:
            if i == len(members) - 1 and not tables:
                raise
            ignored.append(name)
            continue
        except UnreadableFile as error:
            if len(members) == 1:
                raise
            others = [n for _, n in members if n != name]
            choice = only(others, [n for _, n in members])
            raise UnreadableFile(
                error.problem, f"{error.todo} Or leave it out: {choice}."
            ) from None
        if len(members) > 1:
            stem = str(PurePosixPath(name).with_suffix(""))
            if FILE in table.frame.columns:
                table.frame = table.frame.rename({FILE: _free(FILE, table.frame.columns)})
            table.frame = table.frame.with_columns(pl.lit(stem).alias(FILE))
        tables.append(table)
    progress("reading files", len(members), len(members))
    return tables


def _table(result: Read) -> RawTable:
    """What another process has read, or what it raised."""
    if isinstance(result, RawTable):
        return result
    raise result


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
        names = {c: spelled.setdefault(fold_name(c), c) for c in table.frame.columns}
        if len(set(names.values())) == len(names):
            table.frame = table.frame.rename(names)
            table.literal = frozenset(names[c] for c in table.literal)
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
