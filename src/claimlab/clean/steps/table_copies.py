"""The steps on copies: texts that are the same once case, width and whitespace are folded, clusters
of near-duplicates, near-duplicates that carry different labels, and records from one page.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import polars as pl

from claimlab.clean.near_step import NearStep
from claimlab.clean.step import CleanStep, Outcome, labels, reasons
from claimlab.core.words import several, verb
from claimlab.text.normalise import normal_form
from claimlab.text.rows import by_slices
from claimlab.text.urls import canonical_urls


def weights(spare: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """How many records each one stands for whose copies (`spare`, with the `first` of each cluster)
    are dropped: one of each cluster is kept with its weight."""
    counts = spare.group_by(record_id="first", maintain_order=True).agg(weight=pl.len() + 1)
    return {"weights": counts.cast({"weight": pl.Int64})} if counts.height else {}


class ExactDuplicatesStep(CleanStep):
    name = "exact-duplicates"
    summary = (
        "Keeps the first of texts that are the same, case and whitespace aside; "
        "those under different labels are doubtful."
    )

    def apply(self, records: pl.DataFrame) -> Outcome:
        same = pl.col("id").len().over("form") > 1
        alike = records.filter(
            by_slices(lambda texts: normal_form(texts).hash(), records["text"]).is_duplicated()
        )
        every = pl.col("label").drop_nulls().unique().sort().implode()
        formed = alike.select("id", form=normal_form(alike["text"]), label=labels(alike))
        rows = (
            formed.drop_nulls("form")
            .filter(same)
            .with_columns(
                first=pl.col("id").first().over("form"),
                all=every.over("form", mapping_strategy="join"),
            )
        )
        torn = rows.filter(pl.col("all").list.len() > 1)
        spare = rows.filter(pl.col("all").list.len() <= 1, pl.col("id") != pl.col("first"))
        under = {
            i: f"same text under the labels {', '.join(every)}"
            for i, every in torn.select("id", "all").iter_rows()
        }
        dropped = reasons(spare, pl.format("same text as {}", "first"))
        return replace(Outcome.of(records, dropped=dropped, doubtful=under), tables=weights(spare))


class ProtectStep(NearStep):
    name = "protect"
    summary = (
        "Drops what has a copy or near-duplicate in a protected part of the given split, whose own"
        " records stay."
    )

    parts: tuple[str, ...] = ("test",)

    def apply(self, records: pl.DataFrame) -> Outcome:
        held = records["split"].is_in(list(self.parts)).fill_null(value=False).to_numpy()
        ids, others = records["id"].to_list(), self.near_to(records, held)
        dropped = {
            ids[row]: f"near-duplicate of {ids[other]}, which is in {records['split'][other]}"
            for row, other in others.items()
        }
        return Outcome.of(records, dropped=dropped)


class NearDuplicatesStep(NearStep):
    name = "near-duplicates"
    summary = "Puts near-duplicates into one group where they have none, or keeps the first of each label."  # noqa: E501

    action: Literal["group", "drop"] = "group"

    def apply(self, records: pl.DataFrame) -> Outcome:
        clusters = self.clusters(records)
        rows = records.select(
            "id", "group", label=labels(records), cluster=pl.Series(clusters.labels)
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
        drop = self.action == "drop"
        outcome = self._drop(records, rows) if drop else self._group(records, rows, notes)
        # With the label it had at this stage.
        table = rows.select(pl.col("id").alias("record_id"), "cluster", "label")
        tables = {**outcome.tables, "near_duplicates": table}
        return replace(outcome, tables=tables, notes=tuple(notes))

    def _drop(self, records: pl.DataFrame, rows: pl.DataFrame) -> Outcome:
        """A copy under another label stays: which of the two is right is not for this step to
        say.
        """
        spare = rows.with_columns(first=pl.col("id").first().over("cluster", "label"))
        spare = spare.filter(pl.col("id") != pl.col("first"))
        why = pl.format("near-duplicate of {}", "first")
        return replace(Outcome.of(records, dropped=reasons(spare, why)), tables=weights(spare))

    def _group(self, records: pl.DataFrame, rows: pl.DataFrame, notes: list[str]) -> Outcome:
        """Fill empty groups only: a group that is there (an event, a pair) knows more than we
        do.
        """
        own = pl.col("group").drop_nulls()
        named = rows.with_columns(
            new=pl.coalesce(
                own.first().over("cluster"),
                pl.format("near-{}", pl.col("id").first().over("cluster")),
            ),
            groups=own.n_unique().over("cluster"),
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
        rest = records.with_columns(groups.select(group=pl.coalesce("group", "new")).to_series())
        changed = empty.select(
            "id",
            column=pl.lit("group"),
            before="group",
            after="new",
            reason=pl.lit("near-duplicates share a group"),
        )
        return Outcome.of(records, kept=rest, changed=changed)


class ContradictionsStep(NearStep):
    name = "contradictions"
    summary = "Sends near-duplicates under different labels to the doubtful ones."

    def apply(self, records: pl.DataFrame) -> Outcome:
        ids, label = records["id"].to_list(), labels(records).to_list()
        doubtful = {
            ids[row]: f"{label[row]}, but the near-duplicate {ids[other]} is {label[other]}"
            for row, other in self.contradicted(records).items()
        }
        return Outcome.of(records, doubtful=doubtful)


class SameSourceStep(NearStep):
    name = "same-source"
    summary = (
        "Of near-duplicates with the same source URL (of all records with it, if not `alike`),"
        " keeps the first."
    )

    column: Literal["url", "source"] = "url"
    alike: bool = True

    def apply(self, records: pl.DataFrame) -> Outcome:
        cluster = pl.Series(self.clusters(records).labels) if self.alike else pl.lit(0)
        pages = canonical_urls(records[self.column])
        rows = records.select("id", page=pages, cluster=cluster).drop_nulls("page")
        rows = rows.filter(pl.col("cluster") >= 0).with_columns(
            first=pl.col("id").first().over("cluster", "page")
        )
        spare = rows.filter(pl.col("id") != pl.col("first"))
        kind = "near-duplicate of {}" if self.alike else "is, as {},"
        why = pl.format(f"{kind} from the same page {{}}", "first", "page")
        return replace(Outcome.of(records, dropped=reasons(spare, why)), tables=weights(spare))


ENTRIES = [
    ExactDuplicatesStep,
    NearDuplicatesStep,
    ContradictionsStep,
    ProtectStep,
    SameSourceStep,
]
