"""Fields of objects inside records, as columns that a role may take: reviewRating.alternateName,
label.verdict.

Only objects of which every record has one: a list of several (comments, evidence) is not a field of
its record.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import polars as pl

from claimlab.files.raw import as_text

DEPTH = 3
MOST_KEYS = 60  # of the objects in one column; more of them are ids rather than names of fields


def inner_columns(frame: pl.DataFrame, literal: Collection[str]) -> pl.DataFrame:
    """The fields of the objects in columns of JSON values, as text, under the names of both
    ("user.name").
    """
    out: list[pl.Series] = []
    for column in sorted(literal):
        values = frame[column]
        shapes = values.str.starts_with("{") | values.str.starts_with("[{")
        if not values.count() or shapes.sum() < values.count():
            continue
        rows = [
            dict(_fields(json.loads(v), "", DEPTH)) if v is not None else {}
            for v in values.to_list()
        ]
        names = list(dict.fromkeys(name for row in rows for name in row))
        if len(names) <= MOST_KEYS:
            out += [
                pl.Series(column + name, [row.get(name) for row in rows], dtype=pl.String)
                for name in names
            ]
    return pl.DataFrame([s for s in out if s.name not in frame.columns and s.count()])


def _fields(value: Any, path: str, depth: int) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _fields(inner, f"{path}.{key}", depth - 1)
    elif path and not isinstance(value, list | Mapping) and value != "":
        yield path, as_text(value)
