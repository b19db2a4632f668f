"""Tables from bytes, every column as text: delimited, JSON, JSON lines, Parquet.

Loaders of the catalogue name the layout they expect; `claimlab import` finds it out
(files.delimited, files.objects).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from claimlab.core import tables
from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.files.raw import as_text, unique_names

csv.field_size_limit(1 << 30)
T = TypeVar("T", JsonObject, list[Any])


def read_delimited(
    text: str,
    *,
    delimiter: str = ",",
    quoted: bool = True,
    columns: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Delimited text as a frame of strings. `columns` names the columns when there is no header.

    Short rows are filled with null and long rows keep their surplus in the last column: loaders
    know their files.
    """
    # not splitlines(): it also splits at U+2028 and other marks that occur inside texts
    lines: Iterable[str] = (
        io.StringIO(text, newline="") if quoted else re.split(r"\r\n|\n|\r", text)
    )
    reader = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    rows = [row for row in reader if row]
    if columns is None:
        if not rows:
            return pl.DataFrame()
        columns, rows = unique_names(rows[0]), rows[1:]
    names = list(columns)
    width = len(names)
    fixed = [
        [*r, *[None] * (width - len(r))] if len(r) < width else _fold(r, width, delimiter)
        for r in rows
    ]
    return pl.DataFrame(fixed, schema=dict.fromkeys(names, pl.String), orient="row")


def read_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"'{name}' is not JSON (line {error.lineno}: {error.msg}).", "Fix it or get it again."
        ) from None
    except ValueError as error:  # a number of 5,000 digits
        raise UnreadableFile(f"'{name}' is not JSON: {str(error)[:80]}.", "Fix it.") from None
    except RecursionError:
        raise UnreadableFile(
            f"'{name}' is JSON nested too deeply to be data.", "Get it again."
        ) from None


def read_json_as(text: str, name: str, kind: type[T]) -> T:
    """JSON whose outermost value must be a `dict` or a `list`."""
    value = read_json(text, name)
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise UnreadableFile(
            f"'{name}' is JSON, but not {wanted}.", "Give the file as its authors publish it."
        )
    return value


def read_json_lines(text: str, name: str) -> list[JsonObject]:
    """One object per line; a broken line raises with its number."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UnreadableFile(
                f"Line {number} of '{name}' is not JSON ({error.msg}).", "Fix that line."
            ) from None
        if not isinstance(row, dict):
            raise UnreadableFile(
                f"Line {number} of '{name}' is not a JSON object.", "Write one object per line."
            )
        rows.append(row)
    return rows


def frame_of(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Objects as a frame of strings: nested values as JSON text, null kept, columns in order of
    first appearance.
    """
    rows = list(rows)
    names = (
        list(columns)
        if columns is not None
        else list(dict.fromkeys(k for row in rows for k in row))
    )
    data = {n: pl.Series(n, [as_text(row.get(n)) for row in rows], dtype=pl.String) for n in names}
    return pl.DataFrame(data)


def read_parquet(data: bytes, name: str) -> pl.DataFrame:
    try:
        return tables.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        words = str(error).split("\n")[0]
        raise UnreadableFile(f"'{name}' is not Parquet: {words}.", "Get it again.") from None


def _fold(row: list[str], width: int, delimiter: str) -> list[str | None]:
    return [*row[: width - 1], delimiter.join(row[width - 1 :])] if len(row) > width else list(row)
