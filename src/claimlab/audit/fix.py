"""A dataset with what can be removed taken out: doubtful rows set aside, copies dropped, a split
that leaks nothing.
"""

from __future__ import annotations

from collections import Counter
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
from claimlab.core.stats.deal import Codes, codes_of, deal, linked
from claimlab.core.step import CHANGED
from claimlab.core.step import reasons as as_table
from claimlab.text.near import near_texts
from claimlab.text.normalise import normal_form

STEP = "fix"
SIDES = ("train", "dev", "test")
SHARES = (0.7, 0.1, 0.2)


@dataclass(frozen=True)
class Repaired:
    """The repaired dataset, and how many rows each reason took out."""

    dataset: Dataset
    removed: dict[str, int]  # reason -> rows
    moved: int  # rows whose side changed
    groups: int  # sets of rows that had to stay together
    parted: int  # of them, how many were on more than one side before


def repair(dataset: Dataset, *, target: str | None = None, seed: int = 0) -> Repaired:
    """Set conflicting rows aside, drop later copies, and deal what is left into a grouped,
    stratified split.
    """
    subject = Subject.of(dataset, target)
    doubtful = conflicting(subject)
    labelled = dataset.records.with_columns(labels_of(subject))
    rest = labelled.filter(~pl.col("id").is_in(list(doubtful)))
    dropped = copies(rest)
    stays = ~rest["id"].is_in(list(dropped))
    remaining = rest.filter(stays)
    if not remaining.height:
        raise DataError(
            f"Nothing of '{dataset.name}' would be left: every record is in a conflict or a copy.",
            "Look at the findings of: claimlab audit",
        )
    bound = together(rest)  # with copies: what belonged to one belongs to the record that stays
    groups = bound[stays.to_numpy()]
    side = deal(codes_of(remaining["label"]), groups, SHARES, seed)
    after = remaining.drop("label").with_columns(pl.Series("split", np.array(SIDES)[side]))
    changes = _changes(remaining, after)
    counts = {
        "before": dataset.records.height,
        "kept": after.height,
        "dropped": len(dropped),
        "doubtful": len(doubtful),
        "split_changed": changes.height,
    }
    step = Lineage(
        step=STEP,
        parameters={"target": target, "shares": dict(zip(SIDES, SHARES, strict=True))},
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
        moved=changes.height,
        groups=len(np.unique(groups)),
        parted=_parted(rest, bound),
    )


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
    known = records.select("id", "label", text=normal_form(records["text"])).drop_nulls("text")
    first = known.select("id", first=pl.col("id").first().over("text", "label")).rechunk()
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
    rows = dataset.records.join(as_table(reasons), on="id").with_columns(step=pl.lit(STEP))
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
    return changed.select(*CHANGED).cast(pl.Schema(CHANGED))


def _parted(records: pl.DataFrame, groups: Codes) -> int:
    frame = pl.DataFrame({"group": groups, "split": records["split"]}).drop_nulls("split")
    sides = frame.group_by("group").agg(pl.col("split").n_unique())
    return sides.filter(pl.col("split") > 1).height
