"""The tables of `[[show]]`: what a step itself wrote, for each dataset, with published figures in
parentheses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import polars as pl

from claimlab.core.columns import matching
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName
from claimlab.core.record import SIDE_TABLES
from claimlab.core.toml_file import OF_OURS, read_json
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Cell, Table
from claimlab.study.entry import Row, card_figure
from claimlab.study.exhibits import EXPORT, Exhibit
from claimlab.study.file import Axes, Count, Show, Value
from claimlab.study.run import Grid
from claimlab.study.step import REPORTS, STEPS_FOLDER

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
        exhibits = [exhibit for exhibit in grid.shown if exhibit.show is show]
        if exhibits:
            make = _counted if show.counts else _side_by_side if show.across else _listed
            tables.append((show.title, make(grid, show, exhibits)))
    return tables


def _read(grid: Grid, exhibit: Exhibit, table: str) -> pl.DataFrame | str:
    """The table of a step, or why there is none."""
    if (reason := grid.why(exhibit.node)) is not None:
        return reason
    folder = grid.output / STEPS_FOLDER / exhibit.node.name
    if exhibit.show.step == EXPORT:
        return _exported(folder)
    if exhibit.show.step in REPORTS:
        frame = _reported(folder, exhibit.show.step, table)
        return frame.with_columns((100 * pl.col(c)).alias(c) for c in SHARES if c in frame.columns)
    from claimlab.clean.run import LOGS

    dataset = Dataset.open(folder)
    if table in (*SIDE_TABLES, *LOGS) and table not in dataset.tables:
        return pl.DataFrame()  # a step that has nothing to tell writes no such table
    if table != RECORDS and table not in dataset.tables:
        return str(UnknownName("table", table, [RECORDS, *sorted(dataset.tables)]))
    return dataset.records if table == RECORDS else dataset.tables[table]


def _reported(folder: Path, step: str, table: str) -> pl.DataFrame:
    """A table of the report that a step wrote."""
    if step == "audit":
        return _findings(folder)
    report = read_json(folder / REPORTS[step].done, most=OF_OURS)
    rows = _figures(report["scores"]) if step == "match" else report.get(table)
    return pl.DataFrame(rows or [], infer_schema_length=None)


def _findings(folder: Path) -> pl.DataFrame:
    from claimlab.audit.result import read_audits

    audits = read_audits(folder)
    for audit in audits:
        audit.findings = [each for finding in audit.findings for each in finding.every]
    return pl.concat([audit.table for audit in audits])


def _figures(scores: JsonObject) -> list[JsonObject]:
    """The figures of a retriever, which are those of trec_eval, with their intervals."""
    return [
        {"figure": name, "score": score["value"], "low": ends[0], "high": ends[1]}
        for name, score in scores.items()
        if isinstance(score, dict)
        for ends in [score["interval"] or (None, None)]
    ]


def _exported(folder: Path) -> pl.DataFrame:
    """Where an export is, its format, and what it holds."""
    from claimlab.exchange.format import read_marker

    marker = read_marker(folder)
    return pl.DataFrame([{"folder": folder.name, "format": marker.format, **marker.export.counts}])


def _counted(grid: Grid, show: Show, exhibits: Sequence[Exhibit]) -> Table:
    rows: list[Row] = [
        [count.name, *(_count(grid, exhibit, count) for exhibit in exhibits)]
        for count in show.counts
    ]
    return Table(
        ["", *(", ".join(e.axes.values()) for e in exhibits)], rows, caption=_caption(show)
    )


def _count(grid: Grid, exhibit: Exhibit, count: Count) -> Cell:
    frame = _read(grid, exhibit, count.table)
    if isinstance(frame, str):
        return _failed(frame)
    published = count.published.get(exhibit.axes["dataset"])
    try:
        return _beside(_filtered(frame, count.where).height, published)
    except UnknownName as error:  # one column that is not there must not end a study of hours
        return _failed(str(error))


def _failed(why: str) -> Cell:
    return Cell("failed", tone="not-measured", title=why)


def _filtered(frame: pl.DataFrame, where: Mapping[str, Value | list[Value]]) -> pl.DataFrame:
    if not frame.width:
        return frame
    wanted = {name: value if isinstance(value, list) else [value] for name, value in where.items()}
    return frame.filter(matching(frame, wanted))


def _listed(grid: Grid, show: Show, exhibits: Sequence[Exhibit]) -> Table:
    """The rows of every step's table; published rows that are about none of them come last."""
    frames = [_read(grid, exhibit, show.table or RECORDS) for exhibit in exhibits]
    columns_read = [frame.columns for frame in frames if isinstance(frame, pl.DataFrame)]
    columns = show.columns or list(dict.fromkeys(chain.from_iterable(columns_read)))
    axes = list(dict.fromkeys(chain.from_iterable(exhibit.axes for exhibit in exhibits)))
    left = _published(show, exhibits)
    rows: list[Row] = []
    for exhibit, frame in zip(exhibits, frames, strict=True):
        named = [exhibit.axes[axis] for axis in axes]
        rows += [[*named, *line] for line in _lines(exhibit, frame, columns, left)]
    for row in left:
        named = [str(row.get(axis, "")) for axis in axes]
        rows.append([*named, *map(_only, map(row.get, columns))])
    heads = [*axes, *(column.replace("_", " ") for column in columns)]
    return Table(heads, rows, caption=_caption(show))


def _published(show: Show, exhibits: Sequence[Exhibit]) -> list[dict[str, Value]]:
    """The published rows that are about one of these datasets, or about none."""
    here = {"", *(exhibit.axes["dataset"] for exhibit in exhibits)}
    return [row for row in show.published if row.get("dataset", "") in here]


def _lines(
    exhibit: Exhibit,
    frame: pl.DataFrame | str,
    columns: Sequence[str],
    left: list[dict[str, Value]],
) -> Iterator[list[Cell]]:
    """The rows of one step; a published row that is about one of them is taken from those left."""
    if isinstance(frame, str):
        yield [_failed(frame)] * len(columns)
        return
    for row in _filtered(frame, exhibit.show.where).iter_rows(named=True):
        place = next((i for i, other in enumerate(left) if _same(other, exhibit.axes | row)), None)
        published = {} if place is None else left.pop(place)
        yield [_beside(row.get(column), published.get(column)) for column in columns]


def _side_by_side(grid: Grid, show: Show, exhibits: Sequence[Exhibit]) -> Table:
    """One row for each dataset, one column for each variant of the step, and the first column of
    its table inside.
    """
    heads = show.values or [""]
    rows: dict[str, dict[str, Cell]] = {}
    for exhibit in exhibits:
        dataset, value = exhibit.axes["dataset"], exhibit.axes.get(show.step, heads[0])
        on_card = show.card and value == heads[0]
        card = card_figure(grid.study, dataset, show.card) if on_card else None
        frame = _read(grid, exhibit, show.table or RECORDS)
        rows.setdefault(dataset, {})[value] = _first(frame, show, card)
    body: list[Row] = [
        [dataset, *(cells.get(value, Cell("")) for value in heads)]
        for dataset, cells in rows.items()
    ]
    return Table(["dataset", *heads], body, caption=_caption(show))


def _first(frame: pl.DataFrame | str, show: Show, published: float | None) -> Cell:
    if isinstance(frame, str):
        return _failed(frame)
    row = next(_filtered(frame, show.where).iter_rows(named=True), {})
    ours = [row.get(column) for column in show.columns]
    if not ours or ours[0] is None:
        theirs = "" if published is None else f" ({_number(published)})"
        return Cell(f"not measured{theirs}", title=str(row.get("why") or "there is no such row"))
    rest = ", ".join(_number(value) for value in ours[1:] if value is not None)
    cell = _beside(ours[0], published)
    return replace(cell, text=f"{cell.text} {rest}".strip())


def _same(published: Axes, row: JsonObject) -> bool:
    """Whether a published row is about this one: every text in it is the same."""
    return all(
        str(row.get(name)) == value for name, value in published.items() if isinstance(value, str)
    )


def _only(value: Value | None) -> Cell:
    return Cell(value) if isinstance(value, str) else _beside(None, value)


def _beside(ours: object, published: Value | None) -> Cell:
    text, number = _number(ours), ours if isinstance(ours, int | float) else None
    if published is None or isinstance(published, str):
        return Cell(text, sort=text if number is None else number)
    both = f"{text} ({_number(published)})"
    return Cell(both, sort=None if number is None else float(number))


def _number(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _caption(show: Show) -> str:
    has = show.published or show.card or any(count.published for count in show.counts)
    return f"{show.title}." + (f" In parentheses: {show.source or 'as published'}." if has else "")
