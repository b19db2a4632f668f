"""The checks of one record column each: does knowing only its value give the label away?

The test of one column: what does knowing only this value give away, and how many of its groups
are of one class?

Rows are split at random, since the question is what the column gives away when it recurs; purity is
reported with it. Where labels were given to whole publishers, say, a value of another column that
publishers share is no evidence of its own: then whole publishers are split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.features import Category
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import excerpt
from claimlab.text.roles import ROLES

ROWS_SHOWN = 30
MIN_SHARE = 0.05  # of the records must have a value


class ColumnTest(FairCheck):
    """A check that puts a column of categories to the test."""

    def column(self, subject: Subject, values: pl.Series, label: str) -> Finding:
        """`subject` is already sampled when it was large."""
        filled = np.flatnonzero(values.is_not_null().to_numpy())
        if not len(filled) or len(filled) / subject.n < MIN_SHARE:
            some = f"Only {len(filled):,} of {subject.n:,} records have" if len(filled) else ""
            article = "an" if label[:1].lower() in "aeio" else "a"
            why = f"{some or 'No record has'} {article} {label}."
            says = self.unmeasured if some else self.absent
            return says(subject, why, label)
        part, present = subject.take(filled), values.drop_nulls().cast(pl.String)
        distinct = present.n_unique()
        if distinct == 1:
            why = f"Every record that has one has the same {label} ('{excerpt(present[0], 80)}')."
            return self.unmeasured(part, why, label)
        if distinct == part.n:
            return self.unmeasured(part, f"Every {label} occurs once: it cannot be learnt.", label)
        table = value_table(part, present)
        recurring, pure = purity(part, present)
        share = pure / recurring if recurring else 0.0
        return self.shortcut(
            part,
            Category(present.rank("dense").to_numpy().astype(np.int64)),
            f"Knowing only the {label} ({distinct:,} values; {pure:,} of the {recurring:,} that"
            f" recur have only one class, {100 * share:.0f}%)",
            label,
            grouping(part, present, label),
            records=part.where(present.is_in([row["value"] for row in table[:5]])).ids,
            details={
                "values": [{**row, "value": excerpt(row["value"], 200)} for row in table],
                "distinct": distinct,
                "recurring": recurring,
                "pure": pure,
                "purity": share,
            },
        )


@dataclass(frozen=True)
class ColumnCheck(ColumnTest):
    """A check that asks what one record column gives away."""

    name: str
    title: str
    question: str
    tested: str

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject, columns=True)
        finding = self.column(part, part.rows[self.tested], self.tested)
        finding.fact = self.tested
        if subject.near_copies and self.tested == "group":
            records = several(subject.near_copies, "record")
            finding.why += f" Left out: {records} in groups that cleaning made of near-copies."
        if shared := self.in_train(subject):
            finding.why += f" Of {shared['hidden']:,} records of dev and test without a label,"
            finding.why += f" {shared['shared']:,} have one that occurs in train."
            finding.details["without_label"] = shared
        yield finding

    def in_train(self, subject: Subject) -> JsonObject:
        """How many records of dev and test without a label share their value with train; empty
        where there are none with a value.
        """
        values = subject.hidden[self.tested].drop_nulls()
        if not values.len():
            return {}
        trained = subject.rows.filter(pl.col("split") == "train")[self.tested].drop_nulls()
        shared = int(values.is_in(trained.unique().implode()).sum())
        return {"hidden": values.len(), "shared": shared, "share": shared / values.len()}


ENTRIES = [
    ColumnCheck("author", "Author", "Does the author give the label away?", "author"),
    ColumnCheck(
        "event",
        "Event or group",
        "Does the event, pair or cluster give the label away?",
        "group",
    ),
    ColumnCheck("language", "Language", "Does the language give the label away?", "language"),
    ColumnCheck("source", "Source", "Does the publisher give the label away?", "source"),
    ColumnCheck("topic", "Topic", "Does the topic give the label away?", "topic"),
]


def grouping(subject: Subject, values: pl.Series, name: str) -> fair.Grouping:
    """Rows for a column that says where a record comes from, and for one whose values each lie
    within one unit; whole units for one that they share.
    """
    if subject.given is None or name.removeprefix("meta.") in ROLES:
        return "rows"
    unit = subject.given.codes
    pairs = pl.DataFrame({"value": values, "unit": unit}).drop_nulls().unique()
    return "rows" if pairs.height == pairs["value"].n_unique() else "groups"


def purity(subject: Subject, values: pl.Series) -> tuple[int, int]:
    """How many values recur, and how many of those have one class only."""
    frame = (
        pl.DataFrame({"value": values, "y": subject.y})
        .group_by("value")
        .agg(pl.len(), k=pl.col("y").n_unique())
    )
    recurring = frame.filter(pl.col("len") > 1)
    return recurring.height, recurring.filter(k=1).height


def value_table(subject: Subject, values: pl.Series) -> list[JsonObject]:
    """The most telling values with counts per class: frequent and one-sided first."""
    tally = pl.DataFrame({"value": values, "y": subject.y}).group_by("value", "y").len()
    names = tally["value"].unique().sort()
    counts = np.zeros((names.len(), len(subject.classes)), np.int64)
    at = tally.join(pl.DataFrame({"value": names, "row": np.arange(names.len())}), on="value")
    counts[at["row"].to_numpy(), at["y"].to_numpy()] = at["len"].to_numpy()
    total = counts.sum(axis=1)
    base = subject.sizes / subject.n
    lean = (counts / total[:, None] - base).max(axis=1)
    order = np.argsort(-(lean * np.sqrt(total)), kind="stable")[:ROWS_SHOWN]
    return [
        {
            "value": str(names[i]),
            "counts": subject.named(counts[i]),
            "largest_share": round(float(counts[i].max() / total[i]), 4),
        }
        for i in order.tolist()
    ]
