"""Does the position of a record in the file give its label away, as in a file that is sorted by class?"""

from __future__ import annotations

import numpy as np

from claimlab.audit.bins import histogram
from claimlab.audit.check import Context
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import SHORTCUT_RULE, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding


class Order:
    name = "order"
    title = "Order of the records"
    question = "Does the position in the file give the label away?"
    protocols = ("fair",)
    rule = SHORTCUT_RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        rows = part.subject
        position = np.arange(rows.n, dtype=np.float64)
        changes = int((rows.y[1:] != rows.y[:-1]).sum())
        finding = shortcut(
            rows,
            context,
            self.name,
            Numbers(position.astype(np.float32)[:, None]),
            why=f"A small tree on the position of a record in the file alone (the class changes {changes:,} times in "
            f"{rows.n:,} records)",
            label="position in the file",
            details={"changes": changes, "histogram": histogram(rows, position), **part.note},
        )
        if finding.verdict in ("fail", "warn"):
            finding.why += (
                " Who splits without shuffling, or keeps the row number, trains and tests on different classes or on "
                "the label itself. Files of one class each, read one after another, are such an order too."
            )
        return [finding]


CHECK = Order()
