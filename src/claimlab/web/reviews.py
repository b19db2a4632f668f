"""How far a review is, and what becomes of its decisions. The rules are those of `Review`."""

from __future__ import annotations

import contextlib

from starlette.requests import Request

from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject
from claimlab.review.apply import review_apply
from claimlab.review.estimate import estimate
from claimlab.review.review import Review
from claimlab.review.shapes import ABOVE, Person
from claimlab.review.task import ReviewTask
from claimlab.web.new_review import Created
from claimlab.web.page import Here, Reviewed, page, routes
from claimlab.web.reviewers import demand_owner, demand_person, person_of, review_at
from claimlab.web.workspace import DATASETS, FolderName, Name, Shape


class StatusPage(FolderName):
    task: ReviewTask
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


def _estimates(review: Review) -> JsonObject | None:
    with contextlib.suppress(
        ClaimlabError
    ):  # of another task, not drawn at random, nothing decided
        return estimate(review).to_json()
    return None


class Apply(Shape):
    name: Name


@routes.post("/api/reviews/{place}/apply", tags=["Reviews"])
def apply(place: Reviewed, body: Apply, request: Request, workspace: Here) -> Created:
    """Write what was decided into a new dataset below the workspace."""
    demand_owner(request, place)
    target, review = workspace.new_folder(body.name), review_at(place)
    fingerprint = review.project.origin.fingerprint
    here = [
        dataset
        for dataset in workspace.of(*DATASETS)
        if dataset.manifest.fingerprint() == fingerprint
    ]
    review_apply(review, target, here[0].folder if here else None)
    workspace.refresh()
    return Created(location=f"/datasets/{workspace.id_of(target)}")
