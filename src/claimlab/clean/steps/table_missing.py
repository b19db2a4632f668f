"""Records that lack a value which the others have: a part of the publication is missing.

A pair that lost a member in an earlier step loses the other: half a pair is a shortcut.
"""

from __future__ import annotations

import polars as pl

from claimlab.clean.step import CleanStep, Outcome, reasons
from claimlab.core.columns import column_values


class MissingValueStep(CleanStep):
    name = "missing-value"
    summary = "Drops records without a value in one of `columns`: record columns, or keys of meta."

    columns: tuple[str, ...] = ()

    def apply(self, records: pl.DataFrame) -> Outcome:
        dropped = {}
        for column in reversed(self.columns):  # the first column that is empty gives the reason
            ids = records.filter(column_values(records, column).is_null())["id"].to_list()
            dropped.update(dict.fromkeys(ids, f"no {column}"))
        return Outcome.of(records, dropped=dropped)


class BrokenPairsStep(CleanStep):
    name = "broken-pairs"
    summary = (
        "Drops what is left of a group of `size` records (0: of any size above 1) that lost a"
        " member."
    )
    needs = ("original",)

    size: int = 2
    original: pl.DataFrame | None = None

    def apply(self, records: pl.DataFrame) -> Outcome:
        assert self.original is not None  # the runner hands it in
        here = pl.col("id").is_in(records["id"].to_list())
        members = self.original.drop_nulls("group").with_columns(
            size=pl.len().over("group"),
            here=here,
            lost=pl.col("id").filter(~here).first().over("group"),
        )
        wanted = pl.col("size") == self.size if self.size else pl.col("size") > 1
        broken = members.filter("here", pl.col("lost").is_not_null(), wanted)
        why = pl.format("its group {} lost {}", "group", "lost")
        return Outcome.of(records, dropped=reasons(broken, why))


ENTRIES = [MissingValueStep, BrokenPairsStep]
