"""Checks that put a few numbers of each record into a small tree: its length, its position in the
file, which of its columns are filled, and how it was passed on.

Position: a loader that splits before it shuffles trains and tests on different classes where a file
is sorted by class, and a row number that is kept tells the label. Files of one class each that were
read one after another are such an order, too. Cascade: classes are often collected by different
rules, rumours that grew beside news that was sampled. Missing values: a class without dates gives
itself away by what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import histogram
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.columns import filled_columns
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.text.traits import lengths

FEATURES = {
    "size": pl.len(),
    "depth": pl.col("depth").max(),
    "half": pl.col("delay").quantile(0.5),  # minutes to half of the posts
}


@dataclass(frozen=True)
class TreeFeatures:
    """The numbers of each row of `subject`, and what a finding says of them."""

    subject: Subject
    matrix: npt.NDArray[np.floating]
    why: str
    details: JsonObject
    label: str | None = None


@dataclass(frozen=True)
class TreeCheck(FairCheck):
    """`read` gives the numbers of a subject, or nothing, which `missing` words."""

    name: str
    title: str
    question: str
    read: Callable[[Subject], TreeFeatures | None]
    missing: str = ""

    def measure(self, subject: Subject) -> Findings:
        tree = self.read(subject)
        if tree is None:
            yield self.absent(subject, self.missing)
            return
        why = f"A small tree on {tree.why}"
        feature = Numbers(tree.matrix)
        yield self.shortcut(tree.subject, feature, why, tree.label, details=tree.details)


def length(subject: Subject) -> TreeFeatures | None:
    part = sampled(subject)
    texts = part.rows["text"]
    if not part.has_text:
        return None
    characters = texts.str.len_chars().fill_null(0).to_numpy().astype(np.float64)
    medians = part.per_class(characters, lambda lengths: float(np.median(lengths)))
    details = {
        "median_characters": medians,
        "histogram": histogram(part, characters, cut=0.99),
        **part.sampling,
    }
    why = f"the number of characters and words alone (median characters: {_listed(medians)})"
    return TreeFeatures(part, lengths(texts), why, details)


def order(subject: Subject) -> TreeFeatures:
    part = sampled(subject)
    position = np.arange(part.n, dtype=np.float64)
    changes = int((part.y[1:] != part.y[:-1]).sum())
    why = (
        "the position in the file alone, which a split without shuffling follows (the class changes"
        f" {several(changes, 'time')} in {part.n:,} records)"
    )
    details = {"changes": changes, "histogram": histogram(part, position), **part.sampling}
    matrix = position.astype(np.float32)[:, None]
    return TreeFeatures(part, matrix, why, details, "position in the file")


def missing(subject: Subject) -> TreeFeatures | None:
    part = sampled(subject)
    filled = filled_columns(part.rows)
    if not filled.width:
        return None
    table = shares(part, filled)
    worst = table[0]
    spread = ", ".join(f"{name} {100 * share:.0f}%" for name, share in worst["filled"].items())
    of = several(filled.width, "column")
    why = f"which columns are filled, of {of} ('{worst['column']}': {spread})"
    return TreeFeatures(part, filled.to_numpy().astype(np.float32), why, {"filled": table})


def shares(subject: Subject, filled: pl.DataFrame) -> list[JsonObject]:
    """How often each column is filled in each class, most different first."""
    table = []
    for name in filled.columns:
        flags = subject.per_class(filled[name].to_numpy(), lambda values: values)
        of_class = {
            c: float(flags_of_class.mean())
            for c, flags_of_class in flags.items()
            if len(flags_of_class)
        }
        gap = max(of_class.values()) - min(of_class.values())
        table.append({"column": name, "filled": of_class, "difference": gap})
    return sorted(table, key=lambda row: (-row["difference"], row["column"]))


def cascade(subject: Subject) -> TreeFeatures | None:
    posts = subject.table("cascade")
    if posts is None:
        return None
    shapes = posts.group_by("record_id").agg(**FEATURES)
    part = sampled(subject.where(subject.rows["id"].is_in(shapes["record_id"].implode())))
    rows = part.beside(shapes)
    sizes = rows["size"].to_numpy().astype(np.float64)
    medians = part.per_class(
        sizes,
        lambda sizes_of_class: float(np.median(sizes_of_class)) if len(sizes_of_class) else None,
    )
    why = (
        "the number of posts, the depth and the minutes to half of the posts alone (median posts:"
        f" {_listed(medians)})"
    )
    details = {
        "median_posts": medians,
        "histogram": histogram(part, sizes, cut=0.99),
        **part.sampling,
    }
    matrix = rows.select(pl.col(*FEATURES).cast(pl.Float64).fill_null(-1)).to_numpy()
    return TreeFeatures(part, matrix, why, details)


def _listed(medians: Mapping[str, float | None]) -> str:
    return ", ".join(f"{c} {m:,.0f}" for c, m in medians.items() if m is not None)


ENTRIES = [
    TreeCheck(
        "length",
        "Length",
        "Is one class longer than the other?",
        length,
        "The records have no text.",
    ),
    TreeCheck(
        "order",
        "Order of the records",
        "Does the position in the file give the label away?",
        order,
    ),
    TreeCheck(
        "missing",
        "Missing values",
        "Do the columns that are filled or empty give the label away?",
        missing,
        "Every column is filled in all records, or in none.",
    ),
    TreeCheck(
        "cascade",
        "Cascade",
        "Does the size, depth or speed of a cascade give the label away?",
        cascade,
        "The records have no cascades.",
    ),
]
