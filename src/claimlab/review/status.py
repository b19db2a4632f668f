"""The progress of a review, and the annotators' results on gold items and attention checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import median

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.review.people import everyone
from claimlab.review.tables import assignment, item, sa
from claimlab.review.task import Task
from claimlab.review.votes import Votes, ballots, code, outcomes

SCHEMA = {
    "name": pl.String,
    "role": pl.String,
    "assigned": pl.Int64,
    "done": pl.Int64,
    "open": pl.Int64,
    "skipped": pl.Int64,
    "returned": pl.Int64,
    "decisions": pl.Int64,
    "gold": pl.Int64,
    "gold_right": pl.Int64,
    "attention": pl.Int64,
    "attention_right": pl.Int64,
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
    checks = {
        r.id: r
        for r in connection.execute(
            item.select().where(sa.or_(item.c.attention, item.c.gold.is_not(None)))
        )
    }
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    tally = sa.select(assignment.c.person, assignment.c.status, sa.func.count().label("n"))
    for row in connection.execute(tally.group_by(assignment.c.person, assignment.c.status)):
        counts[row.person][row.status] = row.n
    decisions = [b for v in votes.values() for b in v.every()]
    rows = []
    for person in everyone(connection):
        mine = [b for b in decisions if b.person == person.id]
        seconds = [b.seconds for b in mine if b.seconds is not None]
        rows.append(
            {
                "name": person.name,
                "role": person.role,
                "assigned": counts[person.id].total(),
                **{
                    name: counts[person.id][name]
                    for name in ("done", "open", "skipped", "returned")
                },
                "decisions": len(mine),
                **_checked(task, checks, votes, person.id),
                "median_seconds": median(seconds) if seconds else None,
            }
        )
    attention = sum(bool(r.attention) for r in checks.values())
    tallied = Counter(outcome.how for _, outcome in results.values())
    return ReviewStatus(
        task.name,
        task.kind,
        pl.DataFrame(rows, schema=SCHEMA),
        dict(sorted(tallied.items())),
        len(checks) - attention,
        attention,
    )


def _checked(task: Task, checks: JsonObject, votes: dict[str, Votes], who: int) -> dict[str, int]:
    """How many gold items and attention checks a person answered, and how many correctly."""
    out: Counter[str] = Counter()
    for name, row in checks.items():
        kind = "attention" if row.attention else "gold"
        for ballot in votes.get(name, Votes()).first:
            if ballot.person == who:
                out[kind] += 1
                out[f"{kind}_right"] += code(task, ballot.value) == code(task, row.gold)
    return {name: out[name] for name in ("gold", "gold_right", "attention", "attention_right")}
