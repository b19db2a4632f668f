"""How much one file may ask of this machine: bytes when unpacked, files in an archive, columns of a
table.

A small file can claim to be a huge one. Each reader asks here before it takes the room, and a file
that is refused is told with the limit and how to lift it.
"""

from __future__ import annotations

import os

from claimlab.core.errors import UnreadableFile

VARIABLE = "CLAIMLAB_LARGE_FILES"
UNPACKED = 4 << 30  # bytes of a whole archive, and of a table in memory
FREE = 256 << 20  # bytes that a table of any size may take
# of a table in memory to its file: text packs 3 to 20 times, columns of few values far better
RATIO = 200
MEMBERS = 25_000  # files in an archive
COLUMNS = 2_000
_TODO = f"If you trust it, set {VARIABLE}=1 and read it all the same."


def lifted() -> bool:
    """Whether this user reads files of any size; workers inherit it."""
    return bool(os.environ.get(VARIABLE))


def refuse_many(name: str, files: int) -> None:
    if files > MEMBERS and not lifted():
        raise UnreadableFile(
            f"'{name}' holds {files:,} files; at most {MEMBERS:,} are read.", _TODO
        )


def refuse_wide(columns: int, name: str) -> None:
    """A line of a million commas is not a table, and would cost as much as one of a million
    columns.
    """
    if columns > COLUMNS and not lifted():
        raise UnreadableFile(
            f"'{name}' seems to have {columns:,} columns; at most {COLUMNS:,} are read.",
            f"Say how it is laid out (`delimiter`, `quotes`). {_TODO}",
        )


def refuse_large(what: str, unpacked: int) -> None:
    if unpacked > UNPACKED and not lifted():
        raise UnreadableFile(
            f"{what} would take {unpacked / (1 << 30):,.1f} GB; at most {UNPACKED >> 30} GB are"
            " read.",
            _TODO,
        )


def refuse_table(name: str, rows: int, needed: int, size: int) -> None:
    """A column of equal values takes no room in a file, and all of it in memory."""
    refuse_large(f"'{name}' ({rows:,} rows)", needed)
    if needed > FREE and needed > RATIO * size and not lifted():
        raise UnreadableFile(
            f"'{name}' would take {needed / (1 << 30):,.1f} GB, {needed // max(1, size):,} times"
            " its size: it looks like a bomb.",
            _TODO,
        )
