"""The tables of `[[show]]`: what a step itself wrote, for each dataset, with published figures in
parentheses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName
from claimlab.core.record import SIDE_TABLES, matching
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Cell, Table
from claimlab.study.exhibit import EXPORT, REPORTS, Exhibit
from claimlab.study.file import Count, Show, Value
from claimlab.study.published import Row, card_figure
from claimlab.study.run import STEPS_FOLDER, Grid

RECORDS = "records"
SHARES = (
    "score",
    "low",
    "high",
    "majority",
    "stratified",
    "shuffled",
    "difference",
    "share",
)  # shown in per cent


def exhibit_tables(grid: Grid) -> list[tuple[str, Table]]:
    """The title and the table of each `[[show]]`, in the order of the file."""
    tables = []
    for show in grid.study.show:
        mine = [exhibit for exhibit in grid.shown if exhibit.show is show]
        if mine:
            make = _counted if show.counts else _side_by_side if show.across else _listed
            tables.append((show.title, make(grid, show, mine)))
    return tables


def _read(grid: Grid, exhibit: Exhibit, table: str) -> pl.DataFrame | str:
    """The table of a step, or why there is none."""
    if (reason := grid.why(exhibit.node)) is not None:
        return reason
    folder = grid.output / STEPS_FOLDER / exhibit.node.name
    if exhibit.show.step == EXPORT:
        return _exported(folder)
    if exhibit.show.step in REPORTS:
        frame = _findings(folder) if exhibit.show.step == "audit" else _figures(folder, table)
        return frame.with_columns((100 * pl.col(c)).alias(c) for c in SHARES if c in frame.columns)
    from claimlab.clean.run import LOGS

    dataset = Dataset.open(folder)
    if table in (*SIDE_TABLES, *LOGS) and table not in dataset.tables:
        return pl.DataFrame()  # a step that has nothing to tell writes no such table
    if table != RECORDS and table not in dataset.tables:
        return str(UnknownName("table", table, [RECORDS, *sorted(dataset.tables)]))
    return dataset.records if table == RECORDS else dataset.tables[table]


def _findings(folder: Path) -> pl.DataFrame:
    from claimlab.audit.result import read_audits

    audits = read_audits(folder)
    for audit in audits:
        audit.findings = [each for finding in audit.findings for each in finding.every]
    return pl.concat([audit.table for audit in audits])


def _figures(folder: Path, table: str) -> pl.DataFrame:
    rows = json.loads((folder / "drift.json").read_text(encoding="utf-8")).get(table) or []
    return pl.DataFrame(rows, infer_schema_length=None)


def _exported(folder: Path) -> pl.DataFrame:
    """Where an export is, its format, and what it holds."""
    from claimlab.exchange.marker import read_marker

    marker = read_marker(folder)
    return pl.DataFrame([{"folder": folder.name, "format": marker.format, **marker.export.counts}])


def _counted(grid: Grid, show: Show, mine: Sequence[Exhibit]) -> Table:
    rows: list[Row] = [
        [count.name, *(_count(grid, exhibit, count) for exhibit in mine)] for count in show.counts
    ]
    return Table(["", *(", ".join(e.axes.values()) for e in mine)], rows, caption=_caption(show))


def _count(grid: Grid, exhibit: Exhibit, count: Count) -> Cell:
    frame = _read(grid, exhibit, count.table)
    if isinstance(frame, str):
        return Cell("failed", tone="not-measured", title=frame)
    return _beside(
        _filtered(frame, count.where).height, count.published.get(exhibit.axes["dataset"])
    )


def _filtered(frame: pl.DataFrame, where: Mapping[str, Value | list[Value]]) -> pl.DataFrame:
    if not frame.width:
        return frame
    return frame.filter(
        matching(
            frame,
            {name: value if isinstance(value, list) else [value] for name, value in where.items()},
        )
    )


def _listed(grid: Grid, show: Show, mine: Sequence[Exhibit]) -> Table:
    frames = [(exhibit, _read(grid, exhibit, show.table or RECORDS)) for exhibit in mine]
    whole = [frame for _, frame in frames if isinstance(frame, pl.DataFrame)]
    columns = show.columns or list(dict.fromkeys(c for frame in whole for c in frame.columns))
    axes = list(dict.fromkeys(axis for exhibit in mine for axis in exhibit.axes))
    here = {exhibit.axes["dataset"] for exhibit in mine}
    left, rows = [p for p in show.published if p.get("dataset", "") in ("", *here)], list[Row]()
    for exhibit, frame in frames:
        named: JsonObject = dict(exhibit.axes)
        if isinstance(frame, str):
            failed = Cell("failed", tone="not-measured", title=frame)
            rows.append([*(named[axis] for axis in axes), *(failed for _ in columns)])
            continue
        for row in _filtered(frame, show.where).iter_rows(named=True):
            other = next((p for p in left if _same(p, named | row)), {})
            left = [p for p in left if p is not other]
            rows.append(
                [
                    *(named[axis] for axis in axes),
                    *(_beside(row.get(c), other.get(c)) for c in columns),
                ]
            )
    for other in left:
        rows.append(
            [*(str(other.get(axis, "")) for axis in axes), *(_only(other.get(c)) for c in columns)]
        )
    return Table([*axes, *(c.replace("_", " ") for c in columns)], rows, caption=_caption(show))


def _side_by_side(grid: Grid, show: Show, mine: Sequence[Exhibit]) -> Table:
    """One row for each dataset, one column for each variant of the step, and the first column of
    its table inside.
    """
    rows: dict[str, dict[str, Cell]] = {}
    for exhibit in mine:
        value = exhibit.axes.get(show.step, show.values[0] if show.values else "")
        frame = _read(grid, exhibit, show.table or RECORDS)
        dataset = exhibit.axes["dataset"]
        card = (
            card_figure(grid.study, dataset, show.card)
            if show.card and value == show.values[0]
            else None
        )
        rows.setdefault(dataset, {})[value] = _first(frame, show, card)
    heads = show.values or [""]
    body: list[Row] = [
        [dataset, *(cells.get(value, Cell("")) for value in heads)]
        for dataset, cells in rows.items()
    ]
    return Table(["dataset", *heads], body, caption=_caption(show))


def _first(frame: pl.DataFrame | str, show: Show, published: float | None) -> Cell:
    if isinstance(frame, str):
        return Cell("failed", tone="not-measured", title=frame)
    row = next(_filtered(frame, show.where).iter_rows(named=True), {})
    ours = [row.get(column) for column in show.columns]
    if not ours or ours[0] is None:
        why = str(row.get("why") or "there is no such row")
        return Cell(
            "not measured" + ("" if published is None else f" ({_number(published)})"), title=why
        )
    rest = ", ".join(_number(value) for value in ours[1:] if value is not None)
    cell = _beside(ours[0], published)
    return replace(cell, text=f"{cell.text} {rest}".strip())


def _same(published: Mapping[str, Value], row: Mapping[str, Any]) -> bool:
    """Whether a published row is about this one: every text in it is the same."""
    return all(
        str(row.get(name)) == value for name, value in published.items() if isinstance(value, str)
    )


def _only(value: Value | None) -> Cell:
    return Cell(value) if isinstance(value, str) else _beside(None, value)


def _beside(ours: Any, published: Value | None) -> Cell:
    text = _number(ours)
    if published is None or isinstance(published, str):
        return Cell(text, sort=ours if isinstance(ours, int | float) else text)
    return Cell(
        f"{text} ({_number(published)})",
        sort=float(ours) if isinstance(ours, int | float) else None,
    )


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:,.1f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def _caption(show: Show) -> str:
    has = show.published or show.card or any(count.published for count in show.counts)
    return f"{show.title}." + (f" In parentheses: {show.source or 'as published'}." if has else "")
