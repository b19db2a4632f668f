"""Does the position of a record in the file give its label away, as in a file that is sorted by
class?

A loader that splits before it shuffles then trains and tests on different classes, and a row number
that is kept tells the label. Files of one class each that were read one after another are such an
order, too.
"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import Context
from claimlab.audit.details import histogram
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.words import several


class Order(FairCheck):
    name = "order"
    title = "Order of the records"
    question = "Does the position in the file give the label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        rows = part.subject
        position = np.arange(rows.n, dtype=np.float64)
        changes = int((rows.y[1:] != rows.y[:-1]).sum())
        return [
            shortcut(
                rows,
                context,
                self.name,
                Numbers(position.astype(np.float32)[:, None]),
                why=(
                    "A small tree on the position in the file alone, which a split without"
                    f" shuffling follows (the class changes {several(changes, 'time')} in"
                    f" {rows.n:,} records)"
                ),
                label="position in the file",
                details={"changes": changes, "histogram": histogram(rows, position), **part.note},
            )
        ]


CHECK = Order()
