"""Records that were collected from one page: the same item twice, not two items alike."""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from claimlab.clean.near import NearStep
from claimlab.core.step import Outcome
from claimlab.text.urls import canonical_urls


class SameSource(NearStep):
    name: ClassVar[str] = "same-source"
    summary: ClassVar[str] = (
        "Of near-duplicates with the same source URL (of all records with it, if not `alike`),"
        " keeps the first."
    )

    column: Literal["url", "source"] = "url"
    alike: bool = True

    def apply(self, records: pl.DataFrame) -> Outcome:
        rows = pl.DataFrame(
            {
                "id": records["id"],
                "page": canonical_urls(records[self.column]),
                "cluster": self.clusters(records).labels if self.alike else 0,
            }
        ).filter(pl.col("cluster") >= 0)
        rows = rows.drop_nulls("page").with_columns(
            pl.col("id").first().over("cluster", "page").alias("first")
        )
        spare = rows.filter(pl.col("id") != pl.col("first"))
        kind = "near-duplicate of {}" if self.alike else "is, as {},"
        return Outcome.of(
            records,
            dropped={
                i: f"{kind.format(first)} from the same page {page}"
                for i, first, page in spare.select("id", "first", "page").iter_rows()
            },
        )


STEP = SameSource
