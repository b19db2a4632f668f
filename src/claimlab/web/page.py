"""One function, two faces: what a page shows as HTML, its twin under /api gives as JSON, and
OpenAPI describes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.errors import ClaimlabError, NotAllowed, NotFound, UsageError
from claimlab.core.plain import plain
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.pages.html import environment
from claimlab.web.workspace import Workspace

Maker = Callable[..., BaseModel]
REFUSALS = (401, 403, 404, 409, 413, 421)
STATUS: tuple[tuple[type[ClaimlabError], int], ...] = (
    (NotFound, 404),
    (NotAllowed, 403),
    (UsageError, 422),
)


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    problem: str
    todo: str


class Pages:
    """Registers pages with their twins on `app`."""

    def __init__(self, app: FastAPI, workspace: Workspace) -> None:
        self.app, self.workspace = app, workspace
        self.helpers: dict[str, Callable[..., Any]] = {}  # what templates may call

    def add(self, path: str, template: str, *, title: str) -> Callable[[Maker], Maker]:
        """The decorated function makes the data of `path`, and of `/api` + `path`; `template` shows
        it.
        """

        def register(make: Maker) -> Maker:
            signature = inspect.signature(make, eval_str=True)
            known: dict[int | str, JsonObject] = {code: {"model": Problem} for code in REFUSALS}
            self.app.get(
                f"/api{path}".rstrip("/"),
                summary=title,
                response_model=signature.return_annotation,
                responses=known,
                tags=["JSON twins of the pages"],
            )(make)
            asks_who = "request" in signature.parameters

            @wraps(make)
            def html(request: Request, **arguments: Any) -> HTMLResponse:
                if asks_who:
                    arguments["request"] = request
                return self.show(request, template, data=make(**arguments))

            first = inspect.Parameter(
                "request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request
            )
            others = [p for p in signature.parameters.values() if p.name != "request"]
            html.__signature__ = inspect.Signature([first, *others], return_annotation=HTMLResponse)  # type: ignore[attr-defined]
            self.app.get(path, response_class=HTMLResponse, include_in_schema=False)(html)
            return make

        return register

    def show(
        self, request: Request, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page in the frame of the workspace. The JSON twin of what is shown is one link away."""
        query = f"?{request.url.query}" if request.url.query else ""
        html = (
            environment("claimlab.web")
            .get_template(template)
            .render(
                csrf=getattr(request.state, "csrf", ""),
                entries=self.workspace.listed() if getattr(request.state, "whole", False) else [],
                here=request.url.path,
                twin=f"/api{request.url.path.rstrip('/')}{query}",
                workspace=self.workspace.name,
                version=__version__,
                **self.helpers,
                **values,
            )
        )
        return HTMLResponse(html, status)

    def explain(self, request: Request, status: int, problem: str, todo: str) -> Response:
        """A sentence instead of an answer: as JSON under /api, as a page elsewhere."""
        if request.url.path.startswith("/api"):
            return JSONResponse({"problem": plain(problem), "todo": plain(todo)}, status)
        return self.show(
            request, "problem.html.jinja", status, problem=problem, todo=todo, code=status
        )


def status_of(error: ClaimlabError) -> int:
    return next((status for kind, status in STATUS if isinstance(error, kind)), 409)
