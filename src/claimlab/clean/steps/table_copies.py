"""Texts that are the same once case, width and whitespace are folded.

Clusters of near-duplicates: kept together by a common group, or reduced to their first
member.

Near-duplicates that carry different labels: at least one of them is wrong, and a person must say
which.

Records that were collected from one page: the same item twice, not two items alike.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from claimlab.clean.near import NearStep
from claimlab.clean.step import CleanStep, labels
from claimlab.core.step import Change, Outcome
from claimlab.core.words import several, verb
from claimlab.text.normalise import normal_form
from claimlab.text.rows import by_slices
from claimlab.text.urls import canonical_urls


class ExactDuplicates(CleanStep):
    name: ClassVar[str] = "exact-duplicates"
    summary: ClassVar[str] = (
        "Keeps the first of texts that are the same, case and whitespace aside; "
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


class Contradictions(NearStep):
    name: ClassVar[str] = "contradictions"
    summary: ClassVar[str] = "Sends near-duplicates under different labels to the doubtful ones."

    def apply(self, records: pl.DataFrame) -> Outcome:
        pairs = self.contradicted(records)
        named = records.select("id", label=labels(records))
        both = zip(
            named[list(pairs)].iter_rows(), named[list(pairs.values())].iter_rows(), strict=True
        )
        doubtful = {
            i: f"{label}, but the near-duplicate {other} is {its}"
            for (i, label), (other, its) in both
        }
        return Outcome.of(records, doubtful=doubtful)


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


ENTRIES = [ExactDuplicates, NearDuplicates, Contradictions, SameSource]
