"""The page of a study: its tables over any two axes, each figure a link to its runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from claimlab.core.words import several
from claimlab.pages.blocks import Table, cell
from claimlab.web.page import Pages
from claimlab.web.workspace import Place, Workspace, inner_id

if TYPE_CHECKING:
    from claimlab.study.entry import Entry

CELLS, STEPS_FOLDER = "cells.json", "steps"
Word = Annotated[str, Query(max_length=100)]


class StudyCell(BaseModel):
    """A figure as it is shown, and the run that it leads to: that of the first seed."""

    text: str
    title: str | None = None
    link: str | None = None


class StudyTable(BaseModel):
    caption: str
    columns: list[str]
    rows: list[list[StudyCell]]


class Setting(BaseModel):
    """One choice on every axis, with a run for each seed."""

    name: str
    macro_f1: float | None
    interval: tuple[float, float] | None
    failed: str | None
    runs: list[str] = Field(description="Links, in the order of the seeds.")


class StudyPage(BaseModel):
    id: str
    name: str
    conclusion: str
    axes: list[str]
    measures: dict[str, str]
    rows: str
    columns: str
    cells: str
    tables: list[StudyTable]
    settings: list[Setting]
    report: str | None = Field(description="The saved page, with figures and significance.")


def add_studies(pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add(
        "/studies/{study}",
        "study.html.jinja",
        title="The tables of a study over any two of its axes",
    )
    def study(study: str, rows: Word = "", columns: Word = "", cells: Word = "") -> StudyPage:
        return study_page(workspace, workspace.get(study, "study"), rows, columns, cells)


def study_page(
    workspace: Workspace, place: Place, rows: str, columns: str, cells: str
) -> StudyPage:
    from claimlab.study.page import DATA, MEASURES, REPORT, saved_study, tables_of, views

    id, report = place.entry.id, inner_id(place.entry.id, REPORT)
    if not (place.folder / REPORT / DATA).is_file():
        return StudyPage(
            id=id,
            name=place.entry.name,
            conclusion=state_of_study(place),
            axes=[],
            measures={},
            rows="",
            columns="",
            cells="",
            tables=[],
            settings=[],
            report=None,
        )
    study, scored = saved_study(place.folder)
    content = json.loads((place.folder / REPORT / DATA).read_text(encoding="utf-8"))
    chosen = {"rows": rows, "columns": columns, "cells": cells}
    view = next(views(study, scored, **chosen))[0]  # that of the first table
    axes = list(dict.fromkeys(axis for entry in scored for axis in entry.axes))
    tables = tables_of(study, scored, rows=rows, columns=columns, cells=cells, link=True)
    return StudyPage(
        id=id,
        name=study.name,
        conclusion=content.get("conclusion", ""),
        axes=axes,
        measures=MEASURES,
        rows=view.rows,
        columns=view.columns,
        cells=view.cells,
        tables=[_table(table, id) for table in tables],
        settings=[_setting(entry, id) for entry in scored],
        report=f"/reports/{report}/index.html" if report in workspace.places() else None,
    )


def state_of_study(place: Place) -> str:
    """How far a study is, in a few words."""
    try:
        cells = json.loads((place.folder / CELLS).read_text(encoding="utf-8"))
        failed = sum(cell["failed"] is not None for cell in cells)
    except (OSError, ValueError, KeyError, TypeError):
        steps = len(list((place.folder / STEPS_FOLDER).glob("*/dataset.json")))
        return f"Not finished: {several(steps, 'step')} done."
    return several(len(cells), "cell") + (f", {failed} failed" if failed else "")


def to_workspace(study: str, html: bytes) -> bytes:
    """The saved page with its links to folders as links to pages: what lies beside it on disk is a
    run here.
    """
    return html.replace(
        f'href="../{STEPS_FOLDER}/'.encode(), f'href="{_run_link(study, "")}'.encode()
    )


def _run_link(study: str, run: str) -> str:
    return f"/runs/{inner_id(study, f'{STEPS_FOLDER}/{run}')}"


def _table(table: Table, study: str) -> StudyTable:
    rows = [
        [
            StudyCell(
                text=one.text,
                title=one.title,
                link=_run_link(study, one.link.rpartition("/")[2]) if one.link else None,
            )
            for one in map(cell, row)
        ]
        for row in table.rows
    ]
    return StudyTable(caption=table.caption, columns=list(table.columns), rows=rows)


def _setting(entry: Entry, study: str) -> Setting:
    from claimlab.study.page import words

    return Setting(
        name=words(entry.axes),
        macro_f1=entry.macro_f1,
        interval=entry.interval,
        failed=entry.failed,
        runs=[] if entry.failed else [_run_link(study, run) for run in entry.runs],
    )
