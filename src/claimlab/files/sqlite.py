"""Tables from SQLite databases, which are untrusted: opened for reading only, no view or virtual
table is touched, no value may be longer than the file, and a table is refused that claims more than
fits into it.

Another program may be writing to a database, or was killed while it did. No lock is taken and
nothing beside the file is made or changed. A file with a log or a journal beside it is copied with
it, and what was not committed is undone in the copy. Where a file changes meanwhile it is read
again, and refused if it does not come to rest. A journal that names another one, as a change of
several databases leaves it, is refused: to undo it, SQLite deletes the file of that name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from claimlab.core.bounds import FREE_BYTES, refuse_many, refuse_table
from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject

MAGIC = b"SQLite format 3\0"
SUFFIXES = (".sqlite", ".sqlite3", ".db", ".db3")
LEAST_CHARACTERS = 1 << 16  # characters that a value may have, however small the file is
MOST_TABLES = 1_000  # each is asked for by itself, which reads the names of all of them
_ROW_BYTES = 4  # bytes that the smallest row takes in a file
LOGS = ("-wal", "-journal")  # of changes that are not in the file yet, or not to stay in it
WAIT_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds before a file that changed is read again
HEADER_BYTES = 100  # bytes; a commit changes a number in them
NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")  # at the end of a journal
# SQLite begins the words of every table like this; what others may have put there is left alone.
# An index for search is a virtual table, which keeps its rows in tables that begin with its name.
_TABLES = r"""
select name from sqlite_master as one
where type = 'table' and name not like 'sqlite\_%' escape '\' and sql like 'create table %'
and not exists (
  select 1 from sqlite_master as index_
  where index_.sql like 'create virtual%' and one.name like index_.name || '\_%' escape '\'
)
order by rowid
"""


Answer = TypeVar("Answer")
Work = Callable[[sqlite3.Connection, int], Answer]  # with the bytes of the file
Stamp = dict[Path, tuple[int, int, bytes]]


def tables_in(source: Path | bytes, name: str) -> list[str]:
    tables = _read(source, name, lambda base, _: [table for (table,) in base.execute(_TABLES)])
    refuse_many(name, len(tables), "tables", MOST_TABLES)
    return tables


def rows_in(source: Path | bytes, table: str, name: str) -> tuple[list[str], list[JsonObject]]:
    """The columns and rows of a table."""
    quoted = '"{}"'.format(table.replace('"', '""'))

    def work(database: sqlite3.Connection, size: int) -> tuple[list[str], list[JsonObject]]:
        names = [row[1] for row in database.execute(f"pragma table_info({quoted})")]
        columns = ", ".join(
            '"{}"'.format(name_of_column.replace('"', '""')) for name_of_column in names
        )
        rows: list[JsonObject] = []
        needed = 0
        for row in database.execute(f"select {columns} from {quoted}"):
            needed += sum(map(sys.getsizeof, row))
            rows.append(dict(zip(names, row, strict=True)))
            if len(rows) * _ROW_BYTES > size:
                raise sqlite3.DatabaseError("it claims more rows than fit into it")
            if needed > FREE_BYTES:
                refuse_table(name, len(rows), needed, size)
        return names, rows

    return _read(source, name, work)


def _read(source: Path | bytes, name: str, work: Work[Answer]) -> Answer:
    """What `work` finds in a database that does not change meanwhile."""
    try:
        if isinstance(source, bytes):
            with contextlib.closing(sqlite3.connect(":memory:")) as database:
                database.deserialize(source)
                return _ask(database, len(source), work)
        for wait in WAIT_SECONDS:
            before = _stamp(source)
            with contextlib.suppress(_Changed):
                return _at_rest(source, before, work)
            time.sleep(wait)
    except sqlite3.Error as error:
        raise UnreadableFile(
            f"'{name}' cannot be read as an SQLite database: {error}.", "Get it again."
        ) from None
    raise UnreadableFile(
        f"'{name}' is being written by another program: it changed each time it was read.",
        "Close that program, or give a copy of the database.",
    )


class _Changed(Exception):
    pass


def _stamp(source: Path) -> Stamp:
    """Size, time of change and header of a database, and of what is beside it."""
    out: Stamp = {}
    beside = [source.with_name(source.name + log) for log in LOGS]
    for path in (source, *(path for path in beside if path.is_file() and not path.is_symlink())):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            about = os.fstat(file.fileno())
            if path == source or about.st_size:
                out[path] = (about.st_size, about.st_mtime_ns, file.read(HEADER_BYTES))
    return out


def _at_rest(source: Path, before: Stamp, work: Work[Answer]) -> Answer:
    """What `work` finds in a database as it is, or in a copy of it and of the logs beside it."""
    size = sum(about[0] for about in before.values())
    if len(before) == 1:
        try:
            answer = _asked(f"{source.absolute().as_uri()}?immutable=1", size, work)
        except sqlite3.Error:
            _refuse_changed(source, before)
            raise
        _refuse_changed(source, before)
        return answer
    with tempfile.TemporaryDirectory(prefix="claimlab-") as folder:
        place = Path(folder) / source.name
        for path in before:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(path, place.with_name(path.name))
        _refuse_changed(source, before)
        if any(map(_names_another, Path(folder).glob("*-journal"))):
            raise sqlite3.DatabaseError("its journal names a file that would be deleted")
        return _asked(f"{place.as_uri()}?mode=rw", size, work)


def _refuse_changed(source: Path, before: Stamp) -> None:
    if _stamp(source) != before:
        raise _Changed from None


def _asked(uri: str, size: int, work: Work[Answer]) -> Answer:
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
        return _ask(database, size, work)


def _names_another(journal: Path) -> bool:
    """Whether a journal that is to be undone ends in the name of another one."""
    with journal.open("rb") as file:
        begun = file.read(1) != b"\0"
        file.seek(-min(len(NAMES_ANOTHER), journal.stat().st_size), os.SEEK_END)
        return begun and file.read() == NAMES_ANOTHER


def _ask(database: sqlite3.Connection, size: int, work: Work[Answer]) -> Answer:
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, LEAST_CHARACTERS))
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    database.execute("pragma trusted_schema = off")
    return work(database, size)
