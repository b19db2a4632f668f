"""The valid decisions on each item of a review, and what they come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from claimlab.core.digest import digest_json
from claimlab.core.stats.consensus import majority
from claimlab.core.types import JsonObject
from claimlab.review.shapes import Round, Value, Vote
from claimlab.review.store import Connection, decision, item, person, sa
from claimlab.review.task import ReviewTask

MOST_ITEMS_BOUND = 500
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
class ItemOutcome:
    """What an item comes to, and how: final, agreed, majority, single, collected; disputed and open
    have no value.
    """

    value: Value
    how: str


Outcomes = Mapping[str, tuple[Votes, ItemOutcome]]  # by item


def ballots(connection: Connection, items: Iterable[str] | None = None) -> defaultdict[str, Votes]:
    """The valid decisions, by item; an item without any has no votes."""
    wanted = None if items is None else set(items)
    if (
        wanted is not None and len(wanted) <= MOST_ITEMS_BOUND
    ):  # databases take a limited number of values
        rows = connection.execute(_OF_ITEMS, {"items": sorted(wanted)})
    else:
        rows = connection.execute(_BALLOTS)
    out: defaultdict[str, Votes] = defaultdict(Votes)
    for row in rows:
        if wanted is None or row.item in wanted:
            getattr(out[row.item], row.round).append(Ballot(**row._mapping))
    return out


def same(task: ReviewTask, values: Iterable[Value]) -> bool:
    return len({code(task, value) for value in values}) < 2


def code(task: ReviewTask, value: Value) -> Value:
    """A value that can be counted; spans are equal when all of them are."""
    return value if task.kind != "span" else digest_json(value)


def outcome(task: ReviewTask, votes: Votes, wanted: int) -> ItemOutcome:
    """`wanted` is how many annotators the item is for. Notes are not compared: all are kept."""
    if votes.final:
        return ItemOutcome(votes.final[0].value, "final")
    values = [b.value for b in votes.people()]
    if len(values) < max(wanted, 1):
        return ItemOutcome(None, "open")
    if task.kind == "note":
        return ItemOutcome(values, "collected")
    if same(task, values):
        return ItemOutcome(values[0], "agreed" if len(values) > 1 else "single")
    most = majority([code(task, v) for v in values]) if task.adjudication == "majority" else None
    if most is not None:
        return ItemOutcome(next(v for v in values if code(task, v) == most), "majority")
    return ItemOutcome(None, "disputed")


def rows_of(connection: Connection, items: Iterable[str]) -> JsonObject:
    """The rows of `items`, by id."""
    ids = list(items)
    parts = [
        ids[start : start + MOST_ITEMS_BOUND] for start in range(0, len(ids), MOST_ITEMS_BOUND)
    ]
    return {
        row.id: row
        for part in parts
        for row in connection.execute(item.select().where(item.c.id.in_(part)))
    }


def real_items(connection: Connection) -> list[str]:
    """The items that are under review: no gold item, no attention check."""
    query = sa.select(item.c.id).where(item.c.gold.is_(None), item.c.attention == sa.false())
    return [row.id for row in connection.execute(query.order_by(item.c.position, item.c.id))]


def wanted_by(connection: Connection, task: ReviewTask) -> int:
    """How many annotators an item is for, at most the number there are."""
    count = sa.select(sa.func.count()).select_from(person).where(person.c.role == "annotator")
    return max(1, min(task.per_item, connection.execute(count).scalar_one()))


def outcomes(connection: Connection, task: ReviewTask) -> Outcomes:
    """Votes and outcome of every item that is under review, in their order."""
    votes, wanted = ballots(connection), wanted_by(connection, task)
    return {i: (votes[i], outcome(task, votes[i], wanted)) for i in real_items(connection)}
