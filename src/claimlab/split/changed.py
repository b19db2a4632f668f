"""Which rows validation changed: a corrected label may be trained on, but is not what was published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> dict[str, set[str]]:
    """By what was changed, the ids that the log of changes names; and those that were once doubtful."""
    ids: dict[str, set[str]] = {}
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        for column, record in changes.filter(~pl.col("column").is_in(ORDERING)).select("column", "id").iter_rows():
            ids.setdefault(str(column), set()).add(record)
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns and doubtful.height:
        ids["doubted"] = set(doubtful["id"].to_list())
    return ids


def in_words(ids: Mapping[str, set[str]], here: set[str]) -> str:
    """How many of the rows `here` were changed, and in what: a stripped link weighs less than a corrected verdict."""
    found = {name: len(mine & here) for name, mine in sorted(ids.items())}
    n = len(here & set[str]().union(*ids.values()))
    if not n:
        return "No row is known to be changed by validation: the dataset has no log of changes, or none of its rows."
    parts = ", ".join(f"{name} {count:,}" for name, count in found.items() if count)
    return f"{n:,} rows that validation changed ({parts}) stay out of dev and test."
