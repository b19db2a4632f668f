"""A table from a Parquet or Arrow file, typed or as text: times as ISO 8601, all else but text as
JSON values.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from claimlab.core.bounds import refuse_proportion, refuse_table, refuse_wide
from claimlab.core.declared import room_of
from claimlab.core.errors import UnreadableFile
from claimlab.files.layout import FileLayout
from claimlab.files.raw import RawTable, json_of, unique_names
from claimlab.files.source import opened, size_of

STREAM, ARROW = b"\xff\xff\xff\xff", b"ARROW1"  # the first bytes of the two forms of Arrow files
_VIEW, _SMALL = 16, 1 << 20  # bytes of any value in memory; a table that needs no second look
ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def read_typed(source: Path | bytes, name: str) -> pl.DataFrame:
    """The rows of a Parquet or Arrow file with their types."""
    start = _start(source)
    kind = "Arrow" if start.startswith((STREAM, ARROW)) else "Parquet"
    file = source if isinstance(source, Path) else io.BytesIO(source)
    size = size_of(source)
    with opened(source) as raw:
        refuse_proportion(f"'{name}'", room_of(raw, name, kind), size)
    try:
        with _panics_unprinted():
            if kind == "Parquet":
                frame = _bounded(pl.scan_parquet(file, glob=False), size, name)
            elif start.startswith(STREAM):
                frame = pl.read_ipc_stream(file)
            else:
                frame = _bounded(pl.scan_ipc(file), size, name)
    except ERRORS as error:
        words = str(error).split("\n")[0]
        raise UnreadableFile(f"'{name}' is not whole {kind}: {words}.", "Get it again.") from None
    refuse_wide(frame.width, name)
    # a value that many rows share takes its room once, until it is written as text
    refuse_proportion(f"'{name}'", int(frame.estimated_size()), size)
    return frame


def own_words(source: Path | bytes) -> str | None:
    """What the `datasets` library says in a Parquet file of its columns."""
    if _start(source).startswith((STREAM, ARROW)):
        return None
    file = source if isinstance(source, Path) else io.BytesIO(source)
    return pl.read_parquet_metadata(file).get("huggingface")


def _start(source: Path | bytes) -> bytes:
    with opened(source) as file:
        return file.read(8)


def as_table(frame: pl.DataFrame, name: str, form: str) -> RawTable:
    """A typed frame as a table of text; `form` is the format it was read from."""
    columns, literal, binary = _from_typed_frame(frame)
    table = RawTable(name, columns, FileLayout(form), literal)
    if binary:
        table.notes.append(left_out(name, binary))
    return table


def left_out(name: str, columns: Sequence[str]) -> str:
    return f"Columns of '{name}' that hold no text, left out: {', '.join(columns)}."


def _bounded(scan: pl.LazyFrame, size: int, name: str) -> pl.DataFrame:
    """The rows of a file; one that would fill the memory is refused first."""
    schema = scan.collect_schema()
    refuse_wide(len(schema), name)
    rows = int(scan.select(pl.len()).collect().item())
    refuse_table(name, rows, rows * len(schema) * _VIEW, size)
    texts = [
        pl.col(column).str.len_bytes().cast(pl.UInt64).sum()
        for column, kind in schema.items()
        if kind == pl.String
    ]
    if texts and rows * len(texts) * _VIEW > _SMALL:
        written = scan.select(texts).collect(engine="streaming").sum_horizontal().item() or 0
        refuse_table(name, rows, int(written) + rows * len(schema) * _VIEW, size)
    return scan.collect()


@contextlib.contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Keep the backtrace that Rust prints for a damaged file off the terminal; anything else is
    printed after all.
    """
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (OSError, ValueError, AttributeError):  # there is no stderr
        yield
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            words = file.read()
            if b"panicked" not in words:
                os.write(2, words)


def _from_typed_frame(frame: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[str], list[str]]:
    """Text columns as they are, times as ISO 8601 in UTC, everything else as JSON values; binary
    columns left out.
    """
    frame.columns = unique_names(frame.columns)
    out, literal, left_out = [], set(), []
    for column, dtype in frame.schema.items():
        if dtype == pl.Binary:
            left_out.append(column)
        elif dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            out.append(pl.col(column).cast(pl.String))
        elif isinstance(dtype, pl.Datetime):
            time = pl.col(column).dt.convert_time_zone("UTC") if dtype.time_zone else pl.col(column)
            out.append(time.dt.strftime("%Y-%m-%dT%H:%M:%S%.f"))
        elif dtype in (pl.Date, pl.Time, pl.Duration):
            out.append(pl.col(column).cast(pl.String))
        else:
            literal.add(column)
            out.append(
                (_number(frame[column]) if dtype.is_float() else json_of(column)).alias(column)
            )
    blank_free = frame.select(out).with_columns(pl.when(pl.all() != "").then(pl.all()))
    return blank_free, frozenset(literal), left_out


def _number(column: pl.Series) -> pl.Expr:
    """Floats that are all whole are ids or counts that a gap turned into floats: written as
    integers again.
    """
    finite = pl.when(pl.col(column.name).is_finite()).then(pl.col(column.name))
    numbers = column.drop_nulls()
    numbers = numbers.filter(numbers.is_finite())
    if numbers.len() and ((numbers == numbers.round()) & (numbers.abs() < 2**53)).all():
        return finite.cast(pl.Int64).cast(pl.String)
    return finite.cast(pl.Float64).cast(pl.String)
