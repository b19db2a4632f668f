"""A table that a person hands in (decisions, fact-checks), read by what its file name ends in."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.files.encoding import decode
from claimlab.files.tables import frame_of, read_delimited, read_excel, read_json_as, read_json_lines, read_parquet


def read_table(path: Path) -> pl.DataFrame:
    """CSV, TSV, JSON (a list of objects), JSON Lines, Parquet or Excel; an empty cell is null."""
    if not path.is_file():
        raise UnreadableFile(f"There is no file '{path}'.", "Check the path.")
    data, kind = path.read_bytes(), path.suffix.lower()
    if kind in (".csv", ".tsv"):
        frame = read_delimited(decode(data, path.name), delimiter="," if kind == ".csv" else "\t")
    elif kind in (".jsonl", ".ndjson"):
        frame = frame_of(read_json_lines(decode(data, path.name), path.name))
    elif kind == ".json":
        rows = read_json_as(decode(data, path.name), path.name, list)
        if not all(isinstance(row, dict) for row in rows):
            raise UnreadableFile(f"'{path.name}' is not a list of objects.", "Write one object per row.")
        frame = frame_of(rows)
    elif kind == ".parquet":
        frame = read_parquet(data, path.name)
    elif kind == ".xlsx":
        frame = read_excel(data, path.name)
    else:
        raise UsageError(
            f"'{path.name}' is no table that is known.", "Give .csv, .tsv, .json, .jsonl, .parquet or .xlsx."
        )
    text = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(
        pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name)).alias(name) for name in text
    )
