"""Read one member of a bundle, whatever it is, into a table of text."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.core.words import several
from claimlab.files.bundle import Bundle, DatabaseTable
from claimlab.files.card import classes_of, name_classes
from claimlab.files.delimited import read_delimited_file
from claimlab.files.encoding import read_text
from claimlab.files.excel import read_excel_file
from claimlab.files.kinds import HEAD_BYTES, kind_of
from claimlab.files.layout import FileLayout, ReadOptions
from claimlab.files.objects import read_json_file
from claimlab.files.parquet import as_table, left_out, own_words, read_typed
from claimlab.files.raw import RawTable, Refused, typed_table
from claimlab.files.sqlite import rows_in
from claimlab.files.xml import read_xml_file


def read_table(
    bundle: Bundle, member: str, options: ReadOptions, usual_names: frozenset[str] = frozenset()
) -> RawTable:
    """The table in `member`; `known` holds usual column names, which tell a header from a first
    row. Numbers that the folder, or the file itself, has names for are these names.
    """
    if (stored := bundle.table(member)) is not None:
        return _of_database(stored, member)
    kind = kind_of(bundle.head(member, HEAD_BYTES), bundle.size(member), member)
    path = bundle.local(member)
    data = b"" if path is not None else bundle.read(member)
    own = None
    if kind in ("parquet", "arrow"):
        table = as_table(read_typed(path or data, member), member, kind.capitalize())
        own = own_words(path or data)
    elif kind == "excel":
        table = read_excel_file(
            data or bundle.read(member), member, options.sheet, usual_names, options.header
        )
    elif kind in ("json", "xml"):
        text, encoding, notes = read_text(data or bundle.read(member), member, options.encoding)
        table = (read_json_file if kind == "json" else read_xml_file)(text, member, encoding)
        table.notes += notes
    else:
        table = read_delimited_file(path or data, member, options, usual_names)
    name_classes(table, *classes_of(bundle, member, own))
    return table


def _of_database(stored: DatabaseTable, name: str) -> RawTable:
    """A table of a database; columns of bytes are left out."""
    names, rows = rows_in(stored.database, stored.name, name)
    binary = [column for column in names if any(isinstance(row[column], bytes) for row in rows)]
    texts = [column for column in names if column not in binary]
    table = typed_table(rows, name, FileLayout("SQLite"), Refused(), texts)
    if binary:
        table.notes.append(left_out(name, binary))
    return table


def typed_member(bundle: Bundle, member: str) -> pl.DataFrame:
    """The rows of a Parquet or Arrow file in a bundle, with their types; numbers of classes are
    their names.
    """
    source = bundle.local(member) or bundle.read(member)
    frame = read_typed(source, member)
    names, _ = classes_of(bundle, member, own_words(source))
    columns = [c for c in names if c in frame.columns and frame.schema[c].is_integer()]
    return frame.with_columns(
        pl.col(c).replace_strict(dict(enumerate(names[c])), default=None, return_dtype=pl.String)
        for c in columns
    )


def user_table(source: Bundle | Path, *columns: str, member: str | None = None) -> pl.DataFrame:
    """A table that a user passes in (predictions, decisions, edges): a file, or one member of an
    archive.

    `columns` are names that it may have; they tell a header from a first row. A row that cannot be
    read is an error, because no one would miss it later.
    """
    if isinstance(source, Path):
        with Bundle.open(source) as bundle:
            return user_table(bundle, *columns, member=member)
    table = read_table(source, member or source.names()[0], ReadOptions(), frozenset(columns))
    if table.refused.total:
        line, reason = table.refused.listed[0]
        raise UnreadableFile(
            f"'{table.name}' has {several(table.refused.total, 'row')} that cannot be read; the"
            f" first is {table.refused.unit} {line} ({reason}).",
            "Fix these rows.",
        )
    return table.frame
