"""The first step of an import: from what the user named (files, folders, zips) to one table that
still says which file each row came from.

A linked table is joined by a key (texts in one file, labels or reviews in another), and the fields
of objects inside records become columns that a role may take: reviewRating.alternateName,
label.verdict.

Files read in other processes, each a shard: for an import of many files that was told to share
its work.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from claimlab.core.digest import write_parquet
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import reads
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import general
from claimlab.core.progress import Progress, silent
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of, verb
from claimlab.exchange.importing.annotation_tools import plain_rows
from claimlab.exchange.importing.choose import (
    TEXTS,
    Member,
    are_records,
    choose,
    chosen,
    is_table,
    suffix_of,
)
from claimlab.exchange.importing.layouts import (
    FILE,
    LEAST_KEYS,
    PLACES,
    Gathered,
    labels_in,
    read_names,
    split_in,
    stem,
)
from claimlab.exchange.importing.profile import LABEL_VALUES
from claimlab.exchange.importing.settle import linked, turned_off
from claimlab.exchange.importing.texts import read_columns, read_texts, side_by_side
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.card import splits_in
from claimlab.files.encoding import sniff_encoding
from claimlab.files.layout import FileLayout, ReadOptions
from claimlab.files.objects import NotATable
from claimlab.files.raw import RawTable, Refused, as_text, json_of, typed_table
from claimlab.files.read import read_table
from claimlab.files.shapes import records_inside
from claimlab.files.totals import leave_out_totals

# texts about the data, and bytes of one
ABOUT_SUFFIXES, ABOUT_BYTES = ("", ".md", ".rst", *TEXTS), 1 << 16
FILES_NAMED = 10  # files that were passed over
MOST_DEPTH = 3  # of objects inside objects
MOST_KEYS = 60  # of the objects in one column; more of them are ids rather than names of fields
_LABELS_OF = re.compile(
    r"(.+?)[-_. ]labels?(?:[-_. ].*)?", re.DOTALL
)  # a file of labels beside a text
_FRAME, _ABOUT = "frame.parquet", "about.json"


def read(
    bundles: Sequence[Bundle],
    options: ReadOptions,
    *,
    chosen: Sequence[str] = (),
    join: Sequence[str] = (),
    progress: Progress = silent,
) -> Gathered:
    """Read every file that the bundles hold, and join the tables that `join` names. Nothing that
    was refused or left out goes unsaid.
    """
    links = [] if turned_off(join) else [linked(bundles, words, options) for words in join]
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
    gathered.splits = {
        name: split for bundle in bundles for name, split in splits_in(bundle).items()
    }
    gathered.about = _about(bundles, tables)
    if gathered.splits:
        tables[0].notes.append("The card of the folder says which file is which split.")
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


def _about(bundles: Sequence[Bundle], tables: Sequence[RawTable]) -> dict[str, str]:
    """What a few short texts and small sheets beside the tables say, such as what codes mean."""
    read = {table.name for table in tables}
    texts = [
        (bundle, name)
        for bundle in bundles
        for name in bundle.names()
        if suffix_of(name) in ABOUT_SUFFIXES and name not in read and bundle.table(name) is None
    ]
    short = [(bundle, name) for bundle, name in texts if bundle.size(name) <= ABOUT_BYTES]
    heads = {name: bundle.head(name, ABOUT_BYTES) for bundle, name in short[:LABEL_VALUES]}
    about = {name: data.decode(sniff_encoding(data), "replace") for name, data in heads.items()}
    sheets = (sheet for table in tables for sheet in table.beside.items())
    return about | {title: _lines_of(rows) for title, rows in sheets}


def _lines_of(rows: Sequence[Mapping[str, str | None]]) -> str:
    """A small sheet as text."""
    cells = [list(rows[0]), *(row.values() for row in rows)] if rows else []
    return "\n".join(" | ".join(filter(None, row)) for row in cells)


def _tables(
    members: Sequence[Member], options: ReadOptions, ignored: list[str], progress: Progress
) -> list[RawTable]:
    """The tables in `members`; texts that are not tables, where there are many, are one table."""
    texts = _without_labels_of_texts(
        [member for member in members if suffix_of(member[1]) in TEXTS], ignored
    )
    others = [member for member in members if suffix_of(member[1]) not in TEXTS]
    if not others and (columns := read_columns(texts, options)) is not None:
        return [columns]
    prose = len(texts) > 1 and not any(map(is_table, texts[:20])) and not _are_lists(texts)
    if prose and not others:
        return [read_texts(texts, options, progress)]
    if not prose or not are_records(texts, others):
        return _each([m for m in members if m[1] not in set(ignored)], options, ignored, progress)
    tables = [*_each(others, options, ignored, progress), read_texts(texts, options, progress)]
    for table in (tables[0], tables[-1]) if len(tables) == 2 else tables[-1:]:
        _note_file(table, Counter())
    return tables


def _without_labels_of_texts(texts: Sequence[Member], ignored: list[str]) -> list[Member]:
    """The texts without the files that hold labels of places in them: 12-labels.txt beside
    12.txt."""
    stems = {PurePosixPath(name).stem for _, name in texts}
    matches = {name: _LABELS_OF.fullmatch(PurePosixPath(name).stem) for _, name in texts}
    about = {name for name, match in matches.items() if match and match[1] in stems}
    if len(about) < LEAST_KEYS:
        return list(texts)
    ignored += sorted(about)
    return [member for member in texts if member[1] not in about]


def _are_lists(texts: Sequence[Member]) -> bool:
    """Whether a few texts of many lines are named after labels or splits: each line is a record."""
    names = [str(PurePosixPath(name).with_suffix("")) for _, name in texts]
    if len(texts) > LABEL_VALUES or not (
        labels_in(names, general()) or read_names(names, split_in)
    ):
        return False
    return all(bundle.read(name).strip().count(b"\n") >= LEAST_KEYS for bundle, name in texts)


def _each(
    members: Sequence[Member], options: ReadOptions, ignored: list[str], progress: Progress
) -> list[RawTable]:
    """The table of each member; files beside tables that hold no records are put on the list of
    ignored files.
    """
    tables: list[RawTable] = []
    passed_over: list[str] = []
    stems = Counter(str(PurePosixPath(name).with_suffix("")) for _, name in members)
    shared = shared_tables(members, options, progress)
    for number, member in enumerate(members):
        progress("reading files", number, len(members))
        try:
            table = _table(member, members, options, shared[number] if shared else None)
            if len(members) > 1 and table.rows_read:
                _refuse_ruins(table)
        except NotATable:
            if number == len(members) - 1 and not tables:
                raise
            ignored.append(member[1])
            continue
        except UnreadableFile as error:
            if not _is_aside(member, members) or (number == len(members) - 1 and not tables):
                raise
            ignored.append(member[1])
            passed_over.append(f"'{member[1]}' was passed over: {error.problem}")
            continue
        if not table.rows_read and len(members) > 1 and (tables or number < len(members) - 1):
            ignored.append(member[1])
            continue
        if len(members) <= LABEL_VALUES:
            table = _unwrapped(table)
        table = plain_rows(table)
        leave_out_totals(table)
        if len(members) > 1:
            _note_file(table, stems)
        tables.append(table)
    progress("reading files", len(members), len(members))
    if passed_over:
        tables[0].notes += passed_over[:FILES_NAMED]
    if len(passed_over) > FILES_NAMED:
        tables[0].notes.append(f"{len(passed_over) - FILES_NAMED:,} more files were passed over.")
    together = side_by_side(tables, PLACES)
    return [together] if together is not None else tables


def _is_aside(member: Member, members: Sequence[Member]) -> bool:
    """Whether the others hold most of what there is to read: a bad file among them is then worth a
    warning, and no more."""
    sizes = {each: each[0].size(each[1]) for each in members}
    return 2 * sizes[member] <= sum(sizes.values())


def _unwrapped(table: RawTable) -> RawTable:
    """The records in a list, where a file is one object around it and no record by itself."""
    if table.frame.height != 1 or not table.literal:
        return table
    row = table.frame.row(0, named=True)
    whole = {n: json.loads(v) if n in table.literal and v else v for n, v in row.items()}
    rows = records_inside(whole)
    if rows is None:
        return table
    inside = typed_table(rows, table.name, table.layout, table.refused)
    inside.notes = [*table.notes, f"The records of '{table.name}' are in a list inside an object."]
    return inside


def _note_file(table: RawTable, stems: Counter[str]) -> None:
    """Say in a column of our own which file the rows are from."""
    if FILE in table.frame.columns:
        table.frame = table.frame.rename({FILE: _free(FILE, table.frame.columns)})
    if stems[stem(table)] > 1:  # the same table as CSV and as JSON
        table.called = table.name
    name = pl.Series(FILE, [stem(table)]).new_from_index(0, table.frame.height)
    table.frame = table.frame.hstack([name])  # much cheaper than a query, of thousands of files


def _table(
    member: Member, members: Sequence[Member], options: ReadOptions, shared: Read | None
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
        choice = chosen([other for other in names if other != name], names, "leave it out")
        if choice is None:
            raise
        unreadable = UnreadableFile(f"{error.problem} {error.todo}", f"Or {choice}.")
        unreadable.choices = [choice]
        raise unreadable from None


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
        if len(set(names.values())) == len(names) and list(names) != list(names.values()):
            table.frame = table.frame.rename(names)
            table.literal = frozenset(names[name] for name in table.literal)
    literal = frozenset().union(*(table.literal for table in tables))
    frames = []
    for table in tables:
        plain = (literal - table.literal) & set(table.frame.columns)
        json_values = [json_of(name).alias(name) for name in plain]
        frames.append(table.frame.with_columns(json_values) if plain else table.frame)
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal"), literal


def _free(name: str, taken: Container[str]) -> str:
    """`name`, or a variant of it that is not taken yet."""
    numbered = (f"{name} ({number})" for number in count(2))
    return (
        name
        if name not in taken
        else next(name_left for name_left in numbered if name_left not in taken)
    )


def inner_columns(frame: pl.DataFrame, literal: Iterable[str]) -> pl.DataFrame:
    """The fields of the objects in columns of JSON values, as text, under the names of both
    ("user.name").

    Only objects of which every record has one: a list of several (comments, evidence) is not a
    field of its record. Objects under ids (of documents) are a list, and of several the fields
    count in which they agree.
    """
    inner = [field for column in sorted(literal) for field in _fields_of(frame[column])]
    return pl.DataFrame(
        [field for field in inner if field.name not in frame.columns and field.count()]
    )


def _fields_of(values: pl.Series) -> list[pl.Series]:
    objects = values.str.starts_with("{") | values.str.starts_with("[{")
    if not values.count() or objects.sum() < values.count():
        return []
    rows = [dict(_fields(json.loads(value or "{}"), "", MOST_DEPTH)) for value in values.to_list()]
    rows_with_key = Counter(name for row in rows for name in row)
    if len(rows_with_key) > MOST_KEYS:  # ids are keys of one object each, names of fields of most
        rows_with_key = Counter(
            {name: n for name, n in rows_with_key.items() if n > values.count() / 2}
        )
    return [
        pl.Series(values.name + name, [row.get(name) for row in rows], dtype=pl.String)
        for name in (rows_with_key if len(rows_with_key) <= MOST_KEYS else ())
    ]


def _fields(value: object, path: str, depth: int) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping) and value and all(map(str.isdecimal, value)):
        first, *others = (dict(_fields(inner, path, depth)).items() for inner in value.values())
        yield from filter(set(first).intersection(*others).__contains__, first)
    elif isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _fields(inner, f"{path}.{key}", depth - 1)
    elif path and _is_field(value):
        yield path, as_text(value)


def _is_field(value: object) -> bool:
    """Whether this is one value: a list of several texts is none, and an empty text neither."""
    if isinstance(value, list):
        return len(value) == 1 and _is_field(value[0])
    return value != "" and not isinstance(value, Mapping)


Read = RawTable | NotATable | UnreadableFile


def shared_tables(
    members: Sequence[Member], options: ReadOptions, progress: Progress
) -> list[Read]:
    """The table of each member, or why it has none; nothing at all where the run does not share its
    work.
    """
    if not shares() or len(members) < 2:
        return []
    shards = [
        {**_stamp(bundle.path, name), "member": name, "options": asdict(options)}
        for bundle, name in members
    ]
    with place() as here:
        outputs = run_stage(do_table, shards, folder=here, name="files", progress=progress)
        return [_opened(output) for output in outputs]


def _stamp(path: Path, name: str) -> JsonObject:
    """Where it is, and the digest of its file: one that was changed after a stop is read again."""
    return {
        "path": str(path.absolute()),
        "file": reads(path / name if (path / name).is_file() else path),
    }


def do_table(shard: Any, output: Path) -> None:
    """Read one member of a folder, an archive or a file."""
    output.mkdir()
    about: JsonObject = {}
    try:
        with Bundle.open(shard["path"]) as bundle:
            table = read_table(
                bundle, shard["member"], ReadOptions(**shard["options"]), HEADER_WORDS
            )
    except NotATable as error:
        about["no_table"] = [error.problem, error.todo]
    except UnreadableFile as error:
        about["unreadable"] = [error.problem, error.todo]
    else:
        write_parquet(table.frame, output / _FRAME)
        about = {
            **vars(table),
            "frame": None,
            "layout": asdict(table.layout),
            "literal": sorted(table.literal),
            "refused": vars(table.refused),
        }
    (output / _ABOUT).write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")


def _opened(folder: Path) -> Read:
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    if "no_table" in about:
        return NotATable(*about["no_table"])
    if "unreadable" in about:
        return UnreadableFile(*about["unreadable"])
    reasons, listed, unit = about["refused"].values()
    return RawTable(
        **about
        | {
            "frame": read_parquet(folder / _FRAME),
            "layout": FileLayout(**about["layout"]),
            "literal": frozenset(about["literal"]),
            "refused": Refused(Counter(reasons), [(line, why) for line, why in listed], unit),
        }
    )
