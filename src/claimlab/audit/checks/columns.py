"""Every key inside `meta`, and any column that the user names, tested like the record columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import Context
from claimlab.audit.checks.table import column_finding
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.record import column_values, meta_values
from claimlab.text.traits import as_numbers

KEYS = 20  # of meta, the most often filled; the others are named, and can be asked for
OWN = ("synthetic",)  # what claimlab itself notes of synthetic text names its label by design


class Columns(FairCheck):
    name = "columns"
    title = "Other columns"
    question = "Does another column of the data give the label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context).subject
        named = {name: column_values(part.rows, name) for name in context.columns}
        keys = {
            f"meta.{key}": values
            for key, values in meta_values(part.rows).items()
            if key not in (*named, *OWN)
        }
        often = sorted(set(keys) - set(named), key=lambda k: (keys[k].null_count(), k))
        findings = [self._one(part, context, name, values) for name, values in named.items()]
        tried = [self._one(part, context, name, keys[name]) for name in sorted(often[:KEYS])]
        findings += [finding for finding in tried if finding.verdict != "not-measured"]
        silent = [str(finding.feature) for finding in tried if finding.verdict == "not-measured"]
        return [*findings, *self._left_out(subject, silent, often[KEYS:])]

    def _one(self, subject: Subject, context: Context, name: str, values: pl.Series) -> Finding:
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

    def _left_out(self, subject: Subject, silent: list[str], others: list[str]) -> list[Finding]:
        """One finding for all keys that say nothing (constant, or another value in each record) or
        were too many.
        """
        parts = []
        if silent:
            parts.append(
                f"Too rarely filled, constant or different in every record: {', '.join(silent)}."
            )
        if others:
            parts.append(
                f"Beyond the first {KEYS} keys: {', '.join(others)}; name them in `columns` to"
                " measure them."
            )
        return [self.unmeasured(" ".join(parts), subject.n)] if parts else []


CHECK = Columns()
