"""Are copies of a text tied to one class? Then how often a text occurs gives its label away,
whatever it says.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.features import Numbers
from claimlab.audit.rule import Rule, needed
from claimlab.audit.subject import Subject
from claimlab.core.stats.scores import Flags
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of, verb
from claimlab.text.normalise import normal_form


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

    def measure(self, subject: Subject) -> Findings:
        for finding in self._by_class(subject):
            hidden = subject.hidden["text"].drop_nulls()
            if hidden.len():
                copied = hidden.len() - normal_form(hidden).n_unique()
                finding.why += (
                    f" Of {hidden.len():,} records of dev and test without a label, {copied:,}"
                    f" {verb(copied, 'repeats', 'repeat')} an earlier one of them."
                )
                finding.details["without_label"] = {"hidden": hidden.len(), "copies": copied}
            yield finding

    def _by_class(self, subject: Subject) -> Findings:
        texts = subject.where(subject.rows["text"].is_not_null())
        if (reason := needed("Records with a text", texts.n)) is not None:
            yield self.unmeasured(texts, reason)
            return
        copies = texts.repeated(texts.normal_text)
        if not copies.any():
            yield self.found(
                texts,
                "pass",
                f"No record is a copy of an earlier one with the same label ({texts.n:,} records"
                " with a text).",
            )
            return
        table = by_class(texts, copies)
        part = texts.drawn(subject.settings.max_column_rows)
        # Counted before any record is left out of the sample.
        times = pl.DataFrame({"text": texts.normal_text}).select(pl.len().over("text")).to_series()
        occurs = part.aligned(texts, times).to_numpy().astype(np.float32)
        finding = self.shortcut(
            part,
            Numbers(occurs[:, None]),
            "The number of copies of a text alone",
            grouping="any size",
            records=[texts.ids[row] for row in np.flatnonzero(copies).tolist()],
            details={
                "copies": int(copies.sum()),
                "share": float(copies.mean()),
                "by_class": table,
                **part.sampling,
            },
        )
        finding.why = f"{counted(table, texts.n)} {finding.why}"
        yield finding


CHECK = Copies()


def by_class(subject: Subject, copies: Flags) -> list[JsonObject]:
    """Records, distinct texts and copies of each class, the class with most copies first."""
    extra = subject.per_class(copies, lambda flags: int(flags.sum()))
    rows = [
        {"class": name, "records": n, "texts": n - extra[name], "copies": extra[name]}
        for name, n in subject.class_counts.items()
    ]
    return sorted(rows, key=lambda row: -extra[str(row["class"])])


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
