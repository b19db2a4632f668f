"""Clusters of near-duplicates: kept together by a common group, or reduced to their first
member.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from claimlab.clean.near import NearStep
from claimlab.clean.step import labels
from claimlab.core.step import Change, Outcome
from claimlab.core.words import several, verb


class NearDuplicates(NearStep):
    name: ClassVar[str] = "near-duplicates"
    summary: ClassVar[str] = (
        "Puts near-duplicates into one group where they have none, or keeps the first of each label."  # noqa: E501
    )

    action: Literal["group", "drop"] = "group"

    def apply(self, records: pl.DataFrame) -> Outcome:
        clusters = self.clusters(records)
        rows = pl.DataFrame(
            {
                "id": records["id"],
                "group": records["group"],
                "label": labels(records),
                "cluster": clusters.labels,
            }
        ).filter(pl.col("cluster") >= 0)
        near = several(rows.height, "near-duplicate record")
        notes = [f"{near}, in {several(len(clusters), 'cluster')} ({clusters.pairs.plan})"]
        if rows["label"].null_count() < rows.height:
            each = rows["label"].drop_nulls().value_counts().sort("label").iter_rows()
            notes.append("by label: " + ", ".join(f"{name} {count:,}" for name, count in each))
        if clusters.pairs.skipped.comparisons:
            notes.append(
                f"up to {clusters.pairs.skipped.comparisons:,} comparisons in crowded buckets were"
                " left out"
            )
        outcome = (
            self._drop(records, rows)
            if self.action == "drop"
            else self._group(records, rows, notes)
        )
        table = rows.select(
            pl.col("id").alias("record_id"), "cluster", "label"
        )  # the label it had at this stage
        return Outcome(
            kept=outcome.kept,
            dropped=outcome.dropped,
            doubtful=outcome.doubtful,
            changed=outcome.changed,
            tables={"near_duplicates": table},
            notes=tuple(notes),
        )

    def _drop(self, records: pl.DataFrame, rows: pl.DataFrame) -> Outcome:
        """A copy under another label stays: which of the two is right is not for this step to
        say.
        """
        spare = rows.with_columns(pl.col("id").first().over("cluster", "label").alias("first"))
        spare = spare.filter(pl.col("id") != pl.col("first"))
        return Outcome.of(
            records,
            dropped={
                i: f"near-duplicate of {first}"
                for i, first in spare.select("id", "first").iter_rows()
            },
        )

    def _group(self, records: pl.DataFrame, rows: pl.DataFrame, notes: list[str]) -> Outcome:
        """Fill empty groups only: a group that is there (an event, a pair) knows more than we
        do.
        """
        own = pl.col("group").drop_nulls()
        named = rows.with_columns(
            pl.coalesce(
                own.first().over("cluster"),
                pl.format("near-{}", pl.col("id").first().over("cluster")),
            ).alias("new"),
            own.n_unique().over("cluster").alias("groups"),
        )
        torn = named.filter(pl.col("groups") > 1)["cluster"].n_unique()
        if torn:
            spans = f"{several(torn, 'cluster')} {verb(torn, 'spans', 'span')}"
            notes.append(
                f"{spans} several groups that the records already had: a split may separate them"
            )
        empty = named.filter(pl.col("group").is_null())
        groups = records.select("id", "group").join(
            empty.select("id", "new"), on="id", how="left", maintain_order="left"
        )
        rest = records.with_columns(
            groups.select(pl.coalesce("group", "new").alias("group")).to_series()
        )
        changed: list[Change] = [
            (i, "group", None, new, "near-duplicates share a group")
            for i, new in empty.select("id", "new").iter_rows()
        ]
        return Outcome.of(records, kept=rest, changed=changed)


STEP = NearDuplicates
