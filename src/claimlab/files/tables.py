"""Tables from bytes, every column as text: delimited, JSON, JSON lines, Parquet, Excel.

Loaders of the catalogue name the layout they expect; `claimlab import` finds it out (files.delimited, files.objects).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.files.raw import unique_names

csv.field_size_limit(1 << 30)
T = TypeVar("T", dict[str, Any], list[Any])


def read_delimited(
    text: str,
    *,
    delimiter: str = ",",
    quoted: bool = True,
    header: bool = True,
    columns: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Delimited text as a frame of strings. `columns` names the columns when there is no header.

    Short rows are filled with null and long rows keep their surplus in the last column: loaders know their files.
    """
    # not splitlines(): it also splits at U+2028 and other marks that stand inside texts
    lines: Iterable[str] = io.StringIO(text, newline="") if quoted else re.split(r"\r\n|\n|\r", text)
    reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    rows = [row for row in reader if row]
    if header and not rows:
        return pl.DataFrame()
    names = list(columns) if columns is not None else unique_names(rows[0] if header else _numbered(rows))
    body = rows[1:] if header else rows
    width = len(names)
    fixed = [[*r, *[None] * (width - len(r))] if len(r) < width else _fold(r, width, delimiter) for r in body]
    return pl.DataFrame(fixed, schema=dict.fromkeys(names, pl.String), orient="row")


def read_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"'{name}' is not JSON (line {error.lineno}: {error.msg}).", "Mend or get it again."
        ) from None
    except RecursionError:
        raise UnreadableFile(f"'{name}' is JSON nested too deeply to be data.", "Get it again.") from None


def read_json_as(text: str, name: str, kind: type[T]) -> T:
    """JSON whose outermost value must be a `dict` or a `list`."""
    value = read_json(text, name)
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise UnreadableFile(f"'{name}' is JSON, but not {wanted}.", "Give the file as its authors publish it.")
    return value


def read_json_lines(text: str, name: str) -> list[dict[str, Any]]:
    """One object per line; a broken line raises with its number."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UnreadableFile(f"Line {number} of '{name}' is not JSON ({error.msg}).", "Mend that line.") from None
        if not isinstance(row, dict):
            raise UnreadableFile(f"Line {number} of '{name}' is not a JSON object.", "Write one object per line.")
        rows.append(row)
    return rows


def frame_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Objects as a frame of strings: nested values as JSON text, null kept, columns in order of first appearance."""
    rows = list(rows)
    names = list(columns) if columns is not None else list(dict.fromkeys(k for row in rows for k in row))
    data = {n: pl.Series(n, [as_text(row.get(n)) for row in rows], dtype=pl.String) for n in names}
    return pl.DataFrame(data)


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def read_parquet(data: bytes, name: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableFile(f"'{name}' is not Parquet: {error}.", "Get it again.") from None


def read_excel(data: bytes, name: str, sheet: str | int | None = None) -> pl.DataFrame:
    """One sheet of a workbook (the first by default), cells as text, first row as header. Formulas are never run."""
    rows, _, _ = excel_rows(data, name, sheet or 0)
    if not rows:
        return pl.DataFrame()
    names = unique_names([as_text(c) or "" for c in rows[0]])
    return frame_of(dict(zip(names, r, strict=False)) for r in rows[1:]) if rows[1:] else pl.DataFrame(schema=names)


def excel_rows(data: bytes, name: str, sheet: str | int | None = None) -> tuple[list[list[Any]], str, list[str]]:
    """The rows of one sheet that are not blank, its title, and the titles of the others that hold anything.

    `sheet` is a title or a number from 0; null takes the first sheet with a row.
    """
    import openpyxl  # read on demand

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        pages = {page.title: page for page in book.worksheets}
        if isinstance(sheet, str) and sheet not in pages:
            raise UnreadableFile(
                f"'{name}' has no sheet '{sheet}'.", f"Name one of its sheets: {', '.join(map(repr, pages))}."
            )
        if isinstance(sheet, int) and sheet >= len(pages):
            raise UnreadableFile(f"'{name}' has only {len(pages)} sheet(s).", "Name one of its sheets.")
        wanted = [sheet] if isinstance(sheet, str) else [list(pages)[sheet]] if isinstance(sheet, int) else list(pages)
        rows: list[list[Any]] = []
        title = wanted[0] if wanted else ""
        for title in wanted:
            rows = _sheet_rows(pages[title])
            if rows:
                break
        others = [t for t, page in pages.items() if t != title and _sheet_rows(page, at_most=1)]
    except UnreadableFile:
        raise
    except Exception as error:  # openpyxl raises many kinds on a damaged file
        raise UnreadableFile(f"'{name}' is not an Excel workbook: {error}.", "Save it again as .xlsx.") from None
    return rows, title, others


def _sheet_rows(page: Any, at_most: int | None = None) -> list[list[Any]]:
    page.reset_dimensions()  # the declared size is a claim of the file; rows are read as they come
    rows: list[list[Any]] = []
    for cells in page.iter_rows(values_only=True):
        row = list(cells)
        if any(c is not None and c != "" for c in row):
            rows.append(row)
        if at_most is not None and len(rows) >= at_most:
            break
    return rows


def _fold(row: list[str], width: int, delimiter: str) -> list[str | None]:
    return [*row[: width - 1], delimiter.join(row[width - 1 :])] if len(row) > width else list(row)


def _numbered(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"column_{i + 1}" for i in range(max((len(r) for r in rows), default=0))]
