"""Read a column of the record table by name, whether it is a column of its own or a key inside `meta`."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from claimlab.core.errors import UnknownName


def column_values(records: pl.DataFrame, name: str) -> pl.Series:
    """A record column by name, or a key inside `meta` (as `meta.party` or just `party`); values as they are."""
    if name in records.columns and name != "meta":
        return records[name]
    key = name.removeprefix("meta.")
    parsed = [json.loads(m) if m else {} for m in records["meta"].to_list()]
    keys = {k for row in parsed for k in row}
    if key not in keys:
        raise UnknownName("column", name, [*records.columns, *(f"meta.{k}" for k in keys)])
    return pl.Series(name, [_plain(row.get(key)) for row in parsed], strict=False)


def _plain(value: Any) -> Any:
    """Lists and objects as text, so that they can be compared."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, list | dict) else value
