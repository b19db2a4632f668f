"""Any column put to the same test: `claimlab audit DIR --column NAME`, with `meta.KEY` for what stands inside meta."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.categories import column_finding
from claimlab.audit.check import SHORTCUT_RULE, Context, sampled, shortcut
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.columns import column_values
from claimlab.core.finding import Finding
from claimlab.text.traits import as_numbers


class Columns:
    name = "columns"
    title = "Columns you named"
    question = "Does a column that you named give the label away?"
    protocols = ("fair",)
    rule = SHORTCUT_RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        """Nothing was named: nothing to report, not even that it was not measured."""
        part = sampled(subject, context).subject
        return [self._one(part, context, name) for name in context.columns]

    def _one(self, subject: Subject, context: Context, name: str) -> Finding:
        values = column_values(subject.rows, name)
        numbers = as_numbers(values)
        if numbers is None:
            return column_finding(subject, context, self.name, values.cast(pl.String), label=name)
        return shortcut(
            subject,
            context,
            self.name,
            Numbers(numbers.to_numpy().astype(np.float32)[:, None]),
            why=f"A small tree on the column '{name}' alone",
            label=name,
        )


CHECK = Columns()
