"""A table from a Parquet file: text as it is, times as ISO 8601, everything else as JSON values."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import MAX_RATIO, MAX_UNPACKED
from claimlab.files.raw import Layout, RawTable, unique_names
from claimlab.files.typed import json_of


def read_parquet_file(source: Path | bytes, name: str) -> RawTable:
    size = source.stat().st_size if isinstance(source, Path) else len(source)
    try:
        scan = pl.scan_parquet(source, glob=False) if isinstance(source, Path) else pl.scan_parquet(io.BytesIO(source))
        rows = int(scan.select(pl.len()).collect().item())
        _refuse_bomb(rows, len(scan.collect_schema()), size, name)
        frame = scan.collect()
        columns, literal, left_out = _from_typed_frame(frame)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        words = str(error).split("\n")[0]
        raise UnreadableFile(f"'{name}' is not whole Parquet: {words}.", "Get it again.") from None
    table = RawTable(name, columns, Layout("Parquet"), literal)
    if left_out:
        table.notes.append(f"Column(s) of '{name}' that hold no text were left out: {', '.join(left_out)}.")
    return table


def _refuse_bomb(rows: int, columns: int, size: int, name: str) -> None:
    """Equal values take no room in Parquet and 16 bytes each in memory."""
    needed = rows * columns * 16
    if needed > MAX_UNPACKED and needed > MAX_RATIO * size:
        raise UnreadableFile(
            f"'{name}' says it holds {rows:,} rows in {size / 1e6:.1f} MB: it looks like a bomb.",
            "Take the part you need out of it yourself if you trust it.",
        )


def _from_typed_frame(frame: pl.DataFrame) -> tuple[pl.DataFrame, frozenset[str], list[str]]:
    """Text columns as they are, times as ISO 8601 in UTC, everything else as JSON values; binary columns left out."""
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
            out.append((_number(frame[column]) if dtype.is_float() else json_of(column)).alias(column))
    blank_free = frame.select(out).with_columns(pl.when(pl.all() != "").then(pl.all()))
    return blank_free, frozenset(literal), left_out


def _number(column: pl.Series) -> pl.Expr:
    """Floats that are all whole are ids or counts that a gap turned into floats: written as integers again."""
    finite = pl.when(pl.col(column.name).is_finite()).then(pl.col(column.name))
    known = column.drop_nulls()
    known = known.filter(known.is_finite())
    if known.len() and ((known == known.round()) & (known.abs() < 2**53)).all():
        return finite.cast(pl.Int64).cast(pl.String)
    return finite.cast(pl.Float64).cast(pl.String)
