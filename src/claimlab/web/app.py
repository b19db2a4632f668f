"""The workspace as an ASGI application: pages, their JSON twins, and what guards them."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.audit.views.wording import headline
from claimlab.core.errors import ClaimlabError, NotFound, UsageError
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.web.audits import add_audits
from claimlab.web.datasets import add_datasets, add_maps
from claimlab.web.gate import Gate, cookie
from claimlab.web.new_review import add_new_reviews
from claimlab.web.page import Pages, status_of
from claimlab.web.records import add_records
from claimlab.web.reports import add_reports, add_studies, state_of_study
from claimlab.web.reviews import Done, add_reviews, close_reviews, review_at, unknown_person
from claimlab.web.runs import add_comparison, add_runs
from claimlab.web.settings import Settings
from claimlab.web.workspace import Entry, Place, Workspace, audits_in

# What a page may fetch: by name, from the packages, never from a path of the request.
STATIC = {
    "page.css": ("claimlab.pages", "templates", "text/css"),
    "page.js": ("claimlab.pages", "templates", "text/javascript"),
    "review.js": ("claimlab.web", "static", "text/javascript"),
    "workspace.css": ("claimlab.web", "static", "text/css"),
    "workspace.js": ("claimlab.web", "static", "text/javascript"),
}


STATED, MOST_STATED = ("audit", "review", "study"), 40  # a page must not wait for hundreds of them


class Home(BaseModel):
    """What is in the workspace."""

    workspace: str
    entries: list[Entry]
    complete: bool
    states: dict[str, str] = Field(
        description="What an audit found, or how far a review or a study is, by id."
    )


class SignIn(BaseModel):
    token: Annotated[str, Field(max_length=200)]


@contextlib.asynccontextmanager
async def _closing(_: FastAPI) -> AsyncIterator[None]:
    yield
    close_reviews()


def create_app(folder: Path, *, settings: Settings | None = None) -> FastAPI:
    """The application for the workspace at `folder`."""
    chosen = settings or Settings()
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
    pages = Pages(app, workspace)
    app.state.workspace, app.state.settings = workspace, chosen
    _add_home(app, pages, chosen)
    add_datasets(pages)
    add_maps(pages)
    add_records(pages)
    add_audits(pages)
    add_runs(pages)
    add_comparison(pages)
    add_studies(pages)
    add_reports(app, pages)
    add_reviews(app, pages)
    add_new_reviews(app, pages)
    _add_problems(app, pages)
    app.add_middleware(Gate, settings=chosen, explain=pages.explain)
    return app


def _add_home(app: FastAPI, pages: Pages, settings: Settings) -> None:
    workspace = pages.workspace

    @pages.add("/", "home.html.jinja", title="What is in the workspace")
    def home() -> Home:
        entries = workspace.listed()
        states = {
            e.id: state_of(workspace.get(e.id))
            for e in [e for e in entries if e.kind in STATED][:MOST_STATED]
        }
        return Home(
            workspace=workspace.name, entries=entries, complete=workspace.complete, states=states
        )

    @app.get("/sign-in", include_in_schema=False)
    def sign_in_page(request: Request) -> Response:
        return pages.show(request, "sign-in.html.jinja", api="/api/sign-in", what="workspace")

    @app.post("/api/sign-in", tags=["Signing in"])
    def sign_in(body: SignIn, response: Response) -> Done:
        """Leave the token in a cookie, where it is the right one."""
        if not hmac.compare_digest(body.token.encode(), settings.token.encode()):
            raise HTTPException(401, "The token is not the one that the server printed.")
        response.headers.append("Set-Cookie", cookie(settings.cookie, settings.token))
        return Done(location="/")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in STATIC:
            raise NotFound(f"There is no file '{name[:100]}'.", "Go back to the workspace.")
        package, place, kind = STATIC[name]
        text = (resources.files(package) / place / name).read_text(encoding="utf-8")
        return Response(text, media_type=kind, headers={"Cache-Control": "max-age=60"})


def state_of(place: Place) -> str:
    """An audit, a study or a review in a few words. No store is opened: it may be in a database."""
    try:
        if place.entry.kind == "study":
            return state_of_study(place)
        if place.entry.kind == "review":
            return several(review_at(place).size, "item")
        return "; ".join(
            headline(audit).rpartition(": ")[2].rstrip(".") for audit in audits_in(place)
        )
    except ClaimlabError as error:
        return error.problem


def _add_problems(app: FastAPI, pages: Pages) -> None:
    """Every failure is a sentence that says what to do; the gate does the same for unexpected
    ones.
    """

    @app.exception_handler(ClaimlabError)
    def known(request: Request, error: ClaimlabError) -> Response:
        if isinstance(error, NotFound) and not request.state.whole:
            error = unknown_person(
                request.path_params.get("review", "")
            )  # says nothing of what there is
        return pages.explain(request, status_of(error), error.problem, error.todo)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][1:]) or "The request"
        return pages.explain(
            request, 422, f"'{name}' is not valid: {first['msg']}.", "Change it and try again."
        )

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        words = {404: "There is no such page.", 405: "This page cannot be used like that."}
        return pages.explain(
            request,
            error.status_code,
            words.get(error.status_code, str(error.detail)),
            "Go back to the workspace.",
        )
