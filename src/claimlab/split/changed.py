"""Which rows validation changed: a corrected label may be trained on, but is not what was published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are
BY_PEOPLE = "decisions"  # the step that applies what people decided


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> set[str]:
    """Ids that the log of changes names (relabelled, redated, reworded by people), and those that were once doubtful.

    A text that a rule rewrote (links stripped, letters repaired) says what it said: such rules treat all rows alike.
    """
    ids: set[str] = set()
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        by_rule = pl.col("step") != BY_PEOPLE if "step" in changes.columns else pl.lit(False)
        told = ~pl.col("column").is_in(ORDERING) & ~((pl.col("column") == "text") & by_rule)
        ids |= set(changes.filter(told)["id"].to_list())
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns:
        ids |= set(doubtful["id"].to_list())
    return ids
