"""A split as tables to read: rows per side and class, what leaks, and rows per language."""

from __future__ import annotations

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.ranks import foreseen, records_needed
from claimlab.core.words import several
from claimlab.pages.blocks import Block, Cell, Table
from claimlab.split.check import Checked
from claimlab.split.job import Split
from claimlab.split.strategy import SIDES
from claimlab.tasks import open_task, own_task

MANY = 30  # languages: more are not listed row by row
NO_LABEL = "no class"  # of the task: LIAR's half-true has a label, and is neither true nor false
UNKNOWN = "not known"


def headline(split: Split) -> str:
    """Its name, and what was held out."""
    values = split.parts.held_out
    more = f" and {len(values) - 6} more" if len(values) > 6 else ""
    return split.name + (f": held out {', '.join(values[:6])}{more}" if values else "")


def left_out(split: Split) -> list[str]:
    """The records on no side, by the reason."""
    return [
        f"{n:,} record{'s'[n == 1 :]} unused: {why}." for why, n in split.parts.left_out.items()
    ]


def limits(dataset: Dataset, task: str | None) -> list[str]:
    """Which differences between two detectors the test records can show, before any is run."""
    test = dataset.records.filter(split="test")
    labels = open_task(own_task(dataset, task), dataset.records).labels(test)
    known = test.select("id", "group", label=labels).drop_nulls("label")
    groups = known.select(pl.coalesce("group", pl.format("record {}", "id"))).to_series()
    seen = foreseen(codes_of(known["label"]), codes_of(groups)) if known.height else None
    if seen is None:
        return []
    size = several(known.height, "test record")
    units = groups.n_unique()
    where = size if units == known.height else f"{size} in {several(units, 'group')}"
    needed = records_needed(known.height, seen, seen / 2)
    return [
        f"With {where}, differences in macro-F1 below about {100 * seen:.1f} points cannot be seen"
        f" (power 80%, two detectors that are right on 80% of them); half of that would take about"
        f" {needed:,} records."
    ]


def blocks(checked: Checked) -> list[Block]:
    """The tables of one split."""
    tables: list[Block] = [sides_table(checked)]
    if checked.leaks:
        tables.append(leaks_table(checked))
    languages = checked.cells["language"].drop_nulls().n_unique()
    if 1 < languages <= MANY:
        tables.append(languages_table(checked))
    return tables


def sides_table(checked: Checked) -> Table:
    """Rows per side and class."""
    tally = checked.cells.with_columns(pl.col("label").fill_null(NO_LABEL))
    count = {
        (s, c): n
        for s, c, n in tally.group_by("split", "label").agg(pl.col("records").sum()).iter_rows()
    }
    classes = sorted({c for _, c in count if c != NO_LABEL}) + [NO_LABEL] * any(
        c == NO_LABEL for _, c in count
    )
    total = checked.sides()
    used = max(1, sum(total.values()))
    rows = [
        [side, total[side], Cell(f"{100 * total[side] / used:.1f}%", sort=total[side] / used)]
        + [count.get((side, c), 0) for c in classes]
        for side in SIDES
    ]
    if checked.unused:
        rows.append(["unused", checked.unused, *[None] * (len(classes) + 1)])
    return Table(["part", "records", "share", *classes], rows)


def leaks_table(checked: Checked) -> Table:
    """How many rows of one part also occur in another."""
    rows = [
        [
            f"{leak.of} in {leak.seen_in}",
            leak.rows,
            *(toned(n) for n in (leak.exact, leak.near)),
            leak.same_label,
            leak.other_label,
            toned(leak.group),
        ]
        for leak in checked.leaks
    ]
    return Table(
        ["leak", "records", "same text", "near text", "same label", "other label", "group"], rows
    )


def languages_table(checked: Checked) -> Table:
    """Rows per side and language; those whose language is not known come last, under no code."""
    tally = checked.cells.group_by("split", "language").agg(pl.col("records").sum())
    count = {(s, c): n for s, c, n in tally.iter_rows()}
    languages = sorted({c for _, c in count if c is not None}) + [None] * any(
        c is None for _, c in count
    )
    rows = [[c or UNKNOWN, *(count.get((side, c), 0) for side in SIDES)] for c in languages]
    return Table(["language", *SIDES], rows)


def toned(n: int | None) -> Cell | None:
    """Null is a dash: not measured, which is not the same as none."""
    return None if n is None else Cell(f"{n:,}", sort=float(n), tone="warn" if n else "pass")
