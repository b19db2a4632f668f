"""Texts that are the same once case, width and white space are folded."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep, labels
from claimlab.core.step import Outcome
from claimlab.text.normalise import normal_form
from claimlab.text.rows import by_slices


class ExactDuplicates(CleanStep):
    name: ClassVar[str] = "exact-duplicates"
    summary: ClassVar[str] = (
        "Keeps the first of texts that are the same, case and white space aside; "
        "those under different labels are doubtful."
    )

    def apply(self, records: pl.DataFrame) -> Outcome:
        same = pl.col("id").len().over("form") > 1
        alike = records.filter(
            by_slices(lambda texts: normal_form(texts).hash(), records["text"]).is_duplicated()
        )
        rows = (
            pl.DataFrame(
                {"id": alike["id"], "form": normal_form(alike["text"]), "label": labels(alike)}
            )
            .drop_nulls("form")
            .filter(same)
            .with_columns(
                pl.col("id").first().over("form").alias("first"),
                pl.col("label")
                .drop_nulls()
                .unique()
                .sort()
                .implode()
                .over("form", mapping_strategy="join")
                .alias("all"),
            )
        )
        torn = rows.filter(pl.col("all").list.len() > 1)
        spare = rows.filter(pl.col("all").list.len() <= 1, pl.col("id") != pl.col("first"))
        return Outcome.of(
            records,
            dropped={
                i: f"same text as {first}" for i, first in spare.select("id", "first").iter_rows()
            },
            doubtful={
                i: f"same text under the labels {', '.join(a)}"
                for i, a in torn.select("id", "all").iter_rows()
            },
        )


STEP = ExactDuplicates
