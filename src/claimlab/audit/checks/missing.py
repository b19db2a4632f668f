"""Which columns are filled depends on the label: a class without dates gives itself away by what is
not there.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import Context
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.record import filled_columns
from claimlab.core.types import JsonObject


class Missing(FairCheck):
    name = "missing"
    title = "Missing values"
    question = "Does it depend on the label which columns are filled?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context).subject
        filled = filled_columns(part.rows)
        if not filled.width:
            why = "Every column is filled in all records, or in none."
            return [self.unmeasured(why, subject.n)]
        table = shares(part, filled)
        worst = table[0]
        spread = ", ".join(f"{name} {100 * share:.0f}%" for name, share in worst["filled"].items())
        return [
            shortcut(
                part,
                context,
                self.name,
                Numbers(filled.to_numpy().astype(np.float32)),
                why=(
                    f"A small tree on which of {filled.width:,} columns are filled"
                    f" ('{worst['column']}': {spread})"
                ),
                details={"filled": table},
            )
        ]


def shares(subject: Subject, filled: pl.DataFrame) -> list[JsonObject]:
    """How often each column is filled in each class, most different first."""
    table = []
    for name in filled.columns:
        flag = filled[name].to_numpy()
        of_class = ((c, flag[subject.y == k]) for k, c in enumerate(subject.classes))
        by_class = {c: float(flags.mean()) for c, flags in of_class if len(flags)}
        table.append((max(by_class.values()) - min(by_class.values()), name, by_class))
    table.sort(key=lambda row: (-row[0], row[1]))
    return [
        {"column": name, "filled": by_class, "difference": gap} for gap, name, by_class in table
    ]


CHECK = Missing()
