"""Tables from SQLite databases, which are untrusted: opened for reading only, no view or virtual
table is touched, and no value may be longer than the file.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.files.safety import refuse_large

MAGIC = b"SQLite format 3\0"
SUFFIXES = (".sqlite", ".sqlite3", ".db", ".db3")
LEAST = 1 << 16  # characters that a value may have, however small the file is
_CELL = 16  # bytes of any value in memory
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


def tables_in(source: Path | bytes, name: str) -> list[str]:
    with _opened(source, name) as database:
        return [table for (table,) in database.execute(_TABLES)]


def rows_in(source: Path | bytes, table: str, name: str) -> tuple[list[str], list[JsonObject]]:
    """The columns and rows of a table."""
    known = '"{}"'.format(table.replace('"', '""'))
    with _opened(source, name) as database:
        names = [row[1] for row in database.execute(f"pragma table_info({known})")]
        rows = database.execute(f"select count(*) from {known}").fetchone()[0]
        refuse_large(f"'{name}' ({rows:,} rows)", rows * len(names) * _CELL)
        columns = ", ".join('"{}"'.format(one.replace('"', '""')) for one in names)
        database.row_factory = sqlite3.Row
        return names, [dict(row) for row in database.execute(f"select {columns} from {known}")]


@contextlib.contextmanager
def _opened(source: Path | bytes, name: str) -> Iterator[sqlite3.Connection]:
    """A database that is only read: a file as it lies on disk, with what was written to its log."""
    try:
        if isinstance(source, Path):
            log = source.with_name(f"{source.name}-wal")
            mode = "mode=ro" if log.is_file() and log.stat().st_size else "immutable=1"
            database = sqlite3.connect(f"{source.absolute().as_uri()}?{mode}", uri=True)
            size = source.stat().st_size
        else:
            database, size = sqlite3.connect(":memory:"), len(source)
            database.deserialize(source)
        with contextlib.closing(database):
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, LEAST))
            database.text_factory = lambda raw: raw.decode("utf-8", "replace")
            database.execute("pragma trusted_schema = off")
            yield database
    except sqlite3.Error as error:
        raise UnreadableFile(
            f"'{name}' cannot be read as an SQLite database: {error}.", "Get it again."
        ) from None
