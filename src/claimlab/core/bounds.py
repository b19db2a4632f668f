"""How much one file may ask of this machine. A small file can claim to be a huge one: each reader
asks here before it takes the room, and a file that is refused is told with the limit and how to
lift it.
"""

from __future__ import annotations

import os

from claimlab.core.errors import UnreadableFile

VARIABLE = "CLAIMLAB_LARGE_FILES"
UNPACKED_BYTES = 4 << 30  # bytes of a whole archive, and of a table in memory
FREE_BYTES = 256 << 20  # bytes that a table of any size may take
# of a table in memory to its file: text packs 3 to 20 times, columns of few values far better
TABLE_RATIO = 200
MOST_MEMBERS = 25_000  # files in an archive
MOST_COLUMNS = 2_000
_TODO = f"If you trust it, set {VARIABLE}=1 and read it all the same."


def lifted() -> bool:
    """Whether this user reads files of any size; workers inherit it."""
    return bool(os.environ.get(VARIABLE))


def refuse_many(name: str, count: int, what: str = "files", most: int | None = None) -> None:
    most = MOST_MEMBERS if most is None else most
    if count > most and not lifted():
        raise UnreadableFile(f"'{name}' holds {count:,} {what}; at most {most:,} are read.", _TODO)


def refuse_wide(columns: int, name: str) -> None:
    """A line of a million commas is not a table, and would cost as much as one of a million
    columns.
    """
    if columns > MOST_COLUMNS and not lifted():
        raise UnreadableFile(
            f"'{name}' seems to have {columns:,} columns; at most {MOST_COLUMNS:,} are read.",
            f"Say how it is laid out (`delimiter`, `quotes`). {_TODO}",
        )


def refuse_large(what: str, unpacked: int) -> None:
    if unpacked > UNPACKED_BYTES and not lifted():
        raise UnreadableFile(
            f"{what} would take {unpacked / (1 << 30):,.1f} GB;"
            f" at most {UNPACKED_BYTES >> 30} GB are read.",
            _TODO,
        )


def refuse_table(name: str, rows: int, needed: int, size: int) -> None:
    refuse_proportion(f"'{name}' ({rows:,} rows)", needed, size)


def refuse_proportion(what: str, needed: int, size: int) -> None:
    """A column of equal values takes no room in a file, and all of it in memory."""
    refuse_large(what, needed)
    refuse_bomb(what, needed, size)


def refuse_bomb(what: str, needed: int, size: int) -> None:
    """A file may be large, where it is read in parts; out of proportion it may not be."""
    if needed > FREE_BYTES and needed > TABLE_RATIO * size and not lifted():
        raise UnreadableFile(
            f"{what} would take {needed / (1 << 30):,.1f} GB, {needed // max(1, size):,} times"
            " its size: it looks like a bomb.",
            _TODO,
        )
