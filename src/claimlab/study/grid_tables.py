"""The tables of a study: the grid over any two axes, each figure with its interval and a link to
its runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from claimlab.core.choices import one_of
from claimlab.core.stats.chance import STAR
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Cell, Table, percent, span
from claimlab.study.axes import PART, parts_of, view_of
from claimlab.study.entry import (
    TRIVIAL,
    BoardEntry,
    Entries,
    Row,
    beside,
    published_rows,
    rank_mark,
    ranks_explained,
)
from claimlab.study.file import Axes, PublishedFigures, StudyFile, TableView, Value
from claimlab.study.step import NONE, STEPS_FOLDER

MEASURES = {
    "macro_f1": "macro-F1",
    "accuracy": "accuracy",
    "difference": "difference to the baseline",
    "records": "test records",
}
RANDOM = "random"
PLURAL = {axis: f"{axis}s" for axis in ("part", "dataset", "split", "detector", "task")}


def crossed(
    view: TableView,
    scored: Entries,
    where: Axes,
    *,
    published: Sequence[PublishedFigures] = (),
    link: bool = False,
) -> Table:
    """One axis down, one across, and a measure in each cell; a published figure is a row below
    ours, or the last.
    """
    one_of(list(MEASURES), view.cells, "cells")
    entries = [entry for entry in scored if entry.has(where)]
    at = {(entry.axes[view.rows], entry.axes[view.columns]): entry for entry in entries}
    down, across = (list(dict.fromkeys(places)) for places in zip(*at, strict=True))
    heads = [view.rows, *map(str, across), *_aside(view, dict.fromkeys(across))]
    theirs = published_rows(published, view, across, where, scored)
    body: list[Row] = []
    for row in down:
        cells = {column: at.get((row, column)) for column in across}
        texts = (_shown(entry, view.cells, link=link) for entry in cells.values())
        line: Row = [str(row), *texts, *_aside(view, cells).values()]
        body += [line, *(other for about, other in theirs if about == row)]
    body += [line for about, line in theirs if about not in down]
    padded = [[*line, *[Cell("")] * (len(heads) - len(line))] for line in body]
    return Table(heads, padded, caption=_caption(view, where, entries))


def _aside(view: TableView, cells: Mapping[Value, BoardEntry | None]) -> dict[str, Cell | int]:
    """What a row has behind its cells: the difference of two of them, and the test records."""
    more: dict[str, Cell | int] = {}
    if len(view.gap) == 2 and set(view.gap) <= set(cells):
        first, second = (cells[column] for column in view.gap)
        more[f"{view.gap[0]} less {view.gap[1]}"] = _gap(first, second, view.cells)
    if view.records:
        more[MEASURES["records"]] = max((e.records for e in cells.values() if e), default=0)
    return more


def _caption(view: TableView, where: Axes, entries: Entries) -> str:
    """What the table shows, of which setting, and what its stars say."""
    rows, columns = (PLURAL.get(axis, axis) for axis in (view.rows, view.columns))
    named = next((entry.against for entry in entries if entry.against), TRIVIAL)
    measure = f"difference to {named}" if view.cells == "difference" else MEASURES[view.cells]
    caption = f"{measure}; rows: {rows}, columns: {columns}."
    if words(where):
        caption += f" {words(where)}."
    if any(starred(entry, view.cells) for entry in entries):
        caption += f" {_star(view.cells, named)}"
    if view.cells == "macro_f1":
        caption += ranks_explained(entries)
    return caption


def _star(measure: str, named: str) -> str:
    above = STAR.format("figures of this study")
    if measure != "difference" or named == TRIVIAL:
        return above
    clear = (
        "* clear of zero: p below 0.05, corrected by Holm's method for all figures of this study"
    )
    return f"{clear}; where it is above zero, also {above[2:]}"


def starred(entry: BoardEntry, measure: str) -> bool:
    """Whether a figure has a star: the score is above chance, or its difference is clear of it. No
    other figure is tested."""
    return {"macro_f1": entry.chance.beaten, "difference": entry.differs}.get(measure, False)


def _gap(first: BoardEntry | None, second: BoardEntry | None, measure: str) -> Cell:
    above, below = getattr(first, measure, None), getattr(second, measure, None)
    return percent(None if above is None or below is None else above - below)


def _absent(entry: BoardEntry, measure: str) -> Cell:
    if entry.failed:
        return Cell("failed", tone="not-measured", title=entry.failed)
    if measure == "difference" and entry.against is None:
        return Cell("baseline")
    return Cell("not measured", tone="not-measured", title=entry.failed)


def _shown(entry: BoardEntry | None, measure: str, *, link: bool) -> Cell:
    if entry is None:
        return Cell("", sort=float("-inf"))
    value = getattr(entry, measure)
    if value is None:
        return _absent(entry, measure)
    if measure == "records":
        return Cell(f"{value:,}", sort=float(value))
    ends = {"macro_f1": entry.interval, "difference": entry.difference_interval}.get(measure)
    star = "*" if starred(entry, measure) else ""
    text = f"{percent(value).text}{star}{in_brackets(ends)}"
    if measure == "macro_f1":
        text += rank_mark(entry)
    linked_cell = Cell(text, sort=value)
    return linked(linked_cell, entry) if link else linked_cell


def in_brackets(interval: Interval | None) -> str:
    return "" if interval is None else f" ({span(interval).text})"


def linked(cell: Cell, entry: BoardEntry) -> Cell:
    """The cell as a link to the run of the first seed, from the page in the folder beside the
    steps.
    """
    if entry.failed or not entry.runs:
        return cell
    return replace(cell, link=f"../{STEPS_FOLDER}/{entry.runs[0]}")


def drops(scored: Entries) -> Table | None:
    """The same setting under a random split and under each other one."""
    if "split" not in scored[0].axes:
        return None
    at = {tuple(entry.axes.values()): entry for entry in scored}
    rows: list[Row] = []
    for entry in scored:
        random = at.get(tuple({**entry.axes, "split": RANDOM}.values()))
        if random is None or random is entry or random.macro_f1 is None or entry.macro_f1 is None:
            continue
        figures = [
            linked(percent(entry_beside.macro_f1), entry_beside) for entry_beside in (random, entry)
        ]
        drop = percent(round(random.macro_f1 - entry.macro_f1, 3) + 0.0)
        rows.append([*map(str, entry.axes.values()), *figures, drop])
    return Table([*scored[0].axes, "random", "this split", "drop"], rows) if rows else None


def words(axes: Axes) -> str:
    return ", ".join(
        str(v) if axis == "part" else f"{axis} {v}" for axis, v in axes.items() if v != NONE
    )


def tables_of(
    study: StudyFile, scored: Entries, *, link: bool = False, **axes: str | None
) -> list[Table]:
    """The same of figures at hand, by `rows`, `columns` and `cells`; with `link`, each leads to its
    run.
    """
    figures = beside(study, scored)
    return [
        crossed(view, entries, where, published=figures, link=link)
        for view, entries, where in views(study, scored, **axes)
    ]


def views(
    study: StudyFile, scored: Entries, **axes: str | None
) -> Iterator[tuple[TableView, list[BoardEntry], JsonObject]]:
    """Each table to show: its view, the figures of its part of the study, and the choice on the
    axes it leaves out.
    """
    for name, part in parts_of(study).items():
        entries = [entry for entry in scored if entry.axes.get(PART, "") == name]
        view = view_of(part).model_copy(
            update={axis: value for axis, value in axes.items() if value}
        )
        if not entries:
            continue
        axes_shown = [
            one_of(list(entries[0].axes), getattr(view, name), name) for name in ("rows", "columns")
        ]
        rest = [axis for axis in entries[0].axes if axis not in axes_shown]
        for values in dict.fromkeys(tuple(entry.axes[axis] for axis in rest) for entry in entries):
            yield view, entries, dict(zip(rest, values, strict=True))
