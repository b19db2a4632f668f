"""A dataset with what can be removed taken out: doubtful rows set aside, copies dropped, a split
that leaks nothing.

A split that is given stays: its dev and test records are those that others score on. What helps is
removed from train. Only where a new split is asked for does a record change sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.audit.checks.near_duplicates import contradicting
from claimlab.audit.checks.table_conflicts import cited, keyed, torn
from claimlab.audit.checks.table_conflicts import texts as texts_of
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.core.stats.codes import Codes, codes_of, linked
from claimlab.core.stats.deal import deal
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.text.near import near_texts
from claimlab.text.normalise import normal_form

STEP = "fix"
REASONS = {"id": pl.String, "reason": pl.String}
CHANGED = ("id", "column", "before", "after", "reason")
SIDES = ("train", "dev", "test")
SHARES = (0.7, 0.1, 0.2)


@dataclass(frozen=True)
class Repaired:
    """The repaired dataset, and how many rows each reason took out."""

    dataset: Dataset
    removed: dict[str, int]  # reason -> rows
    moved: dict[str, int]  # "test records moved to train" -> rows
    groups: int  # sets of rows that had to stay together
    parted: int  # of them, how many were on more than one side before
    kept: dict[str, int]  # side of a given split -> rows that nothing was taken out of

    def lines(self) -> list[str]:
        """What was done, a line for each reason, each way that records moved, and what was kept."""
        return [
            *(f"{several(n, 'record')} removed: {reason}" for reason, n in self.removed.items()),
            *(f"{n:,} {moved}" for moved, n in self.moved.items()),
            *(f"{several(n, f'{side} record')} kept as published" for side, n in self.kept.items()),
        ]

    def removed_ids(self) -> JsonObject:
        """The ids that were taken out, each with its reason and the side that it was on."""
        tables = (self.dataset.tables[name] for name in ("dropped", "doubtful"))
        rows = [table.filter(step=STEP).select("id", "split", "reason") for table in tables]
        return {"dataset": self.dataset.name, "leave_out": pl.concat(rows).to_dicts()}


def repair(
    dataset: Dataset, *, target: str | None = None, seed: int = 0, split: bool = False
) -> Repaired:
    """Set conflicting rows aside, and drop later copies and what leaks. A split that is given is
    kept: rows leave train only; without one, or with `split`, what is left is dealt into a grouped,
    stratified split.
    """
    subject = Subject.of(dataset, target)
    labelled = dataset.records.with_columns(labels_of(subject))
    kept = {} if split else given_parts(dataset.records)
    may_leave = ~labelled["split"].is_in(list(kept)).fill_null(value=False)
    loose = set(labelled.filter(may_leave)["id"])
    doubtful = {i: why for i, why in conflicting(subject).items() if i in loose}
    rest = labelled.filter(~pl.col("id").is_in(list(doubtful)))
    dropped = {i: why for i, why in copies(rest).items() if i in loose}
    if kept:
        dropped |= {i: why for i, why in leaking(rest, list(kept)).items() if i not in dropped}
    stays = ~rest["id"].is_in(list(dropped))
    remaining = rest.filter(stays)
    trained = remaining.filter(split="train") if kept else remaining
    if not trained.height:
        whole = f"the training records of '{dataset.name}'" if kept else f"'{dataset.name}'"
        raise DataError(
            f"Nothing of {whole} would be left: every record is in a conflict or a copy.",
            "Look at the findings of: claimlab audit",
        )
    bound = together(rest)  # with copies: what belonged to one belongs to the record that stays
    groups = bound[stays.to_numpy()]
    after = remaining.drop("label")
    if not kept:
        side = deal(codes_of(remaining["label"]), groups, SHARES, seed)
        after = after.with_columns(pl.Series("split", np.array(SIDES)[side]))
    changes = _changes(remaining, after)
    counts = {
        "before": dataset.records.height,
        "kept": after.height,
        "dropped": len(dropped),
        "doubtful": len(doubtful),
        "split_changed": changes.height,
    }
    how: JsonObject = (
        {"split": "kept"} if kept else {"shares": dict(zip(SIDES, SHARES, strict=True))}
    )
    step = Lineage(
        step=STEP,
        parameters={"target": target, **how},
        seed=seed,
        inputs={dataset.name: dataset.digest()},
        counts=counts,
    )
    tables = {
        **dataset.tables,
        "dropped": _removed(dataset, "dropped", dropped),
        "doubtful": _removed(dataset, "doubtful", doubtful),
        "changes": _below(dataset, "changes", changes),
    }
    reasons = [reason.split(" (")[0] for reason in [*doubtful.values(), *dropped.values()]]
    return Repaired(
        dataset=dataset.derive(after, step, tables),
        removed=dict(Counter(reasons)),
        moved=_moved(changes),
        groups=len(np.unique(groups)),
        parted=_parted(rest, bound),
        kept=kept,
    )


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


def together(records: pl.DataFrame) -> Codes:
    """A code per row; rows of one code (same or near text, same group) must stay on one side."""
    normal = normal_form(records["text"])
    return linked(
        [codes_of(normal), codes_of(records["group"]), near_texts(normal).clusters], records.height
    )


def labels_of(subject: Subject) -> pl.Series:
    """A label for every record of the dataset, for telling copies and for an even split.

    A record outside the target's classes still has a verdict ("mixed", "unknown"), and copies of it
    must agree on that.
    """
    every = subject.dataset.records.select("id", "veracity").join(
        subject.labels, on="id", how="left", maintain_order="left"
    )
    return every.select(label=pl.coalesce("label", "veracity", pl.lit("no label"))).to_series()


def _removed(dataset: Dataset, table: str, reasons: dict[str, str]) -> pl.DataFrame:
    """The rows taken out with their reason, below those that earlier steps took out."""
    why = pl.DataFrame({"id": list(reasons), "reason": list(reasons.values())}, schema=REASONS)
    rows = dataset.records.join(why, on="id").with_columns(step=pl.lit(STEP))
    return _below(dataset, table, to_side_table(table, rows))


def _below(dataset: Dataset, table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` under those that the table holds already."""
    before = dataset.tables.get(table)
    return rows if before is None else pl.concat([before, rows], how="diagonal_relaxed")


def _changes(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    frame = pl.DataFrame({"id": before["id"], "before": before["split"], "after": after["split"]})
    changed = frame.filter(pl.col("before").ne_missing(pl.col("after"))).with_columns(
        column=pl.lit("split"),
        reason=pl.lit("assigned so that rows that belong together are on one side"),
    )
    return changed.select(pl.col(CHANGED).cast(pl.String))


def _moved(changes: pl.DataFrame) -> dict[str, int]:
    """How many records of each side were moved to which other."""
    ways = changes.drop_nulls("before").group_by("before", "after").len().sort("before", "after")
    return {f"{before} records moved to {after}": n for before, after, n in ways.iter_rows()}


def _parted(records: pl.DataFrame, groups: Codes) -> int:
    frame = pl.DataFrame({"group": groups, "split": records["split"]}).drop_nulls("split")
    sides = frame.group_by("group").agg(pl.col("split").n_unique())
    return sides.filter(pl.col("split") > 1).height
