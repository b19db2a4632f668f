"""Review pages: how far it is, annotate, adjudicate. The rules are those of `Review`; requests
become its calls.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.types import JsonObject
from claimlab.review.review import Review
from claimlab.review.shapes import ABOVE, Item, Person, Turn
from claimlab.review.task import SCALE, Task
from claimlab.web.difference import Piece, difference
from claimlab.web.gate import cookie
from claimlab.web.page import Pages
from claimlab.web.who import cookie_of, demand_person, person_of, review_at
from claimlab.web.workspace import Place

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
        place = workspace.get(review, "review")
        person, opened = demand_person(request, place), review_at(place)
        return work(place, opened, person, opened.turn(person, item))

    @pages.add(
        "/reviews/{review}/adjudicate", "work.html.jinja", title="Items on which annotators differ"
    )
    def adjudicate(review: str, request: Request) -> Disputes:
        place = workspace.get(review, "review")
        person, opened = demand_person(request, place), review_at(place)
        waiting = [seen(item) for item in opened.disputed(person)[:200]]
        return Disputes(review=review, task=opened.task, person=person, waiting=waiting)

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
        place = workspace.get(review, "review")
        person = demand_person(request, place)
        more: JsonObject = {
            "key": body.key,
            "comment": body.comment or None,
            "seconds": body.seconds,
        }
        opened = review_at(place)
        return work(place, opened, person, opened.answer(person, body.item, body.value, **more))

    @app.post("/api/reviews/{review}/skip", tags=["Reviews"])
    def skip(review: str, body: OnItem, request: Request) -> Work:
        """Leave an item for later."""
        place = workspace.get(review, "review")
        person, opened = demand_person(request, place), review_at(place)
        opened.skip(person, body.item)
        return work(place, opened, person, opened.turn(person))

    @app.post("/api/reviews/{review}/undo", tags=["Reviews"])
    def undo(review: str, request: Request) -> Work:
        """Take back the last decision or skip; its item is open again."""
        place = workspace.get(review, "review")
        person, opened = demand_person(request, place), review_at(place)
        return work(place, opened, person, opened.turn(person, opened.undo(person).id))

    @app.post("/api/reviews/{review}/adjudicate", tags=["Reviews"])
    def settle(review: str, body: Vote, request: Request) -> Disputes:
        """The final decision on an item."""
        place = workspace.get(review, "review")
        person, opened = demand_person(request, place), review_at(place)
        opened.adjudicate(person, body.item, body.value, key=body.key, comment=body.comment or None)
        waiting = [seen(item) for item in opened.disputed(person)[:200]]
        return Disputes(review=review, task=opened.task, person=person, waiting=waiting)

    @app.post("/api/reviews/{review}/reveal", tags=["Reviews"])
    def reveal(review: str, body: OnItem, request: Request) -> Done:
        """Show those who voted what the others said, for a second vote."""
        place = workspace.get(review, "review")
        review_at(place).reveal(body.item, demand_person(request, place))
        return Done(location=f"/reviews/{review}/adjudicate")

    @app.post("/api/reviews/{review}/send-back", tags=["Reviews"])
    def send_back(review: str, body: Return, request: Request) -> Done:
        """Return an item to an annotator for correction."""
        place = workspace.get(review, "review")
        review_at(place).send_back(demand_person(request, place), body.item, body.person, body.why)
        return Done(location=f"/reviews/{review}/adjudicate")


def seen(item: Item) -> Seen:
    texts = item.payload.text, item.payload.other_text
    both = difference(texts[0], texts[1]) if texts[0] and texts[1] else []
    return Seen(item=item, difference=both)


def work(place: Place, review: Review, person: Person, turn: Turn) -> Work:
    """An annotator's turn as a page shows it."""
    shown, far = turn.item, turn.standing
    return Work(
        review=place.entry.id,
        task=review.task,
        person=person,
        seen=None if shown is None else seen(shown),
        done=far.done,
        total=far.total,
        earlier=list(far.earlier),
    )


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
