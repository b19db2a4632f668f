"""Texts that are the same once case, width and whitespace are folded.

Clusters of near-duplicates: kept together by a common group, or reduced to their first
member.

Near-duplicates that carry different labels: at least one of them is wrong, and a person must say
which.

Records that were collected from one page: the same item twice, not two items alike."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep, Place, labels, reasons
from claimlab.core.digest import digest_file, digest_table, write_parquet
from claimlab.core.engine.names import current
from claimlab.core.step import Outcome
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.text.neardup import Clusters, akin_clusters, find_clusters, stream_clusters
from claimlab.text.neardup.stream import needed, parse_memory
from claimlab.text.normalise import normal_form
from claimlab.text.rows import by_slices
from claimlab.text.urls import canonical_urls

# How the search is done: the result is the same, so the lineage does not tell.
HOW = {"stream", "memory", "work"}


class NearStep(CleanStep):
    """The base of steps that look for near-duplicates. `finder = "akin"` is for reaching published
    figures again.

    With `stream = "auto"` the search works on disk, in the work folder of the run, where it would
    need more than `memory` or the run names an engine; "always" and "never" settle it. The clusters
    are the same.
    """

    threshold: float = Field(default=0.7, gt=0, le=1)
    ngram: int = Field(default=5, ge=1)
    unit: Literal["char", "word"] = "char"
    recall: float = Field(default=0.99, gt=0, lt=1)
    finder: Literal["jaccard", "akin"] = "jaccard"
    stream: Literal["auto", "always", "never"] = "auto"
    memory: str = "8GB"
    work: Place | None = None

    def parameters(self) -> JsonObject:
        return self.model_dump(mode="json", exclude=HOW | set(self.needs))

    def clusters(self, records: pl.DataFrame) -> Clusters:
        texts = records["text"]
        if self.finder == "akin":
            return akin_clusters(texts, threshold=self.threshold)
        large = needed(texts) + records.estimated_size() > parse_memory(self.memory)
        if self.stream == "always" or (self.stream == "auto" and (large or current().engine)):
            place = None if self.work is None else self.work(self.name)
            if place is not None:
                return self._streamed(texts, place)
            with tempfile.TemporaryDirectory(prefix="claimlab-near-") as folder:
                return self._streamed(texts, Path(folder))
        return find_clusters(texts, **self._search)

    @property
    def _search(self) -> JsonObject:
        return self.model_dump(include={"threshold", "ngram", "unit", "recall"})

    def _streamed(self, texts: pl.Series, folder: Path) -> Clusters:
        """The same on disk. A run that was stopped finds the texts it had written, and goes on from
        its last step.
        """
        frame = texts.to_frame("text")
        digest = digest_table(frame)
        file = folder / f"{digest[:16]}.parquet"  # a recipe may have the step twice, on other texts
        if not (file.exists() and digest_file(file) == digest):
            building = file.with_suffix(".building")
            write_parquet(frame, building)
            building.replace(file)
        clusters = stream_clusters(
            file, "text", workdir=folder / "search", memory=self.memory, **self._search
        )
        file.unlink()
        return clusters

    def contradicted(self, records: pl.DataFrame) -> dict[int, int]:
        """Row -> the first row near it that carries another label.

        The finder pairs the copies of one text with its first copy only, so labels are gathered for
        each distinct text: ten thousand copies cost ten thousand steps, not their square.
        """
        label = labels(records).to_list()
        pairs = list(self.clusters(records).pairs)
        # Pairs come sorted by left.
        first = {right: left for left, right, jaccard in pairs if jaccard == 1}
        near: dict[int, set[int]] = defaultdict(set)
        for left, right, _ in pairs:
            one, two = first.get(left, left), first.get(right, right)
            near[one] |= {one, two}
            near[two] |= {one, two}
        rows = sorted({row for left, right, _ in pairs for row in (left, right)})
        # Distinct text -> label -> its first row.
        holders: dict[int, dict[str, int]] = defaultdict(dict)
        for row in rows:
            if label[row] is not None:
                holders[first.get(row, row)].setdefault(label[row], row)
        out = {}
        for row in rows:
            against = [
                other
                for text in near[first.get(row, row)]
                for name, other in holders[text].items()
                if label[row] is not None and name != label[row]
            ]
            if against:
                out[row] = min(against)
        return out


class ExactDuplicates(CleanStep):
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
        return Outcome.of(records, dropped=dropped, doubtful=under)


class NearDuplicates(NearStep):
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
        return replace(outcome, tables={"near_duplicates": table}, notes=tuple(notes))

    def _drop(self, records: pl.DataFrame, rows: pl.DataFrame) -> Outcome:
        """A copy under another label stays: which of the two is right is not for this step to
        say.
        """
        spare = rows.with_columns(first=pl.col("id").first().over("cluster", "label"))
        spare = spare.filter(pl.col("id") != pl.col("first"))
        return Outcome.of(
            records, dropped=reasons(spare, pl.format("near-duplicate of {}", "first"))
        )

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


class Contradictions(NearStep):
    name = "contradictions"
    summary = "Sends near-duplicates under different labels to the doubtful ones."

    def apply(self, records: pl.DataFrame) -> Outcome:
        ids, label = records["id"].to_list(), labels(records).to_list()
        doubtful = {
            ids[row]: f"{label[row]}, but the near-duplicate {ids[other]} is {label[other]}"
            for row, other in self.contradicted(records).items()
        }
        return Outcome.of(records, doubtful=doubtful)


class SameSource(NearStep):
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
        return Outcome.of(records, dropped=reasons(spare, why))


ENTRIES = [ExactDuplicates, NearDuplicates, Contradictions, SameSource]
