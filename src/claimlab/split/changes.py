"""Which rows validation changed: a corrected label may be trained on, but is not what was
published.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from claimlab.core.words import several

ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are
BY_PEOPLE = "decisions"  # the step that applies what people decided


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> dict[str, set[str]]:
    """By what was changed, the ids that the log of changes names; and those that were once
    doubtful.

    A text that a rule rewrote (links stripped, letters repaired) says what it said: such rules
    treat all rows alike.
    """
    ids = {}
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        by_rule = pl.col("step") != BY_PEOPLE if "step" in changes.columns else pl.lit(False)
        telling = ~pl.col("column").is_in(ORDERING) & ~((pl.col("column") == "text") & by_rule)
        each = changes.filter(telling).group_by("column", maintain_order=True).agg("id")
        ids = {str(column): set(records) for column, records in each.iter_rows()}
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns and doubtful.height:
        ids["doubted"] = set(doubtful["id"])
    return ids


def in_words(ids: Mapping[str, set[str]], here: set[str]) -> str:
    """How many of the rows `here` were changed, and in what."""
    counts = {name: len(changed_rows & here) for name, changed_rows in sorted(ids.items())}
    n = len(here & set[str]().union(*ids.values()))
    if not n:
        return (
            "No row is known to be changed by validation: the dataset has no log of changes, or"
            " none of its rows."
        )
    parts = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return f"{several(n, 'row')} that validation changed ({parts}): kept out of dev and test."
