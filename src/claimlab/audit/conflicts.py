"""One key (a text, an address) under several labels: which rows are torn, and the rule for them
(`RULE`).
"""

from __future__ import annotations

import polars as pl

from claimlab.audit.rule import Rule, Share, needed
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.pages.excerpt import excerpt

SHARE = Share(fail=0.01)
KEYS = 15
RULE = (
    f"Fail when surely more than {100 * SHARE.fail:.0f}% of all records are in a conflict (Wilson"
    " interval), warn when any is, pass when none is. Not measured with fewer than"
    f" {Rule.min_units} records that could be."
)


def keyed(subject: Subject, keys: pl.DataFrame) -> pl.DataFrame:
    """`keys` (row, key; a row may have several) with the id and label of each row, nulls and
    repeats out.
    """
    known = keys.drop_nulls("key").unique(maintain_order=True)
    rows = known["row"].to_numpy()
    return known.with_columns(
        subject.rows["id"].gather(rows).alias("id"), pl.Series("y", subject.y[rows])
    )


def torn(frame: pl.DataFrame) -> pl.DataFrame:
    """The part of a `keyed` frame whose keys have more than one label."""
    return frame.filter(pl.col("y").n_unique().over("key") > 1).sort("key", "id")


def conflict_finding(subject: Subject, check: str, keys: pl.DataFrame, *, what: str) -> Finding:
    """How many keys have more than one label, in how many records."""
    frame = keyed(subject, keys)
    holding, records = frame["id"].n_unique(), subject.n
    why = (
        "It needs two classes."
        if len(subject.classes) < 2
        else needed(f"Records with a {what}", holding)
    )
    if why is not None:
        return Finding(check=check, protocol="fair", verdict="not-measured", why=why, n=records)
    conflicts = torn(frame)
    distinct = conflicts["key"].n_unique()
    ids = conflicts["id"].unique(maintain_order=True)
    share = ids.len() / max(1, records)
    word = f"{what}s have" if distinct != 1 else f"{what} has"
    having = f"of {several(records, 'record')}, {holding:,} {verb(holding, 'has', 'have')} one"
    why = (
        f"{distinct:,} {word} more than one label, in {several_of(ids.len(), records, 'record')} "
        f"({SHARE.shown(ids.len(), records)}; {SHARE.limits})."
        if ids.len()
        else f"No {what} has more than one label ({having})."
    )
    return Finding(
        check=check,
        protocol="fair",
        verdict=SHARE.verdict(ids.len(), records),
        why=why,
        n=records,
        classes=subject.class_counts,
        records=ids.to_list(),
        details={
            "holding": holding,
            "conflicting_keys": distinct,
            "conflicting_records": ids.len(),
            "share": share,
            "conflicts": key_table(subject, conflicts),
        },
    )


def key_table(subject: Subject, conflicts: pl.DataFrame) -> list[JsonObject]:
    """The keys in most records first, with how many records of each class they are in."""
    largest = (
        conflicts.group_by("key").len().sort(["len", "key"], descending=[True, False]).head(KEYS)
    )
    tally = {
        (k, y): n
        for k, y, n in conflicts.join(largest, on="key").group_by("key", "y").len("n").iter_rows()
    }
    return [
        {
            "value": excerpt(k, 200),
            "counts": {c: tally.get((k, y), 0) for y, c in enumerate(subject.classes)},
        }
        for k in largest["key"].to_list()
    ]
