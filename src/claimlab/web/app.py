"""The workspace as an ASGI application: pages, their JSON twins, and what guards them."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.errors import ClaimlabError, NotFound, UsageError
from claimlab.core.version import __version__
from claimlab.web import (  # noqa: F401
    add,
    annotate,
    audits,
    compare,
    counts,
    datasets,
    home,
    job_pages,
    maps,
    match,
    new_review,
    prediction_page,
    records,
    reviews,
    run_figures,
    runs,
)
from claimlab.web.gate import RequestGate, cookie
from claimlab.web.jobs import Jobs
from claimlab.web.page import Done, explain, routes, show, status_of
from claimlab.web.reviewers import Token, close_reviews, unknown_person
from claimlab.web.settings import ServerSettings
from claimlab.web.workspace import Workspace

# What a page may fetch: by name, from the packages, never from a path of the request.
STATIC = {
    **dict.fromkeys(("look.css", "page.js"), ("claimlab.pages", "templates")),
    **dict.fromkeys(
        ("add.js", "review.js", "workspace.css", "workspace.js"), ("claimlab.web", "static")
    ),
}


@contextlib.asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.jobs.close()
    close_reviews()


def create_app(folder: Path, *, settings: ServerSettings | None = None) -> FastAPI:
    """The application for the workspace at `folder`."""
    chosen = settings or ServerSettings()
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder '{folder}'.",
            "Name the folder that holds your datasets and reports.",
        )
    app = FastAPI(
        title="claimlab workspace",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=_closing,
    )
    workspace = Workspace(folder)
    app.state.workspace, app.state.settings = workspace, chosen
    app.state.jobs = Jobs(workspace.folder, workspace.refresh)
    app.include_router(routes)
    app.exception_handler(ClaimlabError)(known)
    app.exception_handler(RequestValidationError)(invalid)
    app.exception_handler(HTTPException)(refused)
    app.add_middleware(RequestGate, settings=chosen, explain=explain)
    return app


@routes.get("/sign-in", include_in_schema=False)
def sign_in_page(request: Request) -> Response:
    return show(request, "sign-in.html.jinja", api="/api/sign-in", what="workspace")


@routes.post("/api/sign-in", tags=["Signing in"])
def sign_in(body: Token, request: Request, response: Response) -> Done:
    """Leave the token in a cookie, where it is the right one."""
    settings: ServerSettings = request.app.state.settings
    if not hmac.compare_digest(body.token.encode(), settings.token.encode()):
        raise HTTPException(401, "The token is not the one that the server printed.")
    response.headers.append("Set-Cookie", cookie(settings.cookie, settings.token))
    return Done(location="/")


@routes.get("/static/{name}", include_in_schema=False)
def static(name: str) -> Response:
    if name not in STATIC:
        raise NotFound(f"There is no file '{name[:100]}'.", "Go back to the workspace.")
    package, folder = STATIC[name]
    text = (resources.files(package) / folder / name).read_text("utf-8")
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(text, media_type=kind, headers={"Cache-Control": "max-age=60"})


# Every failure is a sentence that says what to do; the gate does the same for unexpected ones.


def known(request: Request, error: ClaimlabError) -> Response:
    if isinstance(error, NotFound) and not request.state.whole:
        # Says nothing of what there is.
        error = unknown_person(request.path_params.get("place", ""))
    return explain(request, status_of(error), error.problem, error.todo)


def invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:]) or "The request"
    problem = f"'{name}' is not valid: {first['msg']}."
    return explain(request, 422, problem, "Change it and try again.")


def refused(request: Request, error: HTTPException) -> Response:
    words = {404: "There is no such page.", 405: "This page cannot be used like that."}
    problem = words.get(error.status_code, str(error.detail))
    return explain(request, error.status_code, problem, "Go back to the workspace.")
