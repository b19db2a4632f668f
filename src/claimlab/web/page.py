"""One function, two faces: what a page shows as HTML, its twin under /api gives as JSON, and
OpenAPI describes.

A module declares its pages and what changes something on `routes`; what they are about comes from
the address: a `Run` is the run that it names, `Here` the workspace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.errors import ClaimlabError, NotAllowed, NotFound, UsageError
from claimlab.core.plain import plain
from claimlab.core.version import __version__
from claimlab.pages.html import environment
from claimlab.web.families import families_of
from claimlab.web.workspace import DATASETS, Kind, Shape, Workspace, WorkspaceFolder

Maker = TypeVar("Maker", bound=Callable[..., Shape])
REFUSALS = (401, 403, 404, 409, 413, 421)
STATUS: tuple[tuple[type[ClaimlabError], int], ...] = (
    (NotFound, 404),
    (NotAllowed, 403),
    (UsageError, 422),
)
routes = APIRouter()


class Problem(Shape):
    """What went wrong, and what to do about it."""

    problem: str
    todo: str


class Done(Shape):
    """Where to go on."""

    location: str


def workspace_of(request: Request) -> Workspace:
    workspace: Workspace = request.app.state.workspace
    return workspace


Here = Annotated[Workspace, Depends(workspace_of)]


def _place(*kinds: Kind) -> Any:
    def find(place: str, workspace: Here) -> WorkspaceFolder:
        return workspace.get(place, *kinds)

    return Depends(find)


Data = Annotated[WorkspaceFolder, _place(*DATASETS)]
Run = Annotated[WorkspaceFolder, _place("run")]
Traces = Annotated[WorkspaceFolder, _place("traces")]
Audited = Annotated[WorkspaceFolder, _place("audit")]
Report = Annotated[WorkspaceFolder, _place("report", "audit")]
Reviewed = Annotated[WorkspaceFolder, _place("review")]
Study = Annotated[WorkspaceFolder, _place("study")]


def page(path: str, template: str, **helpers: Any) -> Callable[[Maker], Maker]:
    """The decorated function makes the data of `path`, and of `/api` + `path`; `template` shows it
    and may call `helpers`.
    """

    def register(make: Maker) -> Maker:
        def html(request: Request, data: Shape = Depends(make)) -> HTMLResponse:  # noqa: B008
            return show(request, template, data=data, **helpers)

        twin = routes.get(
            f"/api{path}".rstrip("/"),
            responses={code: {"model": Problem} for code in REFUSALS},
            tags=["JSON twins of the pages"],
        )
        routes.get(path, response_class=HTMLResponse, include_in_schema=False)(html)
        return twin(make)

    return register


def show(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page in the frame of the workspace. The JSON twin of what is shown is one link away."""
    workspace, query = workspace_of(request), request.url.query
    whole = getattr(request.state, "whole", False)
    html = (
        environment("claimlab.web")
        .get_template(template)
        .render(
            csrf=getattr(request.state, "csrf", ""),
            entries=workspace.listed() if whole else None,
            families=families_of(workspace) if whole else [],
            here=request.url.path,
            twin=f"/api{request.url.path.rstrip('/')}{query and f'?{query}'}",
            workspace=workspace,
            jobs=request.app.state.jobs,
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(html, status)


def explain(request: Request, status: int, problem: str, todo: str) -> Response:
    """A sentence instead of an answer: as JSON under /api, as a page elsewhere."""
    if request.url.path.startswith("/api"):
        return JSONResponse({"problem": plain(problem), "todo": plain(todo)}, status)
    return show(request, "problem.html.jinja", status, problem=problem, todo=todo, code=status)


def status_of(error: ClaimlabError) -> int:
    return next((status for kind, status in STATUS if isinstance(error, kind)), 409)
