"""The progress of a review: how far each annotator is, with their results on gold items and
attention checks, and what each item comes to.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.consensus import dawid_skene
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.review.people import everyone
from claimlab.review.shapes import Value
from claimlab.review.store import (
    Connection,
    StoredRow,
    assignment,
    event,
    item,
    person,
    sa,
)
from claimlab.review.task import ReviewTask
from claimlab.review.votes import Outcomes, Votes, ballots, code, outcomes

STATUSES = ("done", "open", "skipped", "returned")
CHECKS = ("gold", "gold_right", "attention", "attention_right")
PEOPLE = {
    **dict.fromkeys(("name", "role"), pl.String),
    **dict.fromkeys(("assigned", *STATUSES, "decisions", *CHECKS), pl.Int64),
    "median_seconds": pl.Float64,
}
RESULTS = {
    **dict.fromkeys(("item", "record_id", "other_id", "value", "how"), pl.String),
    "votes": pl.Int64,
    "agreement": pl.Float64,
    "estimate": pl.String,
    "probability": pl.Float64,
    "annotators": pl.String,
    "comments": pl.String,
    "batch": pl.Int32,
}


@dataclass(frozen=True, repr=False)
class ReviewStatus(Shown):
    """A row for each person; `items` counts the items under review by what they come to."""

    name: str
    kind: str
    people: pl.DataFrame
    items: dict[str, int]
    gold: int
    attention: int

    @property
    def table(self) -> pl.DataFrame:
        return self.people

    @property
    def total(self) -> int:
        return sum(self.items.values())

    @property
    def settled(self) -> int:
        return self.total - self.items.get("open", 0) - self.items.get("disputed", 0)

    def headline(self) -> str:
        torn, waiting = (self.items.get(name, 0) for name in ("disputed", "open"))
        settled = several_of(self.settled, self.total, "item")
        return f"'{self.name}': {settled} settled, {torn:,} disputed, {waiting:,} open"

    def to_json(self) -> JsonObject:
        names = ("name", "kind", "total", "settled", "items", "gold", "attention")
        return {**{name: getattr(self, name) for name in names}, "people": self.people.to_dicts()}


def status(connection: Connection, task: ReviewTask) -> ReviewStatus:
    results = outcomes(connection, task)
    votes = ballots(connection)
    special = item.select().where(sa.or_(item.c.attention, item.c.gold.is_not(None)))
    checks = {row.id: row for row in connection.execute(special)}
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    tally = sa.select(assignment.c.person, assignment.c.status, sa.func.count().label("n"))
    for row in connection.execute(tally.group_by(assignment.c.person, assignment.c.status)):
        counts[row.person][row.status] = row.n
    decisions = [b for v in votes.values() for b in v.every()]
    rows = []
    for who in everyone(connection):
        seconds = [b.seconds for b in decisions if b.person == who.id]
        measured = [second for second in seconds if second is not None]
        work = {
            **{name: counts[who.id][name] for name in STATUSES},
            **_checks_of(task, checks, votes, who.id),
            "assigned": counts[who.id].total(),
            "decisions": len(seconds),
            "median_seconds": median(measured) if measured else None,
        }
        rows.append({"name": who.name, "role": who.role, **work})
    attention = sum(bool(r.attention) for r in checks.values())
    tallied = Counter(outcome.how for _, outcome in results.values())
    return ReviewStatus(
        task.name,
        task.kind,
        pl.DataFrame(rows, schema=PEOPLE),
        dict(sorted(tallied.items())),
        len(checks) - attention,
        attention,
    )


def _checks_of(
    task: ReviewTask, checks: JsonObject, votes: Mapping[str, Votes], who: int
) -> dict[str, int]:
    """How many gold items and attention checks a person answered, and how many correctly."""
    out = dict.fromkeys(CHECKS, 0)
    for name, row in checks.items():
        kind = "attention" if row.attention else "gold"
        for ballot in votes[name].of(who):
            out[kind] += 1
            out[f"{kind}_right"] += code(task, ballot.value) == code(task, row.gold)
    return out


def results(connection: Connection, task: ReviewTask, outcomes: Outcomes) -> pl.DataFrame:
    """A row for each item under review. `agreement` is the share of votes for the commonest answer;
    `estimate` is Dawid and Skene's answer, of annotators only, with its probability."""
    likely = estimates(task, {i: votes for i, (votes, _) in outcomes.items()})
    about = places(connection)
    rows = []
    for name, (votes, outcome) in outcomes.items():
        people = votes.people()
        tally = Counter(code(task, b.value) for b in people)
        answer, probability = likely.get(name, (None, None))
        comments = [f"{b.name}: {b.comment}" for b in votes.every() if b.comment]
        row = {
            **about[name]._mapping,
            "item": name,
            "value": written(outcome.value),
            "how": outcome.how,
            "votes": len(people),
            "agreement": max(tally.values()) / len(people) if people else None,
            "estimate": answer,
            "probability": probability,
            "annotators": ", ".join(b.name for b in people) or None,
            "comments": "; ".join(comments) or None,
        }
        rows.append(row)
    return pl.DataFrame(rows, schema=RESULTS)


def places(connection: Connection) -> dict[str, StoredRow]:
    """By item: record_id, other_id, batch."""
    query: sa.Select[Any] = sa.select(item.c.id, item.c.record_id, item.c.other_id, item.c.batch)
    return {row.id: row for row in connection.execute(query)}


def estimates(task: ReviewTask, votes: Mapping[str, Votes]) -> dict[str, tuple[str, float]]:
    """Dawid and Skene's answers where answers are choices."""
    if not task.choices or task.kind == "span":
        return {}
    return dawid_skene({i: {b.name: str(b.value) for b in v.people()} for i, v in votes.items()})


def written(value: Value) -> str | None:
    """A value as text: a choice or a note as it is, everything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def events(connection: Connection) -> pl.DataFrame:
    """The history, oldest first: who, what, when."""
    named = person.c.id == event.c.person
    query = sa.select(event, person.c.name.label("who")).join(person, named, isouter=True)
    rows = [
        {**row, "detail": written(row["detail"])}
        for row in connection.execute(query.order_by(event.c.id)).mappings()
    ]
    texts = dict.fromkeys(("who", "kind", "item", "detail"), pl.String)
    return pl.DataFrame(rows, schema={"id": pl.Int64, "at": pl.Datetime("us"), **texts})
