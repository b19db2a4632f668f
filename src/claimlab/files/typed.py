"""Tables whose cells have types, such as those of JSON and Excel. Text stays text; the rest becomes
JSON.

A column in which any value is not text is kept as JSON values (`literal`), so that 5, true and
["a", "b"] are still that when they travel on; `literal_text` reads them as plain text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.core.plain import whole
from claimlab.core.words import several
from claimlab.files.bounds import refuse_wide
from claimlab.files.raw import Layout, RawTable, Refused, as_text, unique_names

SPARSE = 2_000_000  # cells, filled or not, above which most of them must not be empty


def typed_table(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    layout: Layout,
    refused: Refused,
    names: Sequence[str] | None = None,
) -> RawTable:
    columns = (
        list(names) if names is not None else list(dict.fromkeys(k for row in rows for k in row))
    )
    refuse_wide(len(columns), name)
    filled = sum(map(len, rows)) if len(columns) * len(rows) > SPARSE else 0
    if filled and len(columns) * len(rows) > 50 * filled:
        raise UnreadableFile(
            f"'{name}' has {len(columns):,} columns, of which a row fills {filled / len(rows):.0f}:"
            " it is not a table.",
            "Give records that have the same keys.",
        )
    data, literal, broken = [], set(), 0
    labels = unique_names(map(whole, columns))
    for column, label in zip(columns, labels, strict=True):
        values = [_plain(row.get(column)) for row in rows]
        if not all(v is None or isinstance(v, str) for v in values):
            literal.add(label)
            values = [
                None if v is None else json.dumps(v, ensure_ascii=False, sort_keys=True)
                for v in values
            ]
        series, n = _series(label, values)
        broken += n
        data.append(series)
    table = RawTable(name, pl.DataFrame(data), layout, frozenset(literal), refused)
    if broken:
        table.notes.append(
            f"{several(broken, 'value')} of '{name}' with half a character (a lone surrogate), now"
            " \ufffd."
        )
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
        repaired = [None if v is None else whole(v) for v in values]
        return pl.Series(label, repaired, dtype=pl.String), sum(
            a != b for a, b in zip(values, repaired, strict=True)
        )


def literal_text(column: pl.Series) -> pl.Series:
    """A column of JSON values as plain text: "a" loses its quotes, everything else stays as it is
    written.
    """
    quoted = column.str.starts_with('"')
    if not quoted.any():
        return column
    plain = [json.loads(v) if v is not None and v.startswith('"') else v for v in column.to_list()]
    return pl.Series(column.name, plain, dtype=pl.String)


def json_of(column: str) -> pl.Expr:
    """Any column as JSON values. Polars encodes structs only, so it is wrapped in one and unwrapped
    again.
    """
    whole = pl.struct(pl.col(column).alias("v")).struct.json_encode()
    return pl.when(pl.col(column).is_not_null()).then(
        whole.str.strip_prefix('{"v":').str.strip_suffix("}")
    )
