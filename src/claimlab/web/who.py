"""Who is working on a review: the person whose token the browser keeps in a cookie, or a program
shows as a bearer.
"""

from __future__ import annotations

import hashlib

from starlette.requests import Request

from claimlab.core.errors import NotAllowed
from claimlab.review.review import Review
from claimlab.review.shapes import Person
from claimlab.web.gate import bearer
from claimlab.web.rows import Memo, digest_of
from claimlab.web.workspace import REVIEW, Place

_reviews = Memo(32)


def review_at(place: Place) -> Review:
    """The review, opened once for as long as its folder stays the same."""
    return _reviews.get(
        (place.folder, digest_of(place.folder / REVIEW)), lambda: Review.open(place.folder)
    )


def close_reviews() -> None:
    """Close every store: SQLite then leaves one file behind."""
    for review in _reviews.clear():
        review.close()


def cookie_of(review: str) -> str:
    """The name of the cookie for a review: one person may work on several."""
    return f"claimlab_person_{hashlib.sha256(review.encode()).hexdigest()[:12]}"


def person_of(request: Request, place: Place) -> Person | None:
    token = bearer(request) or request.cookies.get(cookie_of(place.entry.id))
    return None if not token else review_at(place).person_of(token)


def demand_person(request: Request, place: Place) -> Person:
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


def demand_owner(request: Request, place: Place) -> None:
    """For the whole review: its owner, or a user who may see the whole workspace."""
    if request.state.whole:
        return
    if demand_person(request, place).role != "owner":
        problem = "Only an owner of the review may do this."
        raise NotAllowed(
            problem, f"Sign in at /reviews/{place.entry.id}/sign-in with an owner's token."
        )
