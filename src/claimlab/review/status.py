"""The progress of a review: how far each annotator is, with their results on gold items and
attention checks, and what each item comes to.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

import polars as pl

from claimlab.core.digest import digest_json
from claimlab.core.shown import Shown
from claimlab.core.stats.agreement import dawid_skene, majority
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.review.people import everyone
from claimlab.review.shapes import Round, Value, Vote
from claimlab.review.store import (
    Connection,
    StoredRow,
    assignment,
    decision,
    event,
    item,
    person,
    sa,
)
from claimlab.review.task import Task

# The votes on each item, and their result.

FEW = 500
_BALLOTS = (
    sa.select(
        *(column for column in decision.c if column.name != "superseded"),
        *(person.c.name, person.c.role, item.c.record_id, item.c.other_id),
    )
    .join(person, person.c.id == decision.c.person)
    .join(item, item.c.id == decision.c.item)
    .where(decision.c.superseded == sa.false())
    .order_by(decision.c.person, decision.c.at, decision.c.key)
)
_OF_ITEMS = _BALLOTS.where(
    decision.c.item.in_(sa.bindparam("items", expanding=True))
)  # built once, as in `decisions`


@dataclass(frozen=True)
class Ballot:
    """One valid decision with who made it."""

    key: str
    item: str
    person: int
    name: str
    role: str
    round: Round
    value: Value
    comment: str | None
    seconds: float | None
    at: datetime
    record_id: str | None
    other_id: str | None

    @property
    def model(self) -> bool:
        return self.role == "model"

    def of_model(self, name: str) -> bool:
        """Whether the model of this name made it."""
        return self.model and self.name == name

    def shown(self, who: str | None = None) -> Vote:
        answer = {name: getattr(self, name) for name in ("model", "round", "value", "comment")}
        return Vote(who=who or self.name, **answer)


@dataclass
class Votes:
    """The valid decisions on one item, by round."""

    first: list[Ballot] = field(default_factory=list)
    second: list[Ballot] = field(default_factory=list)
    final: list[Ballot] = field(default_factory=list)

    def people(self, *, after: bool = True) -> list[Ballot]:
        """What annotators say now: their second vote where they gave one. Models never settle an
        item.
        """
        again = {b.person: b for b in self.second} if after else {}
        return [again.get(b.person, b) for b in self.first if not b.model]

    def of(self, person: int) -> list[Ballot]:
        """The first vote of a person, if they voted."""
        return [b for b in self.first if b.person == person]

    def models(self) -> list[Ballot]:
        return [b for b in self.first if b.model]

    def every(self) -> list[Ballot]:
        return [*self.first, *self.second, *self.final]


@dataclass(frozen=True)
class Outcome:
    """What an item comes to, and how: final, agreed, majority, single, collected; disputed and open
    have no value.
    """

    value: Value
    how: str


Outcomes = Mapping[str, tuple[Votes, Outcome]]  # by item


def ballots(connection: Connection, items: Iterable[str] | None = None) -> defaultdict[str, Votes]:
    """The valid decisions, by item; an item without any has no votes."""
    wanted = None if items is None else set(items)
    if wanted is not None and len(wanted) <= FEW:  # databases take a limited number of values
        rows = connection.execute(_OF_ITEMS, {"items": sorted(wanted)})
    else:
        rows = connection.execute(_BALLOTS)
    out: defaultdict[str, Votes] = defaultdict(Votes)
    for row in rows:
        if wanted is None or row.item in wanted:
            getattr(out[row.item], row.round).append(Ballot(**row._mapping))
    return out


def same(task: Task, values: Iterable[Value]) -> bool:
    return len({code(task, value) for value in values}) < 2


def code(task: Task, value: Value) -> Value:
    """A value that can be counted; spans are equal when all of them are."""
    return value if task.kind != "span" else digest_json(value)


def outcome(task: Task, votes: Votes, wanted: int) -> Outcome:
    """`wanted` is how many annotators the item is for. Notes are not compared: all are kept."""
    if votes.final:
        return Outcome(votes.final[0].value, "final")
    values = [b.value for b in votes.people()]
    if len(values) < max(wanted, 1):
        return Outcome(None, "open")
    if task.kind == "note":
        return Outcome(values, "collected")
    if same(task, values):
        return Outcome(values[0], "agreed" if len(values) > 1 else "single")
    most = majority([code(task, v) for v in values]) if task.adjudication == "majority" else None
    if most is not None:
        return Outcome(next(v for v in values if code(task, v) == most), "majority")
    return Outcome(None, "disputed")


def rows_of(connection: Connection, items: Iterable[str]) -> JsonObject:
    """The rows of `items`, by id."""
    ids = list(items)
    parts = [ids[start : start + FEW] for start in range(0, len(ids), FEW)]
    return {
        row.id: row
        for part in parts
        for row in connection.execute(item.select().where(item.c.id.in_(part)))
    }


def real_items(connection: Connection) -> list[str]:
    """The items that are under review: no gold item, no attention check."""
    query = sa.select(item.c.id).where(item.c.gold.is_(None), item.c.attention == sa.false())
    return [row.id for row in connection.execute(query.order_by(item.c.position, item.c.id))]


def wanted_by(connection: Connection, task: Task) -> int:
    """How many annotators an item is for, at most the number there are."""
    count = sa.select(sa.func.count()).select_from(person).where(person.c.role == "annotator")
    return max(1, min(task.per_item, connection.execute(count).scalar_one()))


def outcomes(connection: Connection, task: Task) -> Outcomes:
    """Votes and outcome of every item that is under review, in their order."""
    votes, wanted = ballots(connection), wanted_by(connection, task)
    return {i: (votes[i], outcome(task, votes[i], wanted)) for i in real_items(connection)}


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
        names = ("name", "kind", "total", "settled", "items", "gold", "attention")
        return {**{name: getattr(self, name) for name in names}, "people": self.people.to_dicts()}


def status(connection: Connection, task: Task) -> ReviewStatus:
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
        known = [one for one in seconds if one is not None]
        work = {
            **{name: counts[who.id][name] for name in STATUSES},
            **_checked(task, checks, votes, who.id),
            "assigned": counts[who.id].total(),
            "decisions": len(seconds),
            "median_seconds": median(known) if known else None,
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


def _checked(
    task: Task, checks: JsonObject, votes: Mapping[str, Votes], who: int
) -> dict[str, int]:
    """How many gold items and attention checks a person answered, and how many correctly."""
    out = dict.fromkeys(CHECKS, 0)
    for name, row in checks.items():
        kind = "attention" if row.attention else "gold"
        for ballot in votes[name].of(who):
            out[kind] += 1
            out[f"{kind}_right"] += code(task, ballot.value) == code(task, row.gold)
    return out


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


def results(connection: Connection, task: Task, outcomes: Outcomes) -> pl.DataFrame:
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
