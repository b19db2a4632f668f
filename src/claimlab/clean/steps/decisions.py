"""What people decided about single records: removed, relabelled or kept, each with its reason."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome
from claimlab.core.words import several


class Decisions(CleanStep):
    """`keep` also shields a record from every other step of the recipe: the runner sees to that."""

    name: ClassVar[str] = "decisions"
    summary: ClassVar[str] = (
        "Applies the annotators' decisions (keep, remove, relabel); `only` and `without` select"
        " them by reason."
    )
    needs: ClassVar[tuple[str, ...]] = ("decisions",)

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    decisions: pl.DataFrame | None = None

    def apply(self, records: pl.DataFrame) -> Outcome:
        assert self.decisions is not None  # the runner hands it in
        mine = (
            self.decisions.filter(pl.col("reason").is_in(list(self.only)))
            if self.only
            else self.decisions
        )
        mine = (
            mine.filter(~pl.col("reason").is_in(list(self.without)).fill_null(False))
            if self.without
            else mine
        )
        here = records.select("id", "veracity").join(
            mine.unique("id", keep="first", maintain_order=True), on="id", maintain_order="left"
        )
        removed, changed, new = {}, [], {}
        for i, veracity, decision, label, reason in here.iter_rows():
            why = reason or "no reason given"
            if decision == "remove":
                removed[i] = f"decided by a person: {why}"
            elif decision == "relabel" and label != veracity:
                changed.append((i, "veracity", veracity, label, f"decided by a person: {why}"))
                new[i] = label
        column = [new.get(i, v) for i, v in records.select("id", "veracity").iter_rows()]
        after = (
            records.with_columns(pl.Series("veracity", column, dtype=pl.String)) if new else records
        )
        gone = mine["id"].n_unique() - here.height
        notes = (
            (f"{several(gone, 'decision')} on records that were removed before",) if gone else ()
        )
        return Outcome.of(records, kept=after, dropped=removed, changed=changed, notes=notes)


STEP = Decisions
