"""The tasks of `data/tasks.toml`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import UnknownName
from claimlab.core.record import column_values
from claimlab.core.types import JsonObject
from claimlab.tasks import Task, words_of

Read = Callable[[pl.DataFrame], pl.Series]


def first_told(records: pl.DataFrame, readings: list[tuple[Read, bool]]) -> pl.Series:
    """The class of each record by the first of `readings` that tells one; those that are for
    records without a verdict say so, and one of an absent key of `meta` tells nothing.
    """
    silent = records["veracity"].is_null()
    readable = []
    for read, without_verdict in readings:
        try:
            labels = read(records)
        except UnknownName:
            continue
        readable.append(labels.set(~silent, None) if without_verdict else labels)
    return pl.select(pl.coalesce(readable)).to_series()


def values_of(records: pl.DataFrame, columns: list[str], classes: dict[str, str]) -> pl.Series:
    """The classes of the values in `columns`, joined by "-"; other values are left out."""
    values = [column_values(records, column).cast(pl.String) for column in columns]
    joined = pl.select(pl.concat_str(values, separator="-")).to_series()
    return joined.replace_strict(classes, default=None, return_dtype=pl.String)


def task_of(name: str, row: JsonObject) -> Task:
    readings = []
    for reading in row["readings"]:
        columns, words = reading["columns"], reading.get("words")
        read = (
            words_of(columns[0], words)
            if words
            else partial(values_of, columns=columns, classes=reading["values"])
        )
        readings.append((read, reading.get("without_verdict", False)))
    return Task(
        name,
        row["summary"],
        partial(first_told, readings=readings),
        tuple(row["classes"]),
        row["classes"],
        row["question"],
        positive=row.get("positive"),
    )


ENTRIES = [task_of(*row) for row in packaged.toml("claimlab.tasks", "tasks.toml").items()]
VERACITY = ENTRIES[0]
