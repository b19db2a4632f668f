"""Review pages: how far it is, annotate, adjudicate; make a review of a finding's records or of a
filtered selection, add people to it, and apply what they decided. The rules are those of `Review`;
requests become its calls. Who is working is the person whose token the browser keeps in a cookie,
or a program shows as a bearer.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Annotated, Literal
from urllib.parse import quote

import polars as pl
from fastapi import Depends, Query
from pydantic import Field, StrictInt, StrictStr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import ClaimlabError, NotAllowed, UsageError
from claimlab.core.types import JsonObject
from claimlab.review.apply import review_apply
from claimlab.review.create import review_create
from claimlab.review.estimate import estimate
from claimlab.review.review import Review
from claimlab.review.shapes import ABOVE, Answer, Item, Person, Turn
from claimlab.review.task import KNOWN, SCALE, Task, task_named
from claimlab.web.filters import RecordFilters
from claimlab.web.gate import bearer, cookie
from claimlab.web.page import Done, Here, Reviewed, page, routes, show
from claimlab.web.rows import chosen_rows, take
from claimlab.web.workspace import (
    DATASETS,
    REVIEW,
    FolderEntry,
    Line,
    Memo,
    Name,
    Named,
    Place,
    Prose,
    Shape,
    Word,
    Workspace,
    digest_of,
)

_reviews = Memo(32)


def review_at(place: Place) -> Review:
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


class Piece(Shape):
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
Words = Prose | None


class Seen(Shape):
    """An item with what helps to look at it."""

    item: Item
    difference: list[Piece] = []


class AtWork(Shape):
    review: str
    task: Task
    scale: tuple[int, int] = SCALE
    person: Person


class Work(AtWork):
    """What a person works on: an item, or none when nothing is left."""

    seen: Seen | None
    done: int
    total: int
    earlier: list[str]
    """Items that this person decided or skipped, newest first."""


class Disputes(AtWork):
    """What an adjudicator may decide."""

    waiting: list[Seen]
    agreement: str
    """How well annotators agree so far."""


class StatusPage(Named):
    task: Task
    person: Person | None
    items: dict[str, int]
    total: int
    settled: int
    per_item: int
    """How many annotators an item has, at most the number there are."""
    people: list[JsonObject]
    agreement: list[JsonObject]
    estimates: JsonObject | None
    """Shares of all records, where those under review were drawn at random."""
    headline: str
    may_manage: bool
    origin: JsonObject


class Token(Shape):
    token: Annotated[str, Field(min_length=1, max_length=200)]


class OnItem(Shape):
    item: Word


class Vote(OnItem):
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

    def work(self, turn: Turn) -> Work:
        """An annotator's turn as a page shows it."""
        item = None if turn.item is None else seen(turn.item)
        return Work(**self._about(), seen=item, **turn.standing.model_dump())

    def disputes(self) -> Disputes:
        waiting = [seen(item) for item in self.review.disputed(self.person)[:200]]
        rows = [row for row in self.review.agreement() if row["percent"] is not None]
        shown = [f"{100 * row['percent']:.0f}% of {row['items']} equal" for row in rows[:1]]
        return Disputes(**self._about(), waiting=waiting, agreement="".join(shown))

    def _about(self) -> JsonObject:
        return {"review": self.id, "task": self.review.task, "person": self.person}


def seen(item: Item) -> Seen:
    texts = item.payload.text, item.payload.other_text
    both = difference(texts[0], texts[1]) if texts[0] and texts[1] else []
    return Seen(item=item, difference=both)


def member(place: Reviewed, request: Request) -> Member:
    """Who asks, and the review that they take part in."""
    return Member(place.entry.id, review_at(place), demand_person(request, place))


Asks = Annotated[Member, Depends(member)]


@page("/reviews/{place}/annotate", "work.html.jinja")
def annotate(
    asks: Asks, item: Annotated[str | None, Query(max_length=100, description="Go back.")] = None
) -> Work:
    """The next item of the person who is signed in."""
    return asks.work(asks.review.turn(asks.person, item))


@page("/reviews/{place}/adjudicate", "work.html.jinja")
def adjudicate(asks: Asks) -> Disputes:
    """Items on which annotators differ."""
    return asks.disputes()


@routes.get("/reviews/{place}/sign-in", include_in_schema=False)
def sign_in_page(place: str, request: Request) -> Response:
    api = f"/api/reviews/{quote(place[:200])}/sign-in"
    return show(request, "sign-in.html.jinja", api=api, what="review")


@routes.post("/api/reviews/{place}/sign-in", tags=["Reviews"])
def sign_in(place: str, body: Token, response: Response, workspace: Here) -> Done:
    """Leave the token of a person in a cookie."""
    known = workspace.places().get(place)
    is_review = known is not None and known.entry.kind == "review"
    person = review_at(known).person_of(body.token) if known and is_review else None
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


# What people do to items; each is one call of the review, which keeps the rules.


@routes.post("/api/reviews/{place}/decide", tags=["Reviews"])
def decide(body: Vote, asks: Asks) -> Work:
    """Save a decision and hand out the next item. The same key again is the same decision."""
    answer = Answer(**body.model_dump(exclude={"item"}))
    return asks.work(asks.review.answer(asks.person, body.item, answer))


@routes.post("/api/reviews/{place}/skip", tags=["Reviews"])
def skip(body: OnItem, asks: Asks) -> Work:
    """Leave an item for later."""
    asks.review.skip(asks.person, body.item)
    return asks.work(asks.review.turn(asks.person))


@routes.post("/api/reviews/{place}/undo", tags=["Reviews"])
def undo(asks: Asks) -> Work | Disputes:
    """Take back the last decision or skip; its item is open again."""
    item = asks.review.undo(asks.person)
    if asks.person.role in ABOVE:
        return asks.disputes()
    return asks.work(asks.review.turn(asks.person, item.id))


@routes.post("/api/reviews/{place}/adjudicate", tags=["Reviews"])
def settle(body: Vote, asks: Asks) -> Disputes:
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


@page("/reviews/{place}", "review.html.jinja")
def status_page(place: Reviewed, request: Request) -> StatusPage:
    """How far a review is, and how annotators agree. Annotators see their own line only: what
    others do could sway them.
    """
    review, person = review_at(place), person_of(request, place)
    if person is None and not request.state.whole:
        demand_person(request, place)
    far = review.progress()
    above = request.state.whole if person is None else person.role in ABOVE
    rows = [row for row in far if above or (person is not None and row["name"] == person.name)]
    return StatusPage(
        **place.named,
        task=review.task,
        person=person,
        items=far.items,
        total=far.total,
        settled=far.settled,
        per_item=max(1, min(review.task.per_item, [row["role"] for row in far].count("annotator"))),
        people=rows,
        agreement=list(review.agreement()) if above else [],
        estimates=_estimates(review) if above else None,
        headline=far.headline(),
        may_manage=request.state.whole or (person is not None and person.role == "owner"),
        origin=review.project.origin.model_dump(),
    )


MOST = 20_000  # records of one review
PAIRS = {"conflict": "conflicts", "duplicate": "near-duplicates"}
People = Annotated[list[Word], Field(max_length=100)]


def _estimates(review: Review) -> JsonObject | None:
    with contextlib.suppress(
        ClaimlabError
    ):  # of another task, not drawn at random, nothing decided
        return estimate(review).to_json()
    return None


class Selection(RecordFilters):
    """A dataset, and which of its records."""

    dataset: Line


class NewPage(Shape):
    dataset: str
    name: str
    filters: Selection
    filter_title: str
    records: int
    tasks: list[Task]
    suggested: str
    suggested_name: str


class NewReview(Shape):
    """What a review is made of: `query` is the address of the selection, after the question
    mark.
    """

    selection: Selection
    name: Name
    task: Line = "label"
    guideline: Prose = ""
    per_item: Annotated[int, Field(ge=1, le=50)] = 2
    order: Word = "given"
    adjudication: Word = "third"
    sample: Annotated[int | None, Field(ge=1, le=MOST)] = None
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    annotators: People = []
    owners: People = []


class Invitation(Shape):
    """A person with a link that is shown only once: opening it signs in as that person."""

    name: str
    role: str
    token: str
    link: str


class Created(Done):
    people: list[Invitation] = []


class NewPerson(Shape):
    name: Word
    role: Word = "annotator"


class Apply(Shape):
    name: Name


@page("/new-review", "new-review.html.jinja")
def new_review(filters: Annotated[Selection, Query()], workspace: Here) -> NewPage:
    """What a review of some records would be about."""
    place = workspace.get(filters.dataset, *DATASETS)
    rows, title = chosen_rows(workspace, place, filters)
    return NewPage(
        dataset=place.entry.id,
        name=place.entry.name,
        filters=filters,
        filter_title=title,
        records=rows.total(),
        tasks=list(KNOWN),
        suggested="conflict" if "different labels" in title.lower() else "label",
        suggested_name=workspace.free_name(f"review-of-{place.folder.name}"),
    )


@routes.post("/api/reviews", tags=["Reviews"])
def create(body: NewReview, request: Request, workspace: Here) -> Created:
    """Make a review below the workspace. The links of its people are in the answer, and nowhere
    else.
    """
    if not request.state.whole:
        raise NotAllowed(
            "Only those who may see the whole workspace can make a review.", "Sign in at /sign-in."
        )
    place = workspace.get(body.selection.dataset, *DATASETS)
    target = workspace.new_folder(body.name)
    review = review_create(place.folder, target, **_settings(workspace, place, body))
    id = workspace.id_of(target)
    tokens = review.add_people(body.annotators)
    people = [_invitation(id, name, "annotator", token) for name, token in tokens.items()]
    people += [_invited(review, id, name, "owner") for name in body.owners]
    review.close()
    workspace.refresh()
    return Created(location=f"/reviews/{id}", people=people)


@routes.post("/api/reviews/{place}/people", tags=["Reviews"])
def add_person(place: Reviewed, body: NewPerson, request: Request) -> Created:
    """Add a person; the link is in the response, and nowhere else."""
    demand_owner(request, place)
    invited = _invited(review_at(place), place.entry.id, body.name, body.role)
    return Created(location=place.entry.link, people=[invited])


@routes.post("/api/reviews/{place}/apply", tags=["Reviews"])
def apply(place: Reviewed, body: Apply, request: Request, workspace: Here) -> Created:
    """Write what was decided into a new dataset below the workspace."""
    demand_owner(request, place)
    target, review = workspace.new_folder(body.name), review_at(place)
    mine = review.project.origin.fingerprint
    here = [one for one in workspace.of(*DATASETS) if one.manifest.fingerprint() == mine]
    review_apply(review, target, here[0].folder if here else None)
    workspace.refresh()
    return Created(location=f"/datasets/{workspace.id_of(target)}")


def _settings(workspace: Workspace, place: Place, body: NewReview) -> JsonObject:
    """The arguments of `review_create`: only tasks that come with claimlab, and no file that a
    request names.
    """
    names = [task.name for task in KNOWN]
    if body.task not in names:
        raise UsageError(
            f"There is no review task '{body.task}'.", f"Choose one of: {', '.join(names)}."
        )
    task = task_named(body.task)
    if body.guideline.strip():
        task = task.model_copy(update={"guideline": body.guideline.strip()})
    same = {"per_item", "order", "adjudication", "sample", "seed"}
    settings: JsonObject = {**body.model_dump(include=same), "task": task}
    if task.name in PAIRS:
        # A file may have far more near-duplicate pairs than can be reviewed: at most MOST of them,
        # at random.
        settings |= {"pairs": PAIRS[task.name], "sample": body.sample or MOST}
    if task.name not in PAIRS or len(body.selection.pairs()) > 1:  # more than the dataset
        settings["records"] = _ids(workspace, place, body.selection)
    return settings


def _ids(workspace: Workspace, place: Place, selection: Selection) -> list[str]:
    rows, _ = chosen_rows(workspace, place, selection)
    if rows.total() > MOST:
        raise UsageError(
            f"{rows.total():,} records are too many for one review.", f"Choose at most {MOST:,}."
        )
    numbers, file = rows.numbers(), place.folder / RECORDS
    every = (
        pl.read_parquet(file, columns=["id"]) if numbers is None else take(file, ["id"], numbers)
    )
    return every["id"].to_list()


def _invited(review: Review, id: str, name: str, role: str) -> Invitation:
    person, token = review.add_person(name, role)
    return _invitation(id, person.name, person.role, token)


def _invitation(id: str, name: str, role: str, token: str) -> Invitation:
    return Invitation(
        name=name, role=role, token=token, link=f"/reviews/{id}/sign-in#token={token}"
    )
