"""Who is working on a review: the person whose token the browser keeps in a cookie, or a program
shows as a bearer.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.errors import ClaimlabError, NotAllowed
from claimlab.review.review import Review
from claimlab.review.shapes import Person
from claimlab.web.gate import bearer, cookie
from claimlab.web.memo import Memo, digest_of
from claimlab.web.page import Done, Here, routes, show
from claimlab.web.workspace import REVIEW, FolderEntry, Shape, Workspace, WorkspaceFolder

_reviews = Memo(32)


def review_at(place: WorkspaceFolder) -> Review:
    """The review, opened once for as long as its folder stays the same."""
    return _reviews.get(
        (place.folder, digest_of(place.folder / REVIEW)), lambda: Review.open(place.folder)
    )


def reviews_here(workspace: Workspace) -> Iterator[tuple[FolderEntry, Review]]:
    """The reviews whose stores are in their folders. A database is not asked: it may be out of
    reach.
    """
    for place in workspace.of("review"):
        with contextlib.suppress(ClaimlabError):  # its page says what is wrong with it
            review = review_at(place)
            if review.project.in_folder:
                yield place.entry, review


def close_reviews() -> None:
    """Close every store: SQLite then leaves one file behind."""
    for review in _reviews.clear():
        review.close()


def cookie_of(review: str) -> str:
    """The name of the cookie for a review: one person may work on several."""
    return f"claimlab_person_{hashlib.sha256(review.encode()).hexdigest()[:12]}"


def person_of(request: Request, place: WorkspaceFolder) -> Person | None:
    token = bearer(request) or request.cookies.get(cookie_of(place.entry.id))
    return None if not token else review_at(place).person_of(token)


def demand_person(request: Request, place: WorkspaceFolder) -> Person:
    person = person_of(request, place)
    if person is None:
        raise unknown_person(place.entry.id)
    return person


def unknown_person(review: str) -> NotAllowed:
    """What a visitor without a token is told, whether there is such a review or not."""
    where = f"/reviews/{review[:200]}/sign-in" if review else "/sign-in"
    return NotAllowed(
        "This page asks who you are.", f"Sign in at {where} with the token that you were given."
    )


def demand_owner(request: Request, place: WorkspaceFolder) -> None:
    """For the whole review: its owner, or a user who may see the whole workspace."""
    if request.state.whole:
        return
    if demand_person(request, place).role != "owner":
        problem = "Only an owner of the review may do this."
        raise NotAllowed(
            problem, f"Sign in at /reviews/{place.entry.id}/sign-in with an owner's token."
        )


class Token(Shape):
    token: Annotated[str, Field(min_length=1, max_length=200)]


@routes.get("/reviews/{place}/sign-in", include_in_schema=False)
def sign_in_page(place: str, request: Request) -> Response:
    api = f"/api/reviews/{quote(place[:200])}/sign-in"
    return show(request, "sign-in.html.jinja", api=api, what="review")


@routes.post("/api/reviews/{place}/sign-in", tags=["Reviews"])
def sign_in(place: str, body: Token, response: Response, workspace: Here) -> Done:
    """Leave the token of a person in a cookie."""
    found_place = workspace.places().get(place)
    is_review = found_place is not None and found_place.entry.kind == "review"
    person = review_at(found_place).person_of(body.token) if found_place and is_review else None
    if person is None:  # a visitor is not told which reviews there are
        raise HTTPException(401, "The token does not belong to a member of this review.")
    response.headers.append("Set-Cookie", cookie(cookie_of(place), body.token))
    pages_of = {"annotator": "/annotate", "adjudicator": "/adjudicate"}
    return Done(location=f"/reviews/{place}{pages_of.get(person.role, '')}")


@routes.post("/api/reviews/{place}/sign-out", tags=["Reviews"])
def sign_out(place: str, response: Response) -> Done:
    """Forget who was signed in."""
    response.headers.append("Set-Cookie", cookie(cookie_of(place[:500]), "", Max_Age="0"))
    return Done(location=f"/reviews/{place}/sign-in")
