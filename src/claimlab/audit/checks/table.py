"""The checks of one record column each: does knowing only its value give the label away?

The test of one column: what does knowing only this value give away, and how many of its groups
are of one class?

Rows are split at random, since the question is what the column gives away when it recurs; purity is
reported with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit.check import Context, ProtocolName, not_measured
from claimlab.audit.features import Category
from claimlab.audit.shortcut import SHORTCUT_RULE, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.deal import Codes
from claimlab.core.types import JsonObject
from claimlab.pages.excerpt import excerpt

SHOWN = 30
MIN_SHARE = 0.05  # of the records must have a value


@dataclass(frozen=True)
class ColumnCheck:
    """A check that asks what one record column gives away; `checks/table.py` lists them."""

    name: str
    title: str
    question: str
    column: str
    rule: str = SHORTCUT_RULE
    protocols: tuple[ProtocolName, ...] = ("fair",)

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context, columns=True).subject
        finding = column_finding(
            part, context, self.name, part.rows[self.column], label=self.column
        )
        finding.fact = self.column
        return [finding]


def column_finding(
    subject: Subject, context: Context, check: str, values: pl.Series, *, label: str
) -> Finding:
    """Put one column of categories to the test. `subject` is already sampled when it was large."""
    known = values.is_not_null().to_numpy()
    if not known.any():
        return not_measured(
            check, "fair", f"No record has {_a(label)}.", n=subject.n, feature=label
        )
    if known.mean() < MIN_SHARE:
        why = f"Only {int(known.sum()):,} of {subject.n:,} records have {_a(label)}."
        return not_measured(check, "fair", why, n=subject.n, feature=label)
    part = subject.take(np.flatnonzero(known).astype(np.int64))
    present = values.drop_nulls().cast(pl.String)
    if present.n_unique() == 1:
        why = f"Every record that has one has the same {label} ('{excerpt(present[0], 80)}')."
        return not_measured(check, "fair", why, n=part.n, feature=label)
    if present.n_unique() == part.n:
        return not_measured(
            check,
            "fair",
            f"Every {label} occurs once: it cannot be learnt.",
            n=part.n,
            feature=label,
        )
    table = value_table(part, present)
    telling = [row["value"] for row in table[:5]]
    recurring, pure = purity(part, present)
    share = pure / recurring if recurring else 0.0
    return shortcut(
        part,
        context,
        check,
        Category(_codes(present)),
        why=(
            f"Knowing only the {label} ({present.n_unique():,} values; {pure:,} of the"
            f" {recurring:,} that recur have only one class, {100 * share:.0f}%)"
        ),
        label=label,
        grouping="rows",
        records=part.rows["id"].filter(present.is_in(telling)).to_list(),
        details={
            "values": [{**row, "value": excerpt(row["value"], 200)} for row in table],
            "distinct": present.n_unique(),
            "recurring": recurring,
            "pure": pure,
            "purity": share,
        },
    )


def purity(subject: Subject, values: pl.Series) -> tuple[int, int]:
    """How many values recur, and how many of those have one class only."""
    frame = (
        pl.DataFrame({"value": values, "y": subject.y})
        .group_by("value")
        .agg(pl.len(), pl.col("y").n_unique().alias("k"))
    )
    recurring = frame.filter(pl.col("len") > 1)
    return recurring.height, recurring.filter(pl.col("k") == 1).height


def value_table(subject: Subject, values: pl.Series) -> list[JsonObject]:
    """The most telling values with counts per class: frequent and one-sided first."""
    tally = pl.DataFrame({"value": values, "y": subject.y}).group_by("value", "y").len()
    names = tally["value"].unique().sort()
    counts = np.zeros((names.len(), len(subject.classes)))
    at = tally.join(pl.DataFrame({"value": names, "row": np.arange(names.len())}), on="value")
    counts[at["row"].to_numpy(), at["y"].to_numpy()] = at["len"].to_numpy()
    total = counts.sum(axis=1)
    base = np.bincount(subject.y, minlength=len(subject.classes)) / subject.n
    lean = (counts / total[:, None] - base).max(axis=1)
    order = np.argsort(-(lean * np.sqrt(total)), kind="stable")[:SHOWN]
    return [
        {
            "value": str(names[int(i)]),
            "counts": {c: int(counts[i, k]) for k, c in enumerate(subject.classes)},
            "largest_share": round(float(counts[i].max() / total[i]), 4),
        }
        for i in order
    ]


def _codes(values: pl.Series) -> Codes:
    return values.rank("dense").to_numpy().astype(np.int64) - 1


def _a(label: str) -> str:
    return f"{'an' if label[:1].lower() in 'aeio' else 'a'} {label}"


ENTRIES = [
    ColumnCheck("author", "Author", "Does the author give the label away?", column="author"),
    ColumnCheck(
        "event",
        "Event or group",
        "Does the event, pair or cluster give the label away?",
        column="group",
    ),
    ColumnCheck(
        "language", "Language", "Does the language give the label away?", column="language"
    ),
    ColumnCheck("source", "Source", "Does the publisher give the label away?", column="source"),
    ColumnCheck("topic", "Topic", "Does the topic give the label away?", column="topic"),
]
