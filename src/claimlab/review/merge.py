"""Decisions from files, merged into a review: nothing is lost, nothing is doubled.

A decision is known by its key. Files of other tools have none: theirs is made of the item, the
annotator and the answer, so that the same file read twice changes nothing. Where a person decided
an item differently here and in a file, the later decision counts, and the other stays in the
history.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args

import polars as pl

from claimlab.core.dates import in_utc
from claimlab.core.errors import UsageError
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.review.decisions import check_comment, check_key
from claimlab.review.people import enrol, log, now
from claimlab.review.shapes import Person, Round, Value
from claimlab.review.store import Connection, assignment, decision, item, person, sa
from claimlab.review.task import ReviewTask

_SPACE = uuid.UUID("6f1b5b39-6a0e-4d0e-9d0c-1f4b9a6b0c15")


@dataclass(frozen=True)
class DecisionRow:
    """A decision as a file has it. `model` marks a model's."""

    item: str
    annotator: str
    value: Value
    model: bool = False
    round: str = "first"
    comment: str | None = None
    seconds: float | None = None
    at: datetime | None = None
    key: str | None = None


@dataclass(frozen=True, repr=False)
class Imported(Shown):
    """What became of the rows of a file: `new`, `known` (there already), `older` (kept, but a later
    decision counts), `refused` with the reason."""

    counts: dict[str, int]
    refused: list[dict[str, str]] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame(
            self.refused, schema={"item": pl.String, "annotator": pl.String, "why": pl.String}
        )

    def headline(self) -> str:
        return ", ".join(f"{n:,} {name}" for name, n in self.counts.items()) or "no decisions"

    def to_json(self) -> JsonObject:
        return {"counts": self.counts, "refused": self.refused}


def merge(
    connection: Connection, task: ReviewTask, rows: Iterable[DecisionRow], review: str
) -> Imported:
    """Merge `rows` in one transaction; `review` is part of the keys that are made."""
    texts = {
        r.id: r.payload.get("text")
        for r in connection.execute(sa.select(item.c.id, item.c.payload))
    }
    people: dict[str, Person] = {}
    counts = dict.fromkeys(("new", "known", "older", "refused"), 0)
    refused = []
    for row in rows:
        try:
            if row.item not in texts:
                raise UsageError(f"There is no item '{row.item:.40}'.", "")
            if row.round not in get_args(Round):
                raise UsageError(f"'{row.round:.40}' is not a round.", "")
            value = task.check(row.value, texts[row.item])
            who = people.get(row.annotator) or _person(connection, row)
        except UsageError as error:
            counts["refused"] += 1
            refused.append(
                {"item": row.item, "annotator": row.annotator, "why": str(error).strip()}
            )
            continue
        people[row.annotator] = who
        counts[_put(connection, who, row, value, review)] += 1
    return Imported(counts, refused)


def _person(connection: Connection, row: DecisionRow) -> Person:
    """The person of that name, added where there is none; a model stays a model."""
    name = row.annotator.strip()
    enrolled = connection.execute(person.select().where(person.c.name == name)).first()
    if enrolled is not None:
        if (enrolled.role == "model") != row.model:
            raise UsageError(f"'{name}' is {enrolled.role} in this review.", "")
        return Person(id=enrolled.id, name=name, role=enrolled.role)
    decides = "adjudicator" if row.round == "final" else "annotator"
    return enrol(connection, name, "model" if row.model else decides)


def _put(connection: Connection, who: Person, row: DecisionRow, value: Value, review: str) -> str:
    """Store a decision unless it is there; what became of it."""
    key = _key(row, value, review)
    if connection.execute(sa.select(decision.c.key).where(decision.c.key == key)).first():
        return "known"
    valid = sa.and_(
        decision.c.item == row.item,
        decision.c.round == row.round,
        decision.c.superseded == sa.false(),
        decision.c.person == who.id,
    )
    before = connection.execute(decision.select().where(valid)).first()
    older = False
    if before is not None:
        if row.key is None and before.value == value:
            return "known"
        older = row.at is not None and row.at <= before.at
        if not older:
            connection.execute(decision.update().where(valid).values(superseded=True))
    connection.execute(
        decision.insert().values(
            key=key,
            item=row.item,
            person=who.id,
            round=row.round,
            value=value,
            at=row.at or now(),
            comment=check_comment(row.comment),
            seconds=row.seconds,
            superseded=older,
        )
    )
    log(connection, who.id, "import", row.item, key=key, round=row.round, older=older)
    if older:
        return "older"
    if row.round == "first" and not who.model:
        _done(connection, who, row.item)
    return "new"


def _done(connection: Connection, who: Person, item_id: str) -> None:
    assigned = sa.and_(assignment.c.item == item_id, assignment.c.person == who.id)
    decided = {"status": "done", "moved": now(), "shown": now()}
    if connection.execute(assignment.update().where(assigned).values(**decided)).rowcount:
        return
    position = sa.select(item.c.position).where(item.c.id == item_id).scalar_subquery()
    own = {"item": item_id, "person": who.id, "position": position}
    connection.execute(assignment.insert().values(**own, **decided))


def _key(row: DecisionRow, value: Value, review: str) -> str:
    if row.key is not None:
        return check_key(row.key)
    parts = [review, row.item, row.annotator, row.round, value]
    return str(uuid.uuid5(_SPACE, json.dumps(parts, sort_keys=True)))


def time_of(text: object) -> datetime | None:
    """A time in UTC from a file; null where it cannot be read."""
    try:
        return in_utc(datetime.fromisoformat(str(text)))
    except ValueError:
        return None
