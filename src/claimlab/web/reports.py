"""Studies, with their tables over any two axes and each figure a link to its runs; saved reports
and the trace viewer, which bring their own styles and script and are opened in a sandbox.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Query
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from claimlab.core.errors import NotFound
from claimlab.core.guard import files_of
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Table, cell
from claimlab.web.gate import REPORT_POLICY
from claimlab.web.page import Pages
from claimlab.web.workspace import PAGE, Entry, Memo, Place, Workspace, inner_id

if TYPE_CHECKING:
    from claimlab.study.entry import Entry as Scored

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


def _setting(entry: Scored, study: str) -> Setting:
    from claimlab.study.page import words

    return Setting(
        name=words(entry.axes),
        macro_f1=entry.macro_f1,
        interval=entry.interval,
        failed=entry.failed,
        runs=[] if entry.failed else [_run_link(study, run) for run in entry.runs],
    )


KINDS = {
    ".html": "text/html; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".tex": "text/plain; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}
_viewers = Memo(8)


class ReportPage(BaseModel):
    """What a saved report holds."""

    entry: Entry
    files: dict[str, str]


class TracesPage(BaseModel):
    """The claims of an evolution and how far they went."""

    entry: Entry
    traces: int
    hops: int
    viewer: str
    dataset: str


def add_reports(app: FastAPI, pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add("/reports/{report}", "report.html.jinja", title="The files of a saved report")
    def report(report: str) -> ReportPage:
        place = workspace.get(report, "report", "audit")
        names = sorted(shown_files(place), key=lambda name: (name != PAGE, "/" in name, name))
        return ReportPage(entry=place.entry, files={n: f"/reports/{report}/{n}" for n in names})

    @app.get("/reports/{report}/{file:path}", include_in_schema=False)
    def report_file(report: str, file: str) -> Response:
        place = workspace.get(report, "report", "audit")
        if not file:
            return RedirectResponse(f"/reports/{report}")
        if file not in files_of(place.folder) or not _shown(place.folder, file):
            raise NotFound(
                f"The report '{place.entry.name}' has no file '{file[:200]}'.",
                "Choose one from its list.",
            )
        path = place.folder / file
        headers = {"Content-Security-Policy": REPORT_POLICY}
        content = path.read_bytes()
        if place.entry.study is not None and path.suffix == ".html":
            content = to_workspace(place.entry.study, content)
        return Response(content, media_type=KINDS[path.suffix], headers=headers)

    @pages.add(
        "/traces/{traces}", "traces.html.jinja", title="Claims on their way through a network"
    )
    def traces(traces: str) -> TracesPage:
        place = workspace.get(traces, "traces")
        table = _traces(place)
        return TracesPage(
            entry=place.entry,
            traces=table["traces"],
            hops=table["hops"],
            viewer=f"/traces/{traces}/viewer",
            dataset=f"/datasets/{traces}",
        )

    @app.get("/traces/{traces}/viewer", include_in_schema=False)
    def viewer(traces: str, most: Annotated[int, Query(ge=1, le=200)] = 60) -> Response:
        place = workspace.get(traces, "traces")
        html = _viewers.get((place.digest, most), lambda: _viewer(place, most))
        return Response(
            html, media_type=KINDS[".html"], headers={"Content-Security-Policy": REPORT_POLICY}
        )


def shown_files(place: Place) -> list[str]:
    """The files that can be shown, of those that claimlab wrote there."""
    return [name for name in files_of(place.folder) if _shown(place.folder, name)]


def _shown(folder: Path, name: str) -> bool:
    """Whether the name is of a kind we know, not hidden, and leads to a file in the folder itself:
    by no link and no way around."""
    inner, path = PurePosixPath(name), folder / name
    hidden = any(part.startswith(".") for part in inner.parts)
    return (
        inner.suffix in KINDS
        and not hidden
        and path.is_file()
        and path.resolve() == folder.resolve() / name
    )


def _traces(place: Place) -> JsonObject:
    import polars as pl

    scan = pl.scan_parquet(place.folder / "traces.parquet")
    return scan.select(traces=pl.col("trace_id").n_unique(), hops=pl.len()).collect().to_dicts()[0]


def _viewer(place: Place, most: int) -> str:
    from claimlab.core.dataset import Dataset
    from claimlab.evolve.drift.hops import read_hops
    from claimlab.evolve.drift.viewer import society_of, to_page

    dataset = Dataset.open(place.folder)
    hops = read_hops([dataset])
    society = society_of(dataset)
    return to_page(
        hops, {hops["run"][0]: society} if society is not None and hops.height else None, most=most
    )
