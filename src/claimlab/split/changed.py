"""Which rows validation changed: a corrected label may be trained on, but is not what was published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> set[str]:
    """Ids that the log of changes names (relabelled, repaired, stripped), and those that were once doubtful."""
    ids: set[str] = set()
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        ids |= set(changes.filter(~pl.col("column").is_in(ORDERING))["id"].to_list())
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns:
        ids |= set(doubtful["id"].to_list())
    return ids
