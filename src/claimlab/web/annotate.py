"""Annotate and adjudicate: what people do to items. Each request is one call of `Review`, which
keeps the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import Field, StrictInt, StrictStr
from starlette.requests import Request

from claimlab.core.types import JsonObject
from claimlab.review.review import Review
from claimlab.review.shapes import ABOVE, GivenAnswer, Item, Person, Turn
from claimlab.review.task import SCALE, ReviewTask
from claimlab.web.page import Done, Reviewed, page, routes
from claimlab.web.reviewers import demand_person, review_at
from claimlab.web.text_difference import TextPiece, difference
from claimlab.web.workspace import Prose, Shape, Word

Key = Annotated[
    str,
    Field(
        min_length=8, max_length=64, pattern=r"^[0-9A-Za-z-]+$", description="A uuid, made once."
    ),
]
Words = Prose | None


class ItemView(Shape):
    """An item with what helps to look at it."""

    item: Item
    difference: tuple[TextPiece, ...] = ()


class AtWork(Shape):
    review: str
    task: ReviewTask
    scale: tuple[int, int] = SCALE
    person: Person


class WorkPage(AtWork):
    """What a person works on: an item, or none when nothing is left."""

    seen: ItemView | None
    done: int
    total: int
    earlier: list[str]
    """Items that this person decided or skipped, newest first."""


class Disputes(AtWork):
    """What an adjudicator may decide."""

    waiting: list[ItemView]
    agreement: str
    """How well annotators agree so far."""


class OnItem(Shape):
    item: Word


class CastVote(OnItem):
    value: StrictStr | StrictInt | list[JsonObject]  # true is not the rating 1
    key: Key
    comment: Words = None
    seconds: Annotated[float | None, Field(ge=0, le=86_400)] = None


class Return(OnItem):
    person: Word
    why: Annotated[str, Field(min_length=1, max_length=2_000)]


@dataclass(frozen=True)
class Member:
    """A person of a review at work."""

    id: str
    review: Review
    person: Person

    def work(self, turn: Turn) -> WorkPage:
        """An annotator's turn as a page shows it."""
        item = None if turn.item is None else seen(turn.item)
        return WorkPage(**self._about(), seen=item, **turn.standing.model_dump())

    def disputes(self) -> Disputes:
        waiting = [seen(item) for item in self.review.disputed(self.person)[:200]]
        rows = [row for row in self.review.agreement() if row["percent"] is not None]
        agreements = [f"{100 * row['percent']:.0f}% of {row['items']} equal" for row in rows[:1]]
        return Disputes(**self._about(), waiting=waiting, agreement="".join(agreements))

    def _about(self) -> JsonObject:
        return {"review": self.id, "task": self.review.task, "person": self.person}


def seen(item: Item) -> ItemView:
    texts = item.payload.text, item.payload.other_text
    both = difference(texts[0], texts[1]) if texts[0] and texts[1] else ()
    return ItemView(item=item, difference=both)


def member(place: Reviewed, request: Request) -> Member:
    """Who asks, and the review that they take part in."""
    return Member(place.entry.id, review_at(place), demand_person(request, place))


Asks = Annotated[Member, Depends(member)]


@page("/reviews/{place}/annotate", "work.html.jinja")
def annotate(
    asks: Asks, item: Annotated[str | None, Query(max_length=100, description="Go back.")] = None
) -> WorkPage:
    """The next item of the person who is signed in."""
    return asks.work(asks.review.turn(asks.person, item))


@page("/reviews/{place}/adjudicate", "work.html.jinja")
def adjudicate(asks: Asks) -> Disputes:
    """Items on which annotators differ."""
    return asks.disputes()


@routes.post("/api/reviews/{place}/decide", tags=["Reviews"])
def decide(body: CastVote, asks: Asks) -> WorkPage:
    """Save a decision and hand out the next item. The same key again is the same decision."""
    answer = GivenAnswer(**body.model_dump(exclude={"item"}))
    return asks.work(asks.review.answer(asks.person, body.item, answer))


@routes.post("/api/reviews/{place}/skip", tags=["Reviews"])
def skip(body: OnItem, asks: Asks) -> WorkPage:
    """Leave an item for later."""
    asks.review.skip(asks.person, body.item)
    return asks.work(asks.review.turn(asks.person))


@routes.post("/api/reviews/{place}/undo", tags=["Reviews"])
def undo(asks: Asks) -> WorkPage | Disputes:
    """Take back the last decision or skip; its item is open again."""
    item = asks.review.undo(asks.person)
    if asks.person.role in ABOVE:
        return asks.disputes()
    return asks.work(asks.review.turn(asks.person, item.id))


@routes.post("/api/reviews/{place}/adjudicate", tags=["Reviews"])
def settle(body: CastVote, asks: Asks) -> Disputes:
    """The final decision on an item."""
    answer = body.model_dump(include={"key", "comment"})
    asks.review.adjudicate(asks.person, body.item, body.value, **answer)
    return asks.disputes()


@routes.post("/api/reviews/{place}/reveal", tags=["Reviews"])
def reveal(body: OnItem, asks: Asks) -> Done:
    """Show those who voted what the others said, for a second vote."""
    asks.review.reveal(body.item, asks.person)
    return Done(location=f"/reviews/{asks.id}/adjudicate")


@routes.post("/api/reviews/{place}/send-back", tags=["Reviews"])
def send_back(body: Return, asks: Asks) -> Done:
    """Return an item to an annotator for correction."""
    asks.review.send_back(asks.person, body.item, body.person, body.why)
    return Done(location=f"/reviews/{asks.id}/adjudicate")
