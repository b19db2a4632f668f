"""Does one key (a text, an address) have different labels: which rows are torn, and the rule for
them (`RULE`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.rule import Rule, ShareRule, needed
from claimlab.audit.subject import Subject
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.pages.blocks import excerpt
from claimlab.text.urls import canonical_urls, find_urls

CONFLICTING_SHARE = ShareRule(fail=0.01)
KEYS = 15
RULE = (
    f"Fail when more than {100 * CONFLICTING_SHARE.fail:.0f}% of all records are in a conflict,"
    " warn when any is, pass when none is; all are counted. Not measured with fewer than"
    f" {Rule.min_units} records that could be."
)


@dataclass(frozen=True)
class ConflictCheck(FairCheck):
    """`keys` gives `row` and `key` of a subject, where `what` names a key; `missing` says that no
    row has one.
    """

    name: str
    title: str
    question: str
    what: str
    keys: Callable[[Subject], pl.DataFrame]
    missing: str
    rule: str = RULE

    def measure(self, subject: Subject) -> Findings:
        """How many keys have more than one label, in how many records."""
        frame, what, records = keyed(subject, self.keys(subject)), self.what, subject.n
        holding = frame["id"].n_unique()
        reason = needed(f"Records with a {what}", holding) if holding else self.missing
        if holding and len(subject.classes) < 2:
            reason = "It needs two classes."
        if reason is not None:
            absent = not holding and len(subject.classes) > 1
            yield self.absent(subject, reason) if absent else self.unmeasured(subject, reason)
            return
        conflicts = torn(frame)
        distinct = conflicts["key"].n_unique()
        ids = conflicts["id"].unique(maintain_order=True).to_list()
        word = f"{what}s have" if distinct != 1 else f"{what} has"
        having = f"of {several(records, 'record')}, {holding:,} {verb(holding, 'has', 'have')} one"
        why = (
            f"{distinct:,} {word} more than one label, in {several_of(len(ids), records, 'record')}"
            f" ({CONFLICTING_SHARE.shown(len(ids), records)}; {CONFLICTING_SHARE.limits()})."
            if ids
            else f"No {what} has more than one label ({having})."
        )
        yield self.found(
            subject,
            CONFLICTING_SHARE.verdict(len(ids), records),
            why,
            records=ids,
            details={
                "holding": holding,
                "conflicting_keys": distinct,
                "conflicting_records": len(ids),
                "share": len(ids) / records,
                "conflicts": key_table(subject, conflicts),
            },
        )


def keyed(subject: Subject, keys: pl.DataFrame) -> pl.DataFrame:
    """`keys` (row, key; a row may have several) with the id and label of each row, nulls and
    repeats out.
    """
    distinct = keys.drop_nulls("key").unique(maintain_order=True)
    rows = distinct["row"].to_numpy()
    return distinct.with_columns(subject.rows["id"].gather(rows), pl.Series("y", subject.y[rows]))


def torn(frame: pl.DataFrame) -> pl.DataFrame:
    """The part of a `keyed` frame whose keys have more than one label."""
    return frame.filter(pl.col("y").n_unique().over("key") > 1).sort("key", "id")


def key_table(subject: Subject, conflicts: pl.DataFrame) -> list[JsonObject]:
    """The keys in most records first, with how many records of each class they are in."""
    largest = (
        conflicts.group_by("key").len().sort(["len", "key"], descending=[True, False]).head(KEYS)
    )
    tally = {
        (key, y): n
        for key, y, n in conflicts.join(largest, on="key").group_by("key", "y").len("n").iter_rows()
    }
    return [
        {
            "value": excerpt(key, 200),
            "counts": {name: tally.get((key, y), 0) for y, name in enumerate(subject.classes)},
        }
        for key in largest["key"]
    ]


def texts(subject: Subject) -> pl.DataFrame:
    """`row` and `key`: each record's text as it is compared."""
    return pl.DataFrame({"row": subject.everyone, "key": subject.normal_text})


def cited(subject: Subject) -> pl.DataFrame:
    """`row` and `key`: each record's own address and those in its text, in one spelling each.

    A bare host is left out: it is a site, not a page, and the check of domains asks about those.
    """
    rows = subject.rows
    number = pl.Series("row", np.arange(rows.height))
    inside = (
        pl.DataFrame({"row": number, "key": find_urls(rows["text"])})
        .explode("key")
        .drop_nulls("key")
    )
    every = pl.concat([pl.DataFrame({"row": number, "key": rows["url"]}).drop_nulls("key"), inside])
    pages = every.with_columns(key=canonical_urls(every["key"])).drop_nulls("key")
    return pages.filter(~pages["key"].str.contains(r"^https://[^/?]*$"))


ENTRIES = [
    ConflictCheck(
        "identical-texts",
        "Identical text, different labels",
        "Does the same text have different labels?",
        "text",
        texts,
        "The records have no text.",
    ),
    ConflictCheck(
        "url-conflicts",
        "One URL, different labels",
        "Does one URL have different labels?",
        "URL",
        cited,
        "No record has or cites the URL of a page.",
    ),
]
