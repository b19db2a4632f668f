"""Every key inside `meta`, and any column that the user names, tested like the record columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import Findings, sampled
from claimlab.audit.checks.table import ColumnTest
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.columns import OWN_KEYS, column_values, meta_values
from claimlab.core.finding import Finding
from claimlab.text.traits import as_numbers

KEYS = 20  # of meta, the most often filled; the others are named, and can be asked for


class ColumnsCheck(ColumnTest):
    name = "columns"
    title = "Other columns"
    question = "Does another column of the data give the label away?"

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject)
        named = {name: column_values(part.rows, name) for name in subject.context.columns}
        keys = {
            f"meta.{key}": values
            for key, values in meta_values(part.rows).items()
            if key not in (*named, *OWN_KEYS)
        }
        often = sorted(set(keys) - set(named), key=lambda k: (keys[k].null_count(), k))
        yield from (self._one(part, name, values) for name, values in named.items())
        silent = []
        for name in sorted(often[:KEYS]):
            finding = self._one(part, name, keys[name])
            if finding.verdict == "not-measured":
                silent.append(name)
            else:
                yield finding
        # One finding for all keys that say nothing, or were too many.
        parts = []
        if silent:
            parts.append(
                f"Too rarely filled, constant or different in every record: {', '.join(silent)}."
            )
        if others := often[KEYS:]:
            parts.append(
                f"Beyond the first {KEYS} keys: {', '.join(others)}; name them in `columns` to"
                " measure them."
            )
        if parts:
            yield self.unmeasured(subject, " ".join(parts))

    def _one(self, subject: Subject, name: str, values: pl.Series) -> Finding:
        numbers = as_numbers(values)
        if numbers is None:
            return self.column(subject, values.cast(pl.String), name)
        matrix = numbers.to_numpy().astype(np.float32)[:, None]
        return self.shortcut(
            subject, Numbers(matrix), f"A small tree on the column '{name}' alone", name
        )


CHECK = ColumnsCheck()
