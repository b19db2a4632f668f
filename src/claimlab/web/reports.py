"""Saved reports and the trace viewer: pages that bring their own styles and script, opened in a
sandbox.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated

from fastapi import FastAPI, Query
from fastapi.responses import RedirectResponse
from pydantic import BaseModel
from starlette.responses import Response

from claimlab.core.errors import NotFound
from claimlab.core.guard import files_of
from claimlab.core.types import JsonObject
from claimlab.web.gate import REPORT_POLICY
from claimlab.web.page import Pages
from claimlab.web.rows import Memo
from claimlab.web.studies import to_workspace
from claimlab.web.workspace import PAGE, Entry, Place

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
