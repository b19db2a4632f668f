"""Make a review of a finding's records or of a filtered selection, add people to it, and apply what
they decided.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import polars as pl
from fastapi import FastAPI, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import NotAllowed, UsageError
from claimlab.core.types import JsonObject
from claimlab.review.apply import review_apply
from claimlab.review.create import review_create
from claimlab.review.review import Review
from claimlab.review.task import KNOWN, Task, task_named
from claimlab.web.datasets import ALL, chosen_rows
from claimlab.web.filters import RecordFilters
from claimlab.web.page import Pages
from claimlab.web.reviews import demand_owner, review_at
from claimlab.web.rows import take
from claimlab.web.workspace import Place, Workspace

MOST = 20_000  # records of one review
NAME = re.compile(r"[\w][\w .-]{0,79}")
PAIRS = {"conflict": "conflicts", "duplicate": "near-duplicates"}
Name = Annotated[
    str, Field(min_length=1, max_length=80, description="A folder below the workspace.")
]
People = Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=100)]


class Selection(RecordFilters):
    """A dataset, and which of its records."""

    dataset: Annotated[str, Field(max_length=500)]

    @property
    def narrows(self) -> bool:
        """Whether it leaves out any record."""
        return len(self.pairs()) > 1


class NewPage(BaseModel):
    dataset: str
    name: str
    filters: Selection
    filter_title: str
    records: int
    tasks: list[Task]
    suggested: str
    suggested_name: str


class NewReview(BaseModel):
    """What a review is made of: `query` is the address of the selection, after the question
    mark.
    """

    selection: Selection
    name: Name
    task: Annotated[str, Field(max_length=500)] = "label"
    guideline: Annotated[str, Field(max_length=20_000)] = ""
    per_item: Annotated[int, Field(ge=1, le=50)] = 2
    order: Annotated[str, Field(max_length=20)] = "given"
    adjudication: Annotated[str, Field(max_length=20)] = "third"
    sample: Annotated[int | None, Field(ge=1, le=MOST)] = None
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    annotators: People = []
    owners: People = []


class Invitation(BaseModel):
    """A person with a link that is shown only once: opening it signs in as that person."""

    name: str
    role: str
    token: str
    link: str


class Created(BaseModel):
    location: str
    people: list[Invitation]


class NewPerson(BaseModel):
    name: Annotated[str, Field(max_length=100)]
    role: Annotated[str, Field(max_length=20)] = "annotator"


class Apply(BaseModel):
    name: Name


def add_new_reviews(app: FastAPI, pages: Pages) -> None:
    workspace = pages.workspace

    @pages.add(
        "/new-review", "new-review.html.jinja", title="What a review of some records would be about"
    )
    def new_review(filters: Annotated[Selection, Query()]) -> NewPage:
        place = workspace.get(filters.dataset, *ALL)
        rows, title = chosen_rows(workspace, place, filters)
        pairs = "near-duplicates" in title.lower() or "labels" in title.lower()
        return NewPage(
            dataset=place.entry.id,
            name=place.entry.name,
            filters=filters,
            filter_title=title,
            records=rows.total(),
            tasks=list(KNOWN),
            suggested="conflict" if pairs and "different labels" in title.lower() else "label",
            suggested_name=_free(workspace, f"review-of-{place.folder.name}"),
        )

    @app.post("/api/reviews", tags=["Reviews"])
    def create(body: NewReview, request: Request) -> Created:
        """Make a review below the workspace. The links of its people are in the answer, and nowhere
        else.
        """
        if not request.state.whole:
            raise NotAllowed(
                "Only those who may see the whole workspace can make a review.",
                "Sign in at /sign-in.",
            )
        place = workspace.get(body.selection.dataset, *ALL)
        target = _target(workspace, body.name)
        review = review_create(place.folder, target, **_settings(workspace, place, body))
        tokens = review.add_people(body.annotators)
        people = [
            _invitation(_id(workspace, target), name, "annotator", token)
            for name, token in tokens.items()
        ]
        people += [_invited(review, _id(workspace, target), name, "owner") for name in body.owners]
        review.close()
        workspace.refresh()
        return Created(location=f"/reviews/{_id(workspace, target)}", people=people)

    @app.post("/api/reviews/{review}/people", tags=["Reviews"])
    def add_person(review: str, body: NewPerson, request: Request) -> Created:
        """Add a person; the link is in the response, and nowhere else."""
        place = workspace.get(review, "review")
        demand_owner(request, place)
        invited = _invited(review_at(place), place.entry.id, body.name, body.role)
        return Created(location=f"/reviews/{review}", people=[invited])

    @app.post("/api/reviews/{review}/apply", tags=["Reviews"])
    def apply(review: str, body: Apply, request: Request) -> Created:
        """Write what was decided into a new dataset below the workspace."""
        place = workspace.get(review, "review")
        demand_owner(request, place)
        target = _target(workspace, body.name)
        opened = review_at(place)
        review_apply(opened, target, _source(workspace, opened))
        workspace.refresh()
        return Created(location=f"/datasets/{_id(workspace, target)}", people=[])


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
    settings: JsonObject = {
        "task": task,
        "per_item": body.per_item,
        "order": body.order,
        "adjudication": body.adjudication,
        "sample": body.sample,
        "seed": body.seed,
    }
    if task.name in PAIRS:
        # A file may have far more near-duplicate pairs than can be reviewed: at most MOST of them,
        # at random.
        pairs = {**settings, "pairs": PAIRS[task.name], "sample": body.sample or MOST}
        return (
            {**pairs, "records": _ids(workspace, place, body.selection)}
            if body.selection.narrows
            else pairs
        )
    return {**settings, "records": _ids(workspace, place, body.selection)}


def _ids(workspace: Workspace, place: Place, selection: Selection) -> list[str]:
    rows, _ = chosen_rows(workspace, place, selection)
    if rows.total() > MOST:
        raise UsageError(
            f"{rows.total():,} records are too many for one review.", f"Choose at most {MOST:,}."
        )
    numbers, file = rows.numbers(), place.folder / RECORDS
    table = (
        pl.read_parquet(file, columns=["id"]) if numbers is None else take(file, ["id"], numbers)
    )
    ids: list[str] = table["id"].to_list()
    return ids


def _invited(review: Review, id: str, name: str, role: str) -> Invitation:
    person, token = review.add_person(name, role)
    return _invitation(id, person.name, person.role, token)


def _invitation(id: str, name: str, role: str, token: str) -> Invitation:
    return Invitation(
        name=name, role=role, token=token, link=f"/reviews/{id}/sign-in#token={token}"
    )


def _target(workspace: Workspace, name: str) -> Path:
    """A new folder right below the workspace."""
    clean = name.strip()
    if not NAME.fullmatch(clean) or clean.endswith("."):
        raise UsageError(
            f"'{clean[:80]}' is not a valid name for a folder.",
            "Use letters, digits, dashes and spaces.",
        )
    return workspace.folder / clean


def _free(workspace: Workspace, name: str) -> str:
    clean = re.sub(r"[^\w-]", "-", name)[:60]
    return next(
        n
        for i in range(1, 1_000)
        if not (workspace.folder / (n := clean if i == 1 else f"{clean}-{i}")).exists()
    )


def _id(workspace: Workspace, target: Path) -> str:
    return target.relative_to(workspace.folder).as_posix().replace("/", "~")


def _source(workspace: Workspace, review: Review) -> Path | None:
    """The dataset of the review, where the workspace has it."""
    from claimlab.core.dataset import Dataset

    wanted = review.project.origin.fingerprint
    for place in workspace.places().values():
        if place.manifest is None or place.manifest.name != review.project.origin.dataset:
            continue
        empty = pl.DataFrame()
        if Dataset(place.manifest.name, empty, files=place.manifest.files).fingerprint() == wanted:
            return place.folder
    return None
