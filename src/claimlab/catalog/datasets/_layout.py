"""What several loaders need of foreign files: objects from JSON of either shape, columns that must be there, side tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.core.record import SIDE_TABLES
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_json, read_json_lines


def read_objects(bundle: Bundle, name: str, required: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The objects of a JSON array or of JSON lines: the same dataset circulates as both."""
    text = bundle.text(name)
    if not text.lstrip().startswith("["):
        rows = read_json_lines(text, name)
    else:
        rows = read_json(text, name)
        if not all(isinstance(row, dict) for row in rows):
            raise UnreadableFile(f"'{name}' holds something other than objects.", "Give the file as published.")
    for number, row in enumerate(rows, 1):
        _require([c for c in required if c not in row], f"Object {number} of '{name}'")
    return rows


def checked(frame: pl.DataFrame, required: Sequence[str], name: str) -> pl.DataFrame:
    """`frame` with its header in lower case; copies of these files circulate with headers in any case."""
    lower = {c: c.strip().lower() for c in frame.columns}
    if len(set(lower.values())) == len(lower):
        frame = frame.rename(lower)
    _require([c for c in required if c not in frame.columns], f"'{name}'")
    return frame


def distinct(ids: pl.Series) -> pl.Series:
    """`ids` with "-2", "-3" ... behind those that came before: a file may hold a tweet, or a rounded id, twice."""
    frame = pl.DataFrame({"id": ids})
    earlier = pl.int_range(pl.len()).over("id")
    again = pl.format("{}-{}", "id", earlier + 1)
    return frame.select(pl.when(earlier == 0).then("id").otherwise(again))["id"]


def side_table(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """`rows` as the side table `table`; columns that a row does not name are null."""
    schema = SIDE_TABLES[table]
    return pl.DataFrame({c: pl.Series(c, v, dtype=schema[c]) for c, v in _columns(list(rows), schema).items()})


def _columns(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, pl.DataType]) -> dict[str, list[Any]]:
    return {column: [row.get(column) for row in rows] for column in schema}


def _require(missing: Sequence[str], where: str) -> None:
    if missing:
        raise UnreadableFile(
            f"{where} has no {' or '.join(repr(c) for c in missing)}.", "Give the file as its authors publish it."
        )
