"""Read a column of the record table by name, whether it is a column of its own or a key inside `meta`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.errors import SchemaError, UnknownName


def column_values(records: pl.DataFrame, name: str) -> pl.Series:
    """A record column by name, or a key inside `meta` (as `meta.party` or just `party`); values as they are."""
    if name in records.columns and name != "meta":
        return records[name]
    keys = meta_values(records)
    key = name.removeprefix("meta.")
    if key not in keys:
        raise UnknownName("column", name, [*records.columns, *(f"meta.{k}" for k in keys)])
    return keys[key].rename(name)


def matching(records: pl.DataFrame, where: Mapping[str, Sequence[Any]]) -> pl.Series:
    """Whether each record has one of the given values in every named column; values are compared as text."""
    both = pl.Series("matching", [True] * records.height, dtype=pl.Boolean)
    for name, values in where.items():
        texts = column_values(records, name).cast(pl.String)
        both &= texts.is_in([str(value) for value in values]).fill_null(False)
    return both


def meta_values(records: pl.DataFrame) -> dict[str, pl.Series]:
    """Every key inside `meta` with its values, null where a record does not have it; keys in order of their name."""
    try:
        parsed = [json.loads(m) if m else {} for m in records["meta"].to_list()]
    except ValueError:
        raise SchemaError("The column 'meta' holds text that is not JSON.", "Make the dataset again.") from None
    if not all(isinstance(row, dict) for row in parsed):
        raise SchemaError("The column 'meta' holds JSON that is not an object.", "Make the dataset again.")
    keys = sorted({key for row in parsed for key in row})
    return {key: pl.Series(key, [_plain(row.get(key)) for row in parsed], strict=False) for key in keys}


def _plain(value: Any) -> Any:
    """Lists and objects as text, so that they can be compared."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, list | dict) else value
