"""Tables from files whose cells have types: JSON, JSON lines, Excel, Parquet. Text stays text; the rest becomes JSON.

A column in which any value is not text is kept as JSON values (`literal`), so that 5, true and ["a", "b"] are still
that when they travel on; `literal_text` reads them as plain text.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.files import sniff
from claimlab.files.bundle import MAX_RATIO, MAX_UNPACKED, check_archive
from claimlab.files.raw import Layout, RawTable, Refused, unique_names
from claimlab.files.tables import as_text, excel_rows

BAD_JSON = "not valid JSON"
NOT_OBJECT = "not a JSON object"
_DEEP = "nested too deeply"
# What people call the list of records in an object; a list of another name may be part of one record.
_TABLE_KEYS = ("data", "records", "rows", "items", "examples", "claims", "results", "documents", "articles", "tweets",
               "posts", "instances", "samples", "train", "dev", "test")  # fmt: skip
_TODO_JSON = "Give a list of objects, one object per line, or an object that holds one list of them."


def read_json_file(text: str, name: str, encoding: str) -> RawTable:
    """A JSON file (a list of objects, or an object around one) or JSON lines, told apart by content."""
    lines = name.lower().endswith((".jsonl", ".ndjson")) and not text.lstrip().startswith("[")
    if lines or _is_lines(text):
        return _json_lines(text, name, encoding)
    try:
        value = json.loads(text)
    except RecursionError:
        raise UnreadableFile(f"'{name}' is {_DEEP} to be a table.", _TODO_JSON) from None
    except ValueError as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise UnreadableFile(f"'{name}' is not JSON ({where}).", "Mend it or get it again.") from None
    rows = _rows_of(value)
    if rows is None:
        raise UnreadableFile(f"'{name}' is JSON, but holds no list of records.", _TODO_JSON)
    refused = Refused(unit="record")
    kept = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            kept.append(row)
        else:
            refused.add(number, NOT_OBJECT, f"{NOT_OBJECT}: {json.dumps(row, ensure_ascii=False)[:40]}")
    return _typed(kept, name, Layout("JSON", encoding), refused)


def read_excel_file(data: bytes, name: str, sheet: str | None, known: frozenset[str], header: bool | None) -> RawTable:
    """One sheet of a workbook: the named one, or the first that holds anything. Formulas are never run."""
    check_archive(io.BytesIO(data), name)
    cells, title, others = excel_rows(data, name, sheet)
    width = max((len(row) for row in cells), default=0)
    cells = [[*row, *[None] * (width - len(row))] for row in cells]
    if not cells:
        raise UnreadableFile(f"'{name}' holds an empty sheet.", "Name another with --sheet.")
    words = [[as_text(c) or "" for c in row] for row in cells[: sniff.ROWS]]
    named = sniff.has_header(words, known) if header is None else header
    names = unique_names(words[0] if named else [""] * width)
    rows = [dict(zip(names, row, strict=True)) for row in (cells[1:] if named else cells)]
    table = _typed(rows, name, Layout("Excel", header=named), Refused(), names)
    if others:
        shown = ", ".join(f"'{o}'" for o in others[:5]) + (", …" if len(others) > 5 else "")
        table.notes.append(f"Only the sheet '{title}' of '{name}' was read; it also has {shown} (see --sheet).")
    return table


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


def literal_text(column: pl.Series) -> pl.Series:
    """A column of JSON values as plain text: "a" loses its quotes, everything else stays as it is written."""
    quoted = column.str.starts_with('"')
    if not quoted.any():
        return column
    plain = [json.loads(v) if v is not None and v.startswith('"') else v for v in column.to_list()]
    return pl.Series(column.name, plain, dtype=pl.String)


def json_of(column: str) -> pl.Expr:
    """Any column as JSON values. Polars encodes structs only, so it is wrapped in one and unwrapped again."""
    whole = pl.struct(pl.col(column).alias("v")).struct.json_encode()
    return pl.when(pl.col(column).is_not_null()).then(whole.str.strip_prefix('{"v":').str.strip_suffix("}"))


def _is_lines(text: str) -> bool:
    """Whether each line is a value of its own: the first line is a whole object and another line follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.lstrip().startswith("{"):
        return False
    try:
        json.loads(first)
    except RecursionError:
        return bool(rest.strip())
    except ValueError:
        second = rest.lstrip()[:1]
        return first.rstrip().endswith("}") and second == "{"  # a broken first line of many
    return bool(rest.strip())


def _json_lines(text: str, name: str, encoding: str) -> RawTable:
    refused = Refused()
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except RecursionError:
            refused.add(number, BAD_JSON, _DEEP)
            continue
        except ValueError as error:
            words = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            refused.add(number, BAD_JSON, f"{BAD_JSON}: {words}")
            continue
        if isinstance(row, dict):
            rows.append(row)
        else:
            refused.add(number, NOT_OBJECT)
    return _typed(rows, name, Layout("JSON lines", encoding), refused)


def _rows_of(value: Any) -> Sequence[Any] | None:
    """The records in a JSON value, in the shapes that people write tables in."""
    if isinstance(value, list):
        if value and all(isinstance(v, str | int) and not isinstance(v, bool) for v in value):
            return [{"value": v} for v in value]
        return value or None
    if not isinstance(value, dict) or not value:
        return None
    lists = {k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
    if len(lists) == 1 and (next(iter(lists)).lower() in _TABLE_KEYS or len(value) == 1):
        return next(iter(lists.values()))  # {"version": 1, "data": [{...}, ...]}
    inner = list(value.values())
    if all(isinstance(v, list) for v in inner) and len({len(v) for v in inner}) == 1:
        return [
            dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)
        ]  # {"text": [...], "label": [...]}
    if all(isinstance(v, dict) for v in inner):
        if len(inner) > 1 and all(v.keys() == inner[0].keys() for v in inner) and _numbered(inner[0]):
            return [{c: value[c][k] for c in value} for k in inner[0]]  # {"text": {"0": ...}, "label": {"0": ...}}
        return [{"key": k, **v} for k, v in value.items()]  # {"id1": {...}, "id2": {...}}
    return [value]


def _numbered(row: Mapping[str, Any]) -> bool:
    return list(row) == [str(i) for i in range(len(row))]


def _typed(
    rows: Sequence[Mapping[str, Any]], name: str, layout: Layout, refused: Refused, names: Sequence[str] | None = None
) -> RawTable:
    columns = list(names) if names is not None else list(dict.fromkeys(k for row in rows for k in row))
    data, literal, broken = [], set(), 0
    labels = unique_names(columns)
    for column, label in zip(columns, labels, strict=True):
        values = [_plain(row.get(column)) for row in rows]
        if not all(v is None or isinstance(v, str) for v in values):
            literal.add(label)
            values = [None if v is None else json.dumps(v, ensure_ascii=False, sort_keys=True) for v in values]
        series, n = _series(label, values)
        broken += n
        data.append(series)
    table = RawTable(name, pl.DataFrame(data), layout, frozenset(literal), refused)
    if broken:
        table.notes.append(f"{broken:,} value(s) of '{name}' held half a character (a lone surrogate), now \ufffd.")
    return table


def _plain(value: Any) -> Any:
    """A value that JSON can hold: no NaN, dates as ISO 8601, 3.0 as 3, "" as null."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else value
    if value is None or isinstance(value, str | int):
        return value if value != "" else None
    return value if isinstance(value, dict | list) else as_text(value)


def _series(label: str, values: Iterable[str | None]) -> tuple[pl.Series, int]:
    values = list(values)
    try:
        return pl.Series(label, values, dtype=pl.String), 0
    except UnicodeEncodeError:
        mended = [
            None if v is None else v.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for v in values
        ]
        return pl.Series(label, mended, dtype=pl.String), sum(a != b for a, b in zip(values, mended, strict=True))


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
