"""Make a review of a finding's records or of a filtered selection, and add people to it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.requests import Request

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotAllowed, UsageError
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.review.create import review_create
from claimlab.review.review import Review
from claimlab.review.task import BUILT_IN_TASKS, ReviewTask, task_named
from claimlab.web.filters import RecordFilters
from claimlab.web.page import Done, Here, Reviewed, page, routes
from claimlab.web.reviewers import demand_owner, review_at
from claimlab.web.rows import chosen_rows, take
from claimlab.web.workspace import (
    DATASETS,
    Line,
    Name,
    Prose,
    Shape,
    Word,
    Workspace,
    WorkspaceFolder,
)

MOST_RECORDS = 20_000  # records of one review
PAIR_TASKS = {"conflict": "conflicts", "duplicate": "near-duplicates"}
People = Annotated[list[Word], Field(max_length=100)]


class Selection(RecordFilters):
    """A dataset, and which of its records."""

    dataset: Line


class NewPage(Shape):
    dataset: str
    name: str
    filters: Selection
    filter_title: str
    records: int
    tasks: list[ReviewTask]
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
    sample: Annotated[int | None, Field(ge=1, le=MOST_RECORDS)] = None
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
        tasks=list(BUILT_IN_TASKS),
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


def _settings(workspace: Workspace, place: WorkspaceFolder, body: NewReview) -> JsonObject:
    """The arguments of `review_create`: only tasks that come with claimlab, and no file that a
    request names.
    """
    names = [task.name for task in BUILT_IN_TASKS]
    if body.task not in names:
        raise UsageError(
            f"There is no review task '{body.task}'.", f"Choose one of: {', '.join(names)}."
        )
    task = task_named(body.task)
    if body.guideline.strip():
        task = task.model_copy(update={"guideline": body.guideline.strip()})
    same = {"per_item", "order", "adjudication", "sample", "seed"}
    settings: JsonObject = {**body.model_dump(include=same), "task": task}
    if task.name in PAIR_TASKS:
        # A file may have far more near-duplicate pairs than can be reviewed: at most MOST of them,
        # at random.
        settings |= {"pairs": PAIR_TASKS[task.name], "sample": body.sample or MOST_RECORDS}
    if task.name not in PAIR_TASKS or len(body.selection.pairs()) > 1:  # more than the dataset
        settings["records"] = _ids(workspace, place, body.selection)
    return settings


def _ids(workspace: Workspace, place: WorkspaceFolder, selection: Selection) -> list[str]:
    rows, _ = chosen_rows(workspace, place, selection)
    if rows.total() > MOST_RECORDS:
        raise UsageError(
            f"{rows.total():,} records are too many for one review.",
            f"Choose at most {MOST_RECORDS:,}.",
        )
    numbers, file = rows.numbers(), place.folder / RECORDS
    every = read_parquet(file, columns=["id"]) if numbers is None else take(file, ["id"], numbers)
    return every["id"].to_list()


def _invited(review: Review, id: str, name: str, role: str) -> Invitation:
    person, token = review.add_person(name, role)
    return _invitation(id, person.name, person.role, token)


def _invitation(id: str, name: str, role: str, token: str) -> Invitation:
    return Invitation(
        name=name, role=role, token=token, link=f"/reviews/{id}/sign-in#token={token}"
    )
