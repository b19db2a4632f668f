"""Review pages: how far it is, annotate, adjudicate. The rules are those of `Review`; requests
become its calls. Who is working is the person whose token the browser keeps in a cookie, or a
program shows as a bearer.
"""

from __future__ import annotations

import hashlib
import re
from difflib import SequenceMatcher
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.errors import NotAllowed
from claimlab.core.types import JsonObject
from claimlab.review.review import Review
from claimlab.review.shapes import ABOVE, Item, Person, Turn
from claimlab.review.task import SCALE, Task
from claimlab.web.gate import bearer, cookie
from claimlab.web.page import Pages
from claimlab.web.workspace import REVIEW, Memo, Place, Workspace, digest_of

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


MOST_WORDS = 2_000  # of each text: more take seconds to compare
_PIECES = re.compile(r"\s+|[^\s]+")


class Piece(BaseModel):
    """Words that both texts have, or only one of them."""

    text: str
    only: Literal["", "first", "second"] = ""


def difference(one: str, other: str) -> list[Piece]:
    """Both texts in one, from start to end; very long ones are not compared."""
    a, b = _PIECES.findall(one), _PIECES.findall(other)
    if max(len(a), len(b)) > 2 * MOST_WORDS:
        return []
    out: list[Piece] = []
    for how, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if how == "equal":
            out.append(Piece(text="".join(a[i:j])))
            continue
        out += [Piece(text="".join(a[i:j]), only="first")] if j > i else []
        out += [Piece(text="".join(b[k:m]), only="second")] if m > k else []
    return out


Key = Annotated[
    str,
    Field(
        min_length=8, max_length=64, pattern=r"^[0-9A-Za-z-]+$", description="A uuid, made once."
    ),
]
Words = Annotated[str | None, Field(max_length=20_000)]


class Seen(BaseModel):
    """An item with what helps to look at it."""

    item: Item
    difference: list[Piece] = []


class Work(BaseModel):
    """What a person works on: an item, or none when nothing is left."""

    review: str
    task: Task
    scale: tuple[int, int] = SCALE
    person: Person
    seen: Seen | None
    done: int
    total: int
    earlier: list[str] = Field(
        description="Items that this person decided or skipped, newest first."
    )


class Disputes(BaseModel):
    """What an adjudicator may decide."""

    review: str
    task: Task
    scale: tuple[int, int] = SCALE
    person: Person
    waiting: list[Seen]


class StatusPage(BaseModel):
    id: str
    name: str
    task: Task
    person: Person | None
    items: dict[str, int]
    total: int
    settled: int
    people: list[JsonObject]
    agreement: list[JsonObject]
    headline: str
    may_manage: bool
    origin: JsonObject


class Token(BaseModel):
    token: Annotated[str, Field(min_length=1, max_length=200)]


class Vote(BaseModel):
    item: Annotated[str, Field(max_length=100)]
    value: StrictStr | StrictInt | list[JsonObject]  # true is not the rating 1
    key: Key
    comment: Words = None
    seconds: Annotated[float | None, Field(ge=0, le=86_400)] = None


class OnItem(BaseModel):
    item: Annotated[str, Field(max_length=100)]


class Return(OnItem):
    person: Annotated[str, Field(max_length=100)]
    why: Annotated[str, Field(min_length=1, max_length=2_000)]


class Done(BaseModel):
    """Where to go on."""

    location: str


def add_reviews(app: FastAPI, pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add(
        "/reviews/{review}",
        "review.html.jinja",
        title="How far a review is, and how annotators agree",
    )
    def status(review: str, request: Request) -> StatusPage:
        return status_page(request, workspace.get(review, "review"))

    @pages.add(
        "/reviews/{review}/annotate",
        "work.html.jinja",
        title="The next item of the person who is signed in",
    )
    def annotate(
        review: str,
        request: Request,
        item: Annotated[str | None, Query(max_length=100, description="Go back.")] = None,
    ) -> Work:
        person, opened = signed_in(workspace, review, request)
        return work(review, opened, person, opened.turn(person, item))

    @pages.add(
        "/reviews/{review}/adjudicate", "work.html.jinja", title="Items on which annotators differ"
    )
    def adjudicate(review: str, request: Request) -> Disputes:
        return disputes(review, *signed_in(workspace, review, request))

    @app.get("/reviews/{review}/sign-in", include_in_schema=False)
    def sign_in_page(review: str, request: Request) -> Response:
        api = f"/api/reviews/{quote(review[:200])}/sign-in"
        return pages.show(request, "sign-in.html.jinja", api=api, what="review")

    @app.post("/api/reviews/{review}/sign-in", tags=["Reviews"])
    def sign_in(review: str, body: Token, response: Response) -> Done:
        """Leave the token of a person in a cookie."""
        place = workspace.places().get(review)
        is_review = place is not None and place.entry.kind == "review"
        person = review_at(place).person_of(body.token) if place is not None and is_review else None
        if place is None or person is None:  # a visitor is not told which reviews there are
            raise HTTPException(401, "The token does not belong to a member of this review.")
        response.headers.append("Set-Cookie", cookie(cookie_of(place.entry.id), body.token))
        pages_of = {"annotator": "/annotate", "adjudicator": "/adjudicate"}
        return Done(location=f"/reviews/{review}{pages_of.get(person.role, '')}")

    @app.post("/api/reviews/{review}/sign-out", tags=["Reviews"])
    def sign_out(review: str, response: Response) -> Done:
        """Forget who was signed in."""
        response.headers.append("Set-Cookie", cookie(cookie_of(review[:500]), "", Max_Age="0"))
        return Done(location=f"/reviews/{review}/sign-in")

    add_actions(app, pages)


def add_actions(app: FastAPI, pages: Pages) -> None:
    """What people do to items; each is one call of the review, which keeps the rules."""
    workspace = pages.workspace

    @app.post("/api/reviews/{review}/decide", tags=["Reviews"])
    def decide(review: str, body: Vote, request: Request) -> Work:
        """Save a decision and hand out the next item. The same key again is the same decision."""
        person, opened = signed_in(workspace, review, request)
        more: JsonObject = {"comment": body.comment or None, "seconds": body.seconds}
        turn = opened.answer(person, body.item, body.value, key=body.key, **more)
        return work(review, opened, person, turn)

    @app.post("/api/reviews/{review}/skip", tags=["Reviews"])
    def skip(review: str, body: OnItem, request: Request) -> Work:
        """Leave an item for later."""
        person, opened = signed_in(workspace, review, request)
        opened.skip(person, body.item)
        return work(review, opened, person, opened.turn(person))

    @app.post("/api/reviews/{review}/undo", tags=["Reviews"])
    def undo(review: str, request: Request) -> Work:
        """Take back the last decision or skip; its item is open again."""
        person, opened = signed_in(workspace, review, request)
        return work(review, opened, person, opened.turn(person, opened.undo(person).id))

    @app.post("/api/reviews/{review}/adjudicate", tags=["Reviews"])
    def settle(review: str, body: Vote, request: Request) -> Disputes:
        """The final decision on an item."""
        person, opened = signed_in(workspace, review, request)
        opened.adjudicate(person, body.item, body.value, key=body.key, comment=body.comment or None)
        return disputes(review, person, opened)

    @app.post("/api/reviews/{review}/reveal", tags=["Reviews"])
    def reveal(review: str, body: OnItem, request: Request) -> Done:
        """Show those who voted what the others said, for a second vote."""
        person, opened = signed_in(workspace, review, request)
        opened.reveal(body.item, person)
        return Done(location=f"/reviews/{review}/adjudicate")

    @app.post("/api/reviews/{review}/send-back", tags=["Reviews"])
    def send_back(review: str, body: Return, request: Request) -> Done:
        """Return an item to an annotator for correction."""
        person, opened = signed_in(workspace, review, request)
        opened.send_back(person, body.item, body.person, body.why)
        return Done(location=f"/reviews/{review}/adjudicate")


def seen(item: Item) -> Seen:
    texts = item.payload.text, item.payload.other_text
    both = difference(texts[0], texts[1]) if texts[0] and texts[1] else []
    return Seen(item=item, difference=both)


def signed_in(workspace: Workspace, review: str, request: Request) -> tuple[Person, Review]:
    """Who asks, and the review that they are a member of."""
    place = workspace.get(review, "review")
    return demand_person(request, place), review_at(place)


def work(id: str, review: Review, person: Person, turn: Turn) -> Work:
    """An annotator's turn as a page shows it."""
    shown = None if turn.item is None else seen(turn.item)
    far = turn.standing.model_dump()
    return Work(review=id, task=review.task, person=person, seen=shown, **far)


def disputes(id: str, person: Person, review: Review) -> Disputes:
    waiting = [seen(item) for item in review.disputed(person)[:200]]
    return Disputes(review=id, task=review.task, person=person, waiting=waiting)


def status_page(request: Request, place: Place) -> StatusPage:
    """How far it is. Annotators see their own line only: what others do could sway them."""
    review, person = review_at(place), person_of(request, place)
    if person is None and not request.state.whole:
        demand_person(request, place)
    far = review.progress()
    above = request.state.whole if person is None else person.role in ABOVE
    rows = [row for row in far if above or (person is not None and row["name"] == person.name)]
    return StatusPage(
        id=place.entry.id,
        name=place.entry.name,
        task=review.task,
        person=person,
        items=far.items,
        total=far.total,
        settled=far.settled,
        people=rows,
        agreement=list(review.agreement()) if above else [],
        headline=far.headline(),
        may_manage=request.state.whole or (person is not None and person.role == "owner"),
        origin=review.project.origin.model_dump(),
    )
