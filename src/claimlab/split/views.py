"""A split as tables to read: rows per side and class, what leaks, and rows per language."""

from __future__ import annotations

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.ranks import foreseen, records_needed
from claimlab.core.units import Units
from claimlab.pages.blocks import Block, Cell, Column, Columns, Table, Value
from claimlab.split.check import SplitCheck
from claimlab.split.leaks import Leak
from claimlab.split.result import Split
from claimlab.split.strategy import SIDES
from claimlab.tasks import open_task, own_task
from claimlab.text.unit import GROUP, Unit, held_out, unit_names

MOST_LANGUAGES_LISTED = 30  # more are not listed row by row
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
    labelled = test.with_columns(label=labels).drop_nulls("label")
    if not labelled.height:
        return []
    unit = Unit(_held_out(dataset) or GROUP)
    units = Units.by(unit.column, unit_names(labelled, unit))
    where = units.words.replace("record", "test record", 1)
    if units.why_not is not None:
        return [f"Scores on the test part can have no interval and no rank: {units.why_not}."]
    seen = foreseen(codes_of(labelled["label"]), units.codes)
    if seen is None:
        return []
    needed = records_needed(labelled.height, seen, seen / 2)
    return [
        f"With {where}, differences in macro-F1 below about {100 * seen:.1f} points are often"
        " missed (power 80%, two detectors that are right on 80% of them); half of that would take"
        f" about {needed:,} records."
    ]


def _held_out(dataset: Dataset) -> str | None:
    split = next((step for step in reversed(dataset.lineage) if step.step == "split"), None)
    return None if split is None else held_out(split.parameters)


def blocks(checked: SplitCheck) -> list[Block]:
    """The tables of one split."""
    tables: list[Block] = [sides_table(checked)]
    if checked.leaks:
        tables.append(leaks_table(checked))
    languages = checked.cells["language"].drop_nulls().n_unique()
    if 1 < languages <= MOST_LANGUAGES_LISTED:
        tables.append(languages_table(checked))
    return tables


def sides_table(checked: SplitCheck) -> Table:
    """Rows per side and class."""
    count, labels = tallied(checked, "label")
    classes = [NO_LABEL if label is None else label for label in labels]
    total = checked.sides()
    used = max(1, sum(total.values()))
    rows: list[list[Value]] = [
        [
            side,
            total[side],
            Cell(f"{100 * total[side] / used:.1f}%", sort=total[side] / used),
            *(count.get((side, label), 0) for label in labels),
        ]
        for side in SIDES
    ]
    if checked.unused:
        rows.append(["unused", checked.unused, *[None] * (len(classes) + 1)])
    return Table(["part", "records", "share", *classes], rows)


def leaks_table(checked: SplitCheck) -> Table:
    """How many rows of one part also occur in another."""
    columns: Columns[Leak] = (
        Column("leak", lambda leak: f"{leak.of} in {leak.seen_in}"),
        Column("records", "rows"),
        Column("same text", "exact", toned),
        Column("near text", "near", toned),
        Column("same label"),
        Column("other label"),
        Column("group", format=toned),
    )
    return Table.of(columns, checked.leaks)


def languages_table(checked: SplitCheck) -> Table:
    """Rows per side and language; those whose language is not known come last, under no code."""
    count, languages = tallied(checked, "language")
    rows: list[list[Value]] = [
        [language or UNKNOWN, *(count.get((side, language), 0) for side in SIDES)]
        for language in languages
    ]
    return Table(["language", *SIDES], rows)


def tallied(
    checked: SplitCheck, column: str
) -> tuple[dict[tuple[str, str | None], int], list[str | None]]:
    """Rows by side and value, and the values; null comes last."""
    tally = checked.cells.group_by("split", column).agg(pl.col("records").sum())
    values = checked.cells[column].unique().sort(nulls_last=True)
    return {(side, value): n for side, value, n in tally.iter_rows()}, values.to_list()


def toned(n: int | None) -> Cell | None:
    """Null is a dash: not measured, which is not the same as none."""
    return None if n is None else Cell(f"{n:,}", sort=float(n), tone="warn" if n else "pass")
