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
from claimlab.core.stats.agreement import dawid_skene
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.review.people import everyone
from claimlab.review.shapes import Value
from claimlab.review.store import StoredRow, assignment, event, item, person, sa
from claimlab.review.task import Task
from claimlab.review.votes import Outcome, Votes, ballots, code, outcomes

STATUSES = ("done", "open", "skipped", "returned")
CHECKS = ("gold", "gold_right", "attention", "attention_right")
PEOPLE = {
    **dict.fromkeys(("name", "role"), pl.String),
    **dict.fromkeys(("assigned", *STATUSES, "decisions", *CHECKS), pl.Int64),
    "median_seconds": pl.Float64,
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
        return {
            "name": self.name,
            "kind": self.kind,
            "total": self.total,
            "settled": self.settled,
            "items": self.items,
            "gold": self.gold,
            "attention": self.attention,
            "people": self.people.to_dicts(),
        }


def status(connection: sa.Connection, task: Task, wanted: int) -> ReviewStatus:
    results = outcomes(connection, task, wanted)
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
        mine = [b for b in decisions if b.person == who.id]
        seconds = [b.seconds for b in mine if b.seconds is not None]
        rows.append(
            {
                "name": who.name,
                "role": who.role,
                "assigned": counts[who.id].total(),
                **{name: counts[who.id][name] for name in STATUSES},
                "decisions": len(mine),
                **_checked(task, checks, votes, who.id),
                "median_seconds": median(seconds) if seconds else None,
            }
        )
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


def _checked(
    task: Task, checks: JsonObject, votes: Mapping[str, Votes], who: int
) -> dict[str, int]:
    """How many gold items and attention checks a person answered, and how many correctly."""
    out: Counter[str] = Counter()
    for name, row in checks.items():
        kind = "attention" if row.attention else "gold"
        for ballot in votes[name].of(who):
            out[kind] += 1
            out[f"{kind}_right"] += code(task, ballot.value) == code(task, row.gold)
    return {name: out[name] for name in CHECKS}


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


def results(
    connection: sa.Connection, task: Task, outcomes: Mapping[str, tuple[Votes, Outcome]]
) -> pl.DataFrame:
    """A row for each item under review. `agreement` is the share of votes for the commonest answer;
    `estimate` is Dawid and Skene's answer, of annotators only, with its probability."""
    likely = estimates(task, {i: votes for i, (votes, _) in outcomes.items()})
    about = places(connection)
    rows = []
    for name, (votes, outcome) in outcomes.items():
        people = votes.people()
        tally = Counter(code(task, b.value) for b in people)
        answer, probability = likely.get(name, (None, None))
        rows.append(
            {
                "item": name,
                "record_id": about[name].record_id,
                "other_id": about[name].other_id,
                "value": written(outcome.value),
                "how": outcome.how,
                "votes": len(people),
                "agreement": max(tally.values()) / len(people) if people else None,
                "estimate": answer,
                "probability": probability,
                "annotators": ", ".join(b.name for b in people) or None,
                "comments": (
                    "; ".join(f"{b.name}: {b.comment}" for b in votes.every() if b.comment) or None
                ),
                "batch": about[name].batch,
            }
        )
    return pl.DataFrame(rows, schema=RESULTS)


def places(connection: sa.Connection) -> dict[str, StoredRow]:
    """By item: record_id, other_id, batch."""
    query: sa.Select[Any] = sa.select(item.c.id, item.c.record_id, item.c.other_id, item.c.batch)
    return {row.id: row for row in connection.execute(query)}


def estimates(task: Task, votes: Mapping[str, Votes]) -> dict[str, tuple[str, float]]:
    """Dawid and Skene's answers where answers are choices."""
    if not task.choices or task.kind == "span":
        return {}
    return dawid_skene({i: {b.name: str(b.value) for b in v.people()} for i, v in votes.items()})


def written(value: Value) -> str | None:
    """A value as text: a choice or a note as it is, everything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def events(connection: sa.Connection) -> pl.DataFrame:
    """The history, oldest first: who, what, when."""
    query = sa.select(event, person.c.name).join(
        person, person.c.id == event.c.person, isouter=True
    )
    rows = [
        {
            "id": r.id,
            "at": r.at,
            "who": r.name,
            "kind": r.kind,
            "item": r.item,
            "detail": written(r.detail),
        }
        for r in connection.execute(query.order_by(event.c.id))
    ]
    texts = dict.fromkeys(("who", "kind", "item", "detail"), pl.String)
    return pl.DataFrame(rows, schema={"id": pl.Int64, "at": pl.Datetime("us"), **texts})
