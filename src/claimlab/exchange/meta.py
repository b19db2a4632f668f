"""The `meta` column for a million rows: the JSON object of every row, made column by column."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import polars as pl

from claimlab.files.objects import json_of


def meta_expression(columns: Sequence[str], literal: Collection[str] = ()) -> pl.Expr:
    """A JSON object per row, keys sorted, nulls left out; null where nothing is left.

    Written as `claimlab.core.record.meta_json` writes it, so that the two ways give the same bytes. Columns in
    `literal` hold JSON values already.
    """
    if not columns:
        return pl.lit(None, dtype=pl.String).alias("meta")
    parts = []
    for column in sorted(columns):
        key = json.dumps(column, ensure_ascii=False)
        value = pl.col(column) if column in literal else json_of(column)
        parts.append(pl.lit(f"{key}: ") + value)
    inside = pl.concat_str(parts, separator=", ", ignore_nulls=True)
    return pl.when(inside != "").then(pl.lit("{") + inside + pl.lit("}")).alias("meta")
