"""Are copies of a text tied to one class? Then how often a text occurs gives its label away,
whatever it says.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import Context
from claimlab.audit.features import Numbers
from claimlab.audit.rule import Rule, needed
from claimlab.audit.shortcut import FairCheck, Sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Flags
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of, verb


class Copies(FairCheck):
    name = "copies"
    title = "Copies"
    question = "Are copies of a text tied to one class?"
    rule = (
        "Fail, warn or pass by the rule of shortcuts, for the number of records that have a"
        " record's text, over all records. Copies of a text stay together, and shuffled labels go"
        " from text to text whatever the number of its copies. Pass where no record is a copy. Not"
        f" measured with fewer than {Rule.min_units} records with a text."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        texts = subject.take(np.flatnonzero(subject.rows["text"].is_not_null().to_numpy()))
        if (reason := needed("Records with a text", texts.n)) is not None:
            return [self.unmeasured(reason, texts.n)]
        copies = texts.repeated(texts.normal_text)
        if not copies.any():
            why = (
                f"No record is a copy of an earlier one with the same label ({texts.n:,} records"
                " with a text)."
            )
            classes = texts.class_counts
            return [
                Finding(
                    check=self.name,
                    protocol="fair",
                    verdict="pass",
                    why=why,
                    n=texts.n,
                    classes=classes,
                )
            ]
        table = by_class(texts, copies)
        part = Sampled(texts, context.settings.max_column_rows, context.seed)
        # Counted before any record is left out of the sample.
        times = pl.DataFrame({"text": texts.normal_text}).select(pl.len().over("text")).to_series()
        known = dict(zip(texts.ids, times.to_list(), strict=True))
        occurs = np.array([known[record] for record in part.subject.ids], np.float32)
        finding = shortcut(
            part.subject,
            context,
            self.name,
            Numbers(occurs[:, None]),
            why="The number of copies of a text alone",
            grouping="any size",
            records=[texts.ids[row] for row in np.flatnonzero(copies).tolist()],
            details={
                "copies": int(copies.sum()),
                "share": float(copies.mean()),
                "by_class": table,
                **part.note,
            },
        )
        finding.why = f"{counted(table, texts.n)} {finding.why}"
        return [finding]


def by_class(subject: Subject, copies: Flags) -> list[JsonObject]:
    """Records, distinct texts and copies of each class, the class with most copies first."""
    classes = len(subject.classes)
    records, extra = (np.bincount(y, minlength=classes) for y in (subject.y, subject.y[copies]))
    rows = [
        {
            "class": name,
            "records": int(records[k]),
            "texts": int(records[k] - extra[k]),
            "copies": int(extra[k]),
        }
        for k, name in enumerate(subject.classes)
    ]
    return sorted(rows, key=lambda row: -int(row["copies"]))


def counted(table: list[JsonObject], n: int) -> str:
    """How many records are copies, and how much more often of one class than texts are."""
    copies, texts = (sum(row[name] for row in table) for name in ("copies", "texts"))
    most = table[0]
    return (
        f"{several_of(copies, n, 'record')} ({100 * copies / n:.1f}%)"
        f" {verb(copies, 'is a copy', 'are copies')} of an earlier one with the same label;"
        f" {100 * most['copies'] / copies:.0f}% of the copies are '{most['class']}', against"
        f" {100 * most['texts'] / texts:.0f}% of the distinct texts."
    )


CHECK = Copies()
