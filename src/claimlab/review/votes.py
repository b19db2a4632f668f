"""The votes on each item, and their result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from claimlab.core.digest import digest_json
from claimlab.core.stats.agreement import majority
from claimlab.core.types import JsonObject
from claimlab.review.shapes import Round, Vote
from claimlab.review.tables import decision, item, person, sa
from claimlab.review.task import Task

FEW = 500
_BALLOTS = (
    sa.select(decision, person.c.name, person.c.role)
    .join(person, person.c.id == decision.c.person)
    .where(decision.c.superseded == sa.false())
    .order_by(decision.c.person, decision.c.at, decision.c.key)
)
_OF_ITEMS = _BALLOTS.where(
    decision.c.item.in_(sa.bindparam("items", expanding=True))
)  # built once, as in `queue`


@dataclass(frozen=True)
class Ballot:
    """One valid decision with who made it."""

    key: str
    item: str
    person: int
    name: str
    role: str
    round: Round
    value: Any
    comment: str | None
    seconds: float | None
    at: datetime

    @property
    def model(self) -> bool:
        return self.role == "model"

    def shown(self, who: str | None = None) -> Vote:
        return Vote(
            who=who or self.name,
            model=self.model,
            round=self.round,
            value=self.value,
            comment=self.comment,
        )


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

    def models(self) -> list[Ballot]:
        return [b for b in self.first if b.model]

    def every(self) -> list[Ballot]:
        return [*self.first, *self.second, *self.final]


@dataclass(frozen=True)
class Outcome:
    """What an item comes to, and how: final, agreed, majority, single, collected; disputed and open
    have no value.
    """

    value: Any
    how: str


def ballots(connection: sa.Connection, items: Iterable[str] | None = None) -> dict[str, Votes]:
    """The valid decisions, by item."""
    wanted = None if items is None else set(items)
    few = (
        wanted is not None and len(wanted) <= FEW
    )  # databases take a limited number of values in one query
    rows = (
        connection.execute(_OF_ITEMS, {"items": sorted(wanted or ())})
        if few
        else connection.execute(_BALLOTS)
    )
    out: dict[str, Votes] = defaultdict(Votes)
    for r in rows:
        if wanted is not None and r.item not in wanted:
            continue
        ballot = Ballot(
            r.key, r.item, r.person, r.name, r.role, r.round, r.value, r.comment, r.seconds, r.at
        )
        getattr(out[r.item], r.round).append(ballot)
    return out


def same(task: Task, values: Iterable[Any]) -> bool:
    return len({code(task, value) for value in values}) < 2


def code(task: Task, value: Any) -> Any:
    """A value that can be counted; spans are equal when all of them are."""
    return value if task.kind != "span" else digest_json(value)


def outcome(task: Task, votes: Votes, wanted: int) -> Outcome:
    """`wanted` is how many annotators the item is for. Notes are not compared: all are kept."""
    if votes.final:
        return Outcome(votes.final[0].value, "final")
    values = [b.value for b in votes.people()]
    if not values:
        return Outcome(None, "open")
    if len(values) < wanted:
        return Outcome(None, "open")
    if task.kind == "note":
        return Outcome(values, "collected")
    if same(task, values):
        return Outcome(values[0], "agreed" if len(values) > 1 else "single")
    most = majority([code(task, v) for v in values]) if task.adjudication == "majority" else None
    if most is not None:
        return Outcome(next(v for v in values if code(task, v) == most), "majority")
    return Outcome(None, "disputed")


def rows_of(connection: sa.Connection, items: Iterable[str]) -> JsonObject:
    """The rows of `items`, by id."""
    ids = list(items)
    parts = [ids[start : start + FEW] for start in range(0, len(ids), FEW)]
    return {
        row.id: row
        for part in parts
        for row in connection.execute(item.select().where(item.c.id.in_(part)))
    }


def real_items(connection: sa.Connection) -> list[str]:
    """The items that are under review: no gold item, no attention check."""
    query = sa.select(item.c.id).where(item.c.gold.is_(None), item.c.attention == sa.false())
    return [row.id for row in connection.execute(query.order_by(item.c.position, item.c.id))]


def outcomes(
    connection: sa.Connection, task: Task, wanted: int
) -> Mapping[str, tuple[Votes, Outcome]]:
    """Votes and outcome of every item that is under review, in their order."""
    votes = ballots(connection)
    votes_by_item = {i: votes.get(i, Votes()) for i in real_items(connection)}
    return {i: (v, outcome(task, v, wanted)) for i, v in votes_by_item.items()}
