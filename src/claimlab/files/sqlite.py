"""Tables from SQLite databases, which are untrusted: opened for reading only, no view or virtual
table is touched, and no value may be longer than the file.

Another program may be writing to a database, or was killed while it did. No lock is taken and
nothing beside the file is made or changed. A file with a log or a journal beside it is copied with
it, and what was not committed is undone in the copy. Where a file changes meanwhile it is read
again, and refused if it does not come to rest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.files.safety import refuse_large

MAGIC = b"SQLite format 3\0"
SUFFIXES = (".sqlite", ".sqlite3", ".db", ".db3")
LEAST = 1 << 16  # characters that a value may have, however small the file is
_CELL = 16  # bytes of any value in memory
LOGS = ("-wal", "-journal")  # of changes that are not in the file yet, or not to stay in it
WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds before a file that changed is read again
HEADER = 100  # bytes; a commit changes a number in them
# an index for search is a virtual table, which keeps its rows in tables that begin with its name
_TABLES = r"""
select name from sqlite_master as one
where type = 'table' and name not like 'sqlite\_%' escape '\' and sql not like 'create virtual%'
and not exists (
  select 1 from sqlite_master as index_
  where index_.sql like 'create virtual%' and one.name like index_.name || '\_%' escape '\'
)
order by rowid
"""


Found = TypeVar("Found")
Work = Callable[[sqlite3.Connection], Found]
Stamp = dict[Path, tuple[int, int, bytes]]


def tables_in(source: Path | bytes, name: str) -> list[str]:
    return _read(source, name, lambda base: [table for (table,) in base.execute(_TABLES)])


def rows_in(source: Path | bytes, table: str, name: str) -> tuple[list[str], list[JsonObject]]:
    """The columns and rows of a table."""
    known = '"{}"'.format(table.replace('"', '""'))

    def work(database: sqlite3.Connection) -> tuple[list[str], list[JsonObject]]:
        names = [row[1] for row in database.execute(f"pragma table_info({known})")]
        rows = database.execute(f"select count(*) from {known}").fetchone()[0]
        refuse_large(f"'{name}' ({rows:,} rows)", rows * len(names) * _CELL)
        columns = ", ".join('"{}"'.format(one.replace('"', '""')) for one in names)
        database.row_factory = sqlite3.Row
        return names, [dict(row) for row in database.execute(f"select {columns} from {known}")]

    return _read(source, name, work)


def _read(source: Path | bytes, name: str, work: Work[Found]) -> Found:
    """What `work` finds in a database that does not change meanwhile."""
    try:
        if isinstance(source, bytes):
            with contextlib.closing(sqlite3.connect(":memory:")) as database:
                database.deserialize(source)
                return _found(database, len(source), work)
        for wait in WAITS:
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
    for path in (source, *(source.with_name(source.name + log) for log in LOGS)):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            about = os.fstat(file.fileno())
            if path == source or about.st_size:
                out[path] = (about.st_size, about.st_mtime_ns, file.read(HEADER))
    return out


def _at_rest(source: Path, before: Stamp, work: Work[Found]) -> Found:
    copied = len(before) > 1
    size = sum(about[0] for about in before.values())
    with tempfile.TemporaryDirectory(prefix="claimlab-") as folder:
        place = Path(folder) / source.name if copied else source.absolute()
        for path in before if copied else ():
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(path, place.with_name(path.name))
        if copied and _stamp(source) != before:
            raise _Changed
        uri = f"{place.as_uri()}?{'mode=rw' if copied else 'immutable=1'}"
        try:
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
                found = _found(database, size, work)
        except sqlite3.Error:
            if copied or _stamp(source) == before:
                raise
            raise _Changed from None
    if not copied and _stamp(source) != before:
        raise _Changed
    return found


def _found(database: sqlite3.Connection, size: int, work: Work[Found]) -> Found:
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, LEAST))
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    database.execute("pragma trusted_schema = off")
    return work(database)
