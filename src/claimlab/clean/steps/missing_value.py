"""Records that lack a value which the others have: a part of the publication is missing."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.record import column_values
from claimlab.core.step import Outcome


class MissingValue(CleanStep):
    name: ClassVar[str] = "missing-value"
    summary: ClassVar[str] = (
        "Drops records without a value in one of `columns`: record columns, or keys of meta."
    )

    columns: tuple[str, ...] = ()

    def apply(self, records: pl.DataFrame) -> Outcome:
        dropped: dict[str, str] = {}
        for column in reversed(self.columns):  # the first column that is empty gives the reason
            ids = records.filter(column_values(records, column).is_null())["id"].to_list()
            dropped.update(dict.fromkeys(ids, f"no {column}"))
        return Outcome.of(records, dropped=dropped)


STEP = MissingValue
