"""The one way to read a Parquet file: whoever wrote it, it may not fill the memory.

A column of equal values takes no room on disk, and all of it in memory. What the file declares is
held against its size before it is read, and the texts that it unpacked to are after; the limits are
those of an import (core/bounds).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import polars as pl

from claimlab.core.bounds import refuse_bomb, refuse_large, refuse_proportion, refuse_table
from claimlab.core.declared import NotDeclared, declared_room

_FILES_REMEMBERED = 4_096


def read_parquet(
    file: str | Path | IO[bytes], columns: Sequence[str] | None = None, **more: Any
) -> pl.DataFrame:
    """The rows of a Parquet file, or of some of its columns."""
    path = Path(file) if isinstance(file, str | Path) else None
    source: Any = file
    if path is not None:
        size, name = path.stat().st_size, path.name
        refuse_proportion(f"'{name}'", _room(path), size)
    else:
        size, name = source.seek(0, os.SEEK_END), "a table"
        source.seek(0)
        with suppress(NotDeclared):
            refuse_proportion("A table", declared_room(source, name, "Parquet"), size)
        source.seek(0)
    frame = pl.read_parquet(source, columns=None if columns is None else list(columns), **more)
    texts = [column for column, kind in frame.schema.items() if kind == pl.String]
    if texts:  # values that many rows share take their room once, until they are used
        lengths = [pl.col(column).str.len_bytes().cast(pl.UInt64).sum() for column in texts]
        refuse_table(name, frame.height, int(frame.select(lengths).sum_horizontal().item()), size)
    return frame


def scan_parquet(file: str | Path, **more: Any) -> pl.LazyFrame:
    """The rows of a Parquet file, to be read in parts."""
    path = Path(file)
    if path.is_file():
        refuse_bomb(f"'{path.name}'", _room(path), path.stat().st_size)
    return pl.scan_parquet(path, glob=False, **more)


def refuse_bombs(files: Sequence[Path]) -> None:
    """Raise where all the tables of a folder together would take more than one file may."""
    refuse_large(f"'{files[0].parent}'" if files else "", sum(map(_room, files)))


def _room(file: Path) -> int:
    if not file.is_file():
        return 0  # the reader says so
    state = file.stat()
    return _declared(file, state.st_size, state.st_mtime_ns)


@lru_cache(_FILES_REMEMBERED)
def _declared(file: Path, size: int, changed: int) -> int:  # noqa: ARG001 - they say which content
    try:
        with file.open("rb") as raw:
            return declared_room(raw, file.name, "Parquet")
    except NotDeclared:
        return 0  # a damaged file: the reader says what is wrong with it
