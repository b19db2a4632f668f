"""One sha256 for each kind of thing: a file, a table, a JSON value."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # asked for by what starts before a verb is known
    import polars as pl

# nanoseconds in which a file may be changed again without its time showing it
_COARSE_NANOSECONDS = 2_000_000_000
_known: dict[tuple[int, ...], str] = {}  # what a file was when it was hashed, and its hash


def digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_once(path: Path) -> str:
    """`digest_file` for what is asked for again in one run: a file is read once, as long as the
    file system says that nothing was changed.
    """
    state = path.stat()
    stamp = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    digest = _known.get(stamp) or digest_file(path)
    if time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns) > _COARSE_NANOSECONDS:
        _known[stamp] = digest
    return digest


def digest_tree(path: Path) -> str:
    """Of a file, or of all files of a folder with their names in it."""
    if not path.is_dir():
        return digest_once(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return digest_json({file.relative_to(path).as_posix(): digest_once(file) for file in files})


def digest_table(frame: pl.DataFrame) -> str:
    """Of the table as it would be written: equal tables give equal digests."""
    buffer = io.BytesIO()
    write_parquet(frame, buffer)
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def digest_json(value: object) -> str:
    """Of any JSON-safe value; keys in any order."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def write_parquet(frame: pl.DataFrame, target: Path | io.BytesIO) -> None:
    """Parquet with fixed settings, so that equal tables give equal bytes. A full disk is an
    OSError, as elsewhere.
    """
    from polars.exceptions import ComputeError

    try:
        frame.write_parquet(
            target, compression="zstd", compression_level=1, row_group_size=65_536, statistics=True
        )
    except ComputeError as error:
        from claimlab.core.shortage import was_disk  # asked only when something went wrong

        if was_disk(error) or "transport error" in str(
            error
        ):  # what Polars says when the end of the file is not written
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        raise
