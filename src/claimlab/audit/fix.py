"""Which records an audit advises to take out, each with its reason: those of train that are in a
held-out part, too, later copies, and labels that contradict each other; and the dataset without
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from claimlab.audit.checks.near_duplicates import contradicting
from claimlab.audit.checks.table_conflicts import cited, keyed, torn
from claimlab.audit.checks.table_conflicts import texts as texts_of
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import to_side_table
from claimlab.core.types import JsonObject
from claimlab.text.near import near_texts
from claimlab.text.normalise import normal_form

STEP = "prepare"
REASONS = {"id": pl.String, "reason": pl.String}


@dataclass(frozen=True)
class Repaired:
    """A repaired dataset, what was done in a line each, and which records each step took out."""

    dataset: Dataset
    figures: Mapping[str, int]
    lines: Sequence[str]
    removed: Mapping[str, str]  # id -> reason
    sides: Mapping[str, str | None]  # id -> the side of the split that it was on

    def removed_ids(self) -> JsonObject:
        """The ids that were taken out, each with its reason and the side that it was on."""
        rows: list[JsonObject] = [
            {"id": record, "split": self.sides.get(record), "reason": reason}
            for record, reason in self.removed.items()
        ]
        return {"dataset": self.dataset.name, "leave_out": rows}


def without(
    dataset: Dataset, step: str, reasons: Mapping[str, str], table: str, seed: int
) -> Dataset:
    """The dataset without the records of `reasons` (id -> reason), which go to a side table."""
    rest = dataset.records.filter(~pl.col("id").is_in(list(reasons)))
    why = pl.DataFrame({"id": list(reasons), "reason": list(reasons.values())}, schema=REASONS)
    rows = dataset.records.join(why, on="id", maintain_order="left", how="inner").with_columns(
        step=pl.lit(f"{STEP}: {step}")
    )
    aside = to_side_table(table, rows)
    before = dataset.tables.get(table)
    grown = aside if before is None else pl.concat([before, aside], how="diagonal_relaxed")
    lineage = Lineage(
        step=STEP,
        parameters={"step": step},
        seed=seed,
        inputs={dataset.name: dataset.digest()},
        counts={"in": dataset.records.height, "records": rest.height, table: len(reasons)},
    )
    return dataset.derive(rest, lineage, {**dataset.tables, table: grown})


def given_parts(records: pl.DataFrame) -> dict[str, int]:
    """How many rows each part of a given split has besides train; empty where no split is given."""
    counts = dict(records["split"].drop_nulls().value_counts().iter_rows())
    train = counts.pop("train", 0)
    return {side: counts[side] for side in sorted(counts)} if train else {}


def leaking(records: pl.DataFrame, kept: Sequence[str]) -> dict[str, str]:
    """Id -> reason for every row whose text, exactly or nearly, is in a part that is kept."""
    normal = normal_form(records["text"])
    held_out = records["split"].is_in(list(kept)).fill_null(value=False).to_numpy()
    copied = near_texts(normal).copied(~held_out, held_out)
    names = " or ".join(kept)
    return dict.fromkeys(records["id"].filter(pl.Series(copied)), f"near-duplicate in {names}")


def conflicting(subject: Subject) -> dict[str, str]:
    """Id -> reason for rows whose text, near text or URL has more than one label."""
    out: dict[str, str] = {}
    if len(subject.classes) < 2:
        return out
    texts = torn(keyed(subject, texts_of(subject)))
    out.update(dict.fromkeys(texts["id"], "the same text has another label elsewhere"))
    near = [subject.ids[i] for i in contradicting(subject).tolist()]
    out.update({i: "a near-duplicate has another label" for i in near if i not in out})
    urls = torn(keyed(subject, cited(subject)))
    for record, url in zip(urls["id"], urls["key"], strict=True):
        out.setdefault(record, f"another record with its URL has another label ({url})")
    return out


def copies(records: pl.DataFrame) -> dict[str, str]:
    """Id -> reason for every later record with the same text and the same `label` as an earlier
    one.
    """
    labelled = records.select("id", "label", text=normal_form(records["text"])).drop_nulls("text")
    first = labelled.select("id", first=pl.col("id").first().over("text", "label")).rechunk()
    why = pl.format("copy of an earlier record with the same label ({})", "first")
    return dict(first.filter(pl.col("id") != pl.col("first")).select("id", why).iter_rows())


def labels_of(subject: Subject) -> pl.Series:
    """A label for every record of the dataset, for telling copies and for an even split.

    A record outside the target's classes still has a verdict ("mixed", "unknown"), and copies of it
    must agree on that.
    """
    every = subject.dataset.records.select("id", "veracity").join(
        subject.labels, on="id", how="left", maintain_order="left"
    )
    return every.select(label=pl.coalesce("label", "veracity", pl.lit("no label"))).to_series()
