"""Studies, with their tables over any two axes and each figure a link to its runs; the claims that
an overlap found in several datasets; saved reports and the trace viewer, which bring their own
styles and script and are opened in a sandbox.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import polars as pl
from fastapi import Query
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.responses import Response

from claimlab.core.errors import DataError, NotFound
from claimlab.core.grants import own_file
from claimlab.core.guard import files_of
from claimlab.core.registry import Registry
from claimlab.core.tables import scan_parquet
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Table, Value, cell, excerpt
from claimlab.web.filters import Facet, PageFilters, Turning, Values, facet, tally, turning
from claimlab.web.gate import REPORT_POLICY
from claimlab.web.memo import Memo, state_of
from claimlab.web.page import Here, Report, Study, Traces, page, routes
from claimlab.web.workspace import (
    PAGE,
    FolderEntry,
    FolderName,
    Shape,
    Word,
    WorkspaceFolder,
    inner_id,
    record_link,
)

if TYPE_CHECKING:
    from claimlab.study.entry import BoardEntry as Scored

CELLS, STEPS_FOLDER = "cells.json", "steps"
CLAIMS = "claims.parquet"  # of an overlap
HISTORY = ("first", "last", "datasets", "verdicts", "languages")  # of a claim
WORDS, OPENING = "report.md", 20_000  # how many characters its title and conclusion are within
ESCAPED = re.compile(r"\\([^\w\s])")
KINDS = {
    **dict.fromkeys((".md", ".tex", ".txt"), "text/plain; charset=utf-8"),
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
# What installed packages offer to show a kind of data in: a page, of a folder and of how many.
VIEWERS: Registry[Callable[[Path, int], str]] = Registry("viewer", group="claimlab.viewers")
TRACES = "traces"


class StudyCell(Shape):
    """A figure as it is shown, and the run that it leads to: that of the first seed."""

    text: str
    title: str | None = None
    link: str | None = None


class StudyTable(Shape):
    caption: str
    columns: list[str]
    rows: list[list[StudyCell]]


class SettingRow(Shape):
    """One choice on every axis, with a run for each seed."""

    name: str
    macro_f1: float | None
    interval: tuple[float, float] | None
    failed: str | None
    runs: list[str]
    """Links, in the order of the seeds."""


class StudyPage(FolderName):
    conclusion: str
    axes: list[str] = []
    measures: dict[str, str] = {}
    rows: str = ""
    columns: str = ""
    cells: str = ""
    tables: list[StudyTable] = []
    settings: list[SettingRow] = []
    report: str | None = None
    """The saved page, with figures and significance."""


class Axes(Shape):
    """What a table has in its rows, columns and cells; the study's own choice where it is left
    out.
    """

    rows: Word = ""
    columns: Word = ""
    cells: Word = ""


@page("/studies/{place}", "study.html.jinja")
def study_page(place: Study, axes_in: Annotated[Axes, Query()], workspace: Here) -> StudyPage:
    """The tables of a study over any two of its axes."""
    from claimlab.study.saved import DATA, REPORT

    id, report = place.entry.id, inner_id(place.entry.id, REPORT)
    file = place.folder / REPORT / DATA
    if not file.is_file():
        return StudyPage(**place.named, conclusion=state_of_study(place))
    link = f"/reports/{report}/index.html" if report in workspace.places() else None
    try:
        return _study_page(place, axes_in.model_dump(), link)
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DataError(
            f"The study '{id}' is not as claimlab writes it ({type(error).__name__}).",
            "Run the study again, or ask whoever sent it.",
        ) from error


def _study_page(place: Study, chosen: JsonObject, report: str | None) -> StudyPage:
    from claimlab.study.grid_tables import MEASURES, tables_of, views
    from claimlab.study.saved import saved_study

    id = place.entry.id
    study, scored, content = saved_study(place.folder)
    table = next(views(study, scored, **chosen), None)  # that of the first table
    if table is None:
        raise LookupError("a study without a table")
    view = table[0]
    axes = list(dict.fromkeys(axis for entry in scored for axis in entry.axes))
    tables = tables_of(study, scored, **chosen, link=True)
    return StudyPage(
        id=id,
        name=study.name,
        conclusion=content.get("conclusion", ""),
        axes=axes,
        measures=MEASURES,
        rows=view.rows,
        columns=view.columns,
        cells=view.cells,
        tables=[_table(each, id) for each in tables],
        settings=[_setting(entry, id) for entry in scored],
        report=report,
    )


def state_of_study(place: WorkspaceFolder) -> str:
    """How far a study is, in a few words."""
    try:
        cells = json.loads((place.folder / CELLS).read_text("utf-8"))
        failed = sum(cell["failed"] is not None for cell in cells)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
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
    def shown(value: Value) -> StudyCell:
        one = cell(value)
        link = _run_link(study, one.link.rpartition("/")[2]) if one.link else None
        return StudyCell(text=one.text, title=one.title, link=link)

    rows = [[shown(value) for value in row] for row in table.rows]
    return StudyTable(caption=table.caption, columns=list(table.columns), rows=rows)


def _setting(entry: Scored, study: str) -> SettingRow:
    from claimlab.study.grid_tables import words

    return SettingRow(
        name=words(entry.axes),
        macro_f1=entry.macro_f1,
        interval=entry.interval,
        failed=entry.failed,
        runs=[] if entry.failed else [_run_link(study, run) for run in entry.runs],
    )


_viewers, _claims = Memo(8), Memo(8)


class ReportPage(Shape):
    """What a saved report holds."""

    entry: FolderEntry
    title: str
    conclusion: str
    files: dict[str, str]
    claims_link: str | None
    """The claims that several datasets have, of an overlap."""


class ClaimFilters(PageFilters):
    """Which of the claims that several datasets have."""

    size: Annotated[int, Field(ge=1, le=200)] = 20
    dataset: Values = []
    """Datasets that all have the claim."""
    verdicts: Values = []
    """The labels that the claim has, such as "false; true"."""


class ClaimsPage(FolderName):
    """The claims that several datasets have, those of most datasets first."""

    filters: ClaimFilters
    turning: Turning
    facets: list[Facet]
    claims: list[JsonObject]
    """Each with its history and its `records`, the earliest first: `at` is where the date of one is
    between the first and the last.
    """


class TracesPage(Shape):
    """The claims of an evolution and how far they went."""

    entry: FolderEntry
    traces: int
    hops: int
    viewer: str
    dataset: str


@page("/reports/{place}", "report.html.jinja")
def report_page(place: Report) -> ReportPage:
    """The files of a saved report."""
    names = [name for name in files_of(place.folder) if _shown(place.folder, name)]
    names.sort(key=lambda name: (name != PAGE, "/" in name, name))
    files = {name: f"/reports/{place.entry.id}/{name}" for name in names}
    title, conclusion = _opening(place.folder) if WORDS in names else ("", "")
    return ReportPage(
        entry=place.entry,
        title=title,
        conclusion=conclusion,
        files=files,
        claims_link=f"{place.entry.link}/claims" if own_file(place.folder, CLAIMS) else None,
    )


@page("/reports/{place}/claims", "claims.html.jinja")
def claims_page(
    place: Report, filters: Annotated[ClaimFilters, Query()], workspace: Here
) -> ClaimsPage:
    """The claims that several datasets have, with their history."""
    table, base = _claims_in(place), f"{place.entry.link}/claims"
    numbers = table.filter(*filters.searched())["claim"].unique()
    for name in filters.dataset:
        numbers = numbers.filter(numbers.is_in(table.filter(dataset=name)["claim"].implode()))
    known = table.filter(pl.col("claim").is_in(numbers.implode()))
    if filters.verdicts:
        known = known.filter(pl.col("verdicts").is_in(filters.verdicts))
    numbers = known["claim"].unique(maintain_order=True)
    where = turning(filters, base, numbers.len())
    shown = numbers.slice((where.number - 1) * filters.size, filters.size)
    parts = known.filter(pl.col("claim").is_in(shown.implode())).partition_by(
        "claim", maintain_order=True
    )
    here = {at.manifest.name: at.entry.id for at in reversed(workspace.of("dataset"))}
    by_dataset, by_claim = known.unique(["claim", "dataset"]), known.unique("claim")
    labels = tally(by_claim["verdicts"].drop_nulls())
    return ClaimsPage(
        **place.named,
        filters=filters,
        turning=where,
        facets=[
            facet(filters, base, "dataset", "Dataset", tally(by_dataset["dataset"])),
            facet(filters, base, "verdicts", "Labels", labels),
        ],
        claims=[_claim(rows, here) for rows in parts],
    )


def _claims_in(place: WorkspaceFolder) -> pl.DataFrame:
    if not own_file(place.folder, CLAIMS):
        problem = f"The report '{place.entry.name}' has no claims of several datasets."
        raise NotFound(problem, "Make one with: claimlab overlap A B -o FOLDER")
    file, date, first = place.folder / CLAIMS, pl.col("date"), pl.col("first")
    days = (pl.col("last") - first).dt.total_days().clip(1)
    scan = scan_parquet(file).select(
        *("claim", "dataset", "id", "text", "date", *HISTORY),
        label=pl.coalesce("veracity", "label_raw"),
        at=(date - first).dt.total_days() / days,
    )
    try:
        return _claims.get(state_of(file), scan.collect)
    except pl.exceptions.PolarsError as error:
        problem = f"'{CLAIMS}' of the report '{place.entry.name}' cannot be read: {error!s:.200}."
        raise DataError(problem, "Make the report again.") from None


def _claim(rows: pl.DataFrame, here: dict[str, str]) -> JsonObject:
    """A claim with its records, each with its page where its dataset is here: by its name, to which
    an overlap may have added the folder.
    """
    records = []
    for row in rows.drop("claim", *HISTORY).iter_rows(named=True):
        id = here.get(row["dataset"].partition(" (")[0])
        link = None if id is None else record_link(id, row["id"])
        records.append({**row, "text": excerpt(row["text"] or "", 300), "link": link})
    return {**rows.select("claim", *HISTORY).row(0, named=True), "records": records}


def _opening(folder: Path) -> tuple[str, str]:
    """Title and conclusion of a report, from its Markdown."""
    with (folder / WORDS).open(encoding="utf-8", errors="replace") as file:
        lines = file.read(OPENING).partition("\n## ")[0].splitlines()
    title = next((line[2:] for line in lines if line.startswith("# ")), "")
    bold = next((line[2:-2] for line in lines if line.startswith("**") and line[2:-2]), "")
    return ESCAPED.sub(r"\1", title), ESCAPED.sub(r"\1", bold)


@routes.get("/reports/{place}/{file:path}", include_in_schema=False)
def report_file(place: Report, file: str) -> Response:
    if not file:
        return RedirectResponse(f"/reports/{place.entry.id}")
    if file not in files_of(place.folder) or not _shown(place.folder, file):
        raise NotFound(
            f"The report '{place.entry.name}' has no file '{file[:200]}'.",
            "Choose one from its list.",
        )
    path = place.folder / file
    content = path.read_bytes()
    if place.entry.study is not None and path.suffix == ".html":
        content = to_workspace(place.entry.study, content)
    return _sandboxed(content, path.suffix)


def _sandboxed(content: bytes | str, suffix: str) -> Response:
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(content, media_type=KINDS[suffix], headers=headers)


@page("/traces/{place}", "traces.html.jinja")
def traces_page(place: Traces) -> TracesPage:
    """Claims on their way through a network."""
    scan = scan_parquet(place.folder / "traces.parquet")
    counts = scan.select(traces=pl.col("trace_id").n_unique(), hops=pl.len()).collect()
    id = place.entry.id
    return TracesPage(
        **counts.row(0, named=True),
        entry=place.entry,
        viewer=f"/traces/{id}/viewer",
        dataset=f"/datasets/{id}",
    )


@routes.get("/traces/{place}/viewer", include_in_schema=False)
def viewer(place: Traces, most: Annotated[int, Query(ge=1, le=200)] = 60) -> Response:
    html = _viewers.get((place.digest, most), lambda: VIEWERS.get(TRACES)(place.folder, most))
    return _sandboxed(html, ".html")


def _shown(folder: Path, name: str) -> bool:
    """Whether the name is of a kind we know, not hidden, and leads to a file in the folder itself:
    by no link and no way around."""
    inner = PurePosixPath(name)
    hidden = any(part.startswith(".") for part in inner.parts)
    return inner.suffix in KINDS and not hidden and own_file(folder, name) is not None
