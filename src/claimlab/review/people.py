"""Who takes part (annotators, adjudicators, owners, and models) and who gets which item: equal
loads, every pair of annotators about equally often, nothing twice for one person.

Tokens are shown once; only their hashes are kept. Items that an annotator has seen stay theirs.
When an annotator joins, the others give up items they have not seen yet.
"""

from __future__ import annotations

import hashlib
import heapq
import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

from claimlab.core.errors import NotAllowed, NotFound, UnknownName, UsageError
from claimlab.core.stats.streams import share_of, stream
from claimlab.review.shapes import ROLES, Person
from claimlab.review.store import StoredRow, assignment, event, item, person, sa
from claimlab.review.task import Task

LONGEST_NAME = 100
_PERSON = sa.select(person.c.id, person.c.name, person.c.role)
_BY_TOKEN = _PERSON.where(person.c.token_hash == sa.bindparam("hash"))
_BY_ID = _PERSON.where(person.c.id == sa.bindparam("who"))
_LOG = event.insert()


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def log(
    connection: sa.Connection, who: int | None, kind: str, on: str | None = None, **detail: Any
) -> None:
    """A line of the history."""
    connection.execute(
        _LOG, {"at": now(), "person": who, "kind": kind, "item": on, "detail": detail}
    )


def everyone(connection: sa.Connection) -> list[Person]:
    return [_person(row) for row in connection.execute(_PERSON.order_by(person.c.id)).mappings()]


def _person(row: sa.RowMapping) -> Person:
    return Person.model_validate(row)


def by_token(connection: sa.Connection, token: str) -> Person | None:
    row = connection.execute(_BY_TOKEN, {"hash": _hash(token)}).mappings().first()
    return None if row is None else _person(row)


def named(connection: sa.Connection, name: str) -> Person:
    by_name = {person.name: person for person in everyone(connection)}
    if name not in by_name:
        raise UnknownName("person", name, list(by_name))
    return by_name[name]


def known(connection: sa.Connection, who: Person | str) -> Person:
    """The person as the store has them: a name will do, and a role is never taken from the
    caller.
    """
    if isinstance(who, str):
        return named(connection, who)
    row = connection.execute(_BY_ID, {"who": who.id}).mappings().first()
    if row is None:
        raise NotFound(f"There is no person '{who.name}' in this review.", "Add them first.")
    return _person(row)


def demand(person: Person, roles: Sequence[str], what: str) -> None:
    if person.role not in roles:
        wanted = " or ".join(roles)
        raise NotAllowed(
            f"'{person.name}' ({person.role}) may not {what}.", f"It takes the role {wanted}."
        )


def add(connection: sa.Connection, name: str, role: str) -> tuple[Person, str]:
    """A new person with their token; `share_out` gives annotators their items."""
    clean = name.strip()
    if not clean or len(clean) > LONGEST_NAME or not clean.isprintable():
        raise UsageError(
            f"{name!r:.120} is not a name.", f"Give 1 to {LONGEST_NAME} printable characters."
        )
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    if connection.execute(sa.select(person.c.id).where(person.c.name == clean)).first():
        raise UsageError(
            f"'{clean}' is already in this review.",
            "Choose another name, or make a new token for them.",
        )
    token = secrets.token_urlsafe(32)
    values = {"name": clean, "role": role, "token_hash": _hash(token), "created": now()}
    number = connection.execute(
        person.insert().values(**values).returning(person.c.id)
    ).scalar_one()
    log(connection, number, "person", name=clean, role=role)
    return Person.model_validate({"id": number, "name": clean, "role": role}), token


def new_token(connection: sa.Connection, who: Person) -> str:
    """A new token for a person who lost theirs; the old one is no longer valid."""
    token = secrets.token_urlsafe(32)
    connection.execute(person.update().where(person.c.id == who.id).values(token_hash=_hash(token)))
    log(connection, who.id, "token")
    return token


def share_out(connection: sa.Connection, task: Task, seed: int) -> None:
    """Assign the items again among the annotators; what an annotator has seen stays theirs. Gold
    items and attention checks go to all."""
    names = {p.id: p.name for p in everyone(connection) if p.role == "annotator"}
    for_all = sa.or_(item.c.attention, item.c.gold.is_not(None))
    query: sa.Select[Any] = sa.select(item.c.id, item.c.position, for_all.label("for_all"))
    places = {r.id: r for r in connection.execute(query.order_by(item.c.position, item.c.id))}
    rows = connection.execute(assignment.select())
    holdings = {(r.item, r.person): (r.status, r.shown) == ("open", None) for r in rows}
    shared = [name for name, place in places.items() if not place.for_all]
    mine = {pair: free for pair, free in holdings.items() if not places[pair[0]].for_all}
    add, remove = deal(shared, list(names), task.per_item, mine, seed)
    every = ((name, who) for name, place in places.items() if place.for_all for who in names)
    add += [pair for pair in every if pair not in holdings]
    for name, who in remove:
        connection.execute(
            assignment.delete().where(assignment.c.item == name, assignment.c.person == who)
        )
    new = [
        {
            "item": name,
            "person": who,
            "position": _position(task, places[name], names[who], seed),
            "status": "open",
        }
        for name, who in add
    ]
    if new:
        connection.execute(assignment.insert(), new)


def _position(task: Task, place: StoredRow, name: str, seed: int) -> float:
    """Where an item is in a person's queue; in random order, each annotator has their own."""
    random = task.order == "random"
    return share_of(seed, "order", name, place.id) if random else float(place.position)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


Pair = tuple[str, int]  # an item and a person


def deal(
    items: Sequence[str],
    people: Sequence[int],
    per_item: int,
    holdings: Mapping[Pair, bool],
    seed: int,
) -> tuple[list[Pair], list[Pair]]:
    """What to add to and to take from `held`, so that every item has `per_item` annotators (or all
    there are) and loads differ by one at most. `held` has for each pair whether it may still be
    moved."""
    holders: dict[str, list[int]] = defaultdict(list)
    load = Counter(dict.fromkeys(people, 0))
    for name, who in holdings:
        holders[name].append(who)
        load[who] += 1
    together = Counter(pair for beside in holders.values() for pair in permutations(beside, 2))
    added: set[Pair] = set()
    draw = stream(seed, "deal", len(holdings))
    for name in items:
        beside = holders[name]
        while len(beside) < min(per_item, len(people)):
            free = [who for who in people if who not in beside]
            if not free:
                break
            who = min(free, key=lambda p: _rank(p, beside, load, together, draw.random()))
            together.update(pair for other in beside for pair in ((who, other), (other, who)))
            beside.append(who)
            load[who] += 1
            added.add((name, who))
    movable = {pair for pair, free in holdings.items() if free} | added
    wanted = set(holdings) | added
    for name, old, new in _level(items, people, holders, load, movable):
        wanted.discard((name, old))
        wanted.add((name, new))
    return sorted(wanted - holdings.keys()), sorted(holdings.keys() - wanted)


def _rank(
    person: int,
    beside: Sequence[int],
    load: Counter[int],
    together: Counter[tuple[int, int]],
    draw: float,
) -> tuple[int, int, float]:
    return load[person], sum(together[person, q] for q in beside), draw


def _level(
    items: Sequence[str],
    people: Sequence[int],
    holders: dict[str, list[int]],
    load: Counter[int],
    movable: set[Pair],
) -> list[tuple[str, int, int]]:
    """Moves (item, from, to) from the person with most items to the one with fewest, until loads
    are level.
    """
    stock = {p: [item for item in items if (item, p) in movable] for p in people}
    moves = []
    heavy = [(-load[p], p) for p in people]
    heapq.heapify(heavy)
    while heavy:
        giver = heapq.heappop(heavy)[1]
        taker = min(people, key=lambda p: (load[p], p))
        if load[giver] - load[taker] < 2:
            break
        item = next((i for i in reversed(stock[giver]) if taker not in holders[i]), None)
        if item is None:
            continue  # nothing of theirs can go there: the next heaviest gives
        stock[giver].remove(item)
        stock[taker].append(item)
        holders[item] = [taker if p == giver else p for p in holders[item]]
        load[giver] -= 1
        load[taker] += 1
        moves.append((item, giver, taker))
        heapq.heappush(heavy, (-load[giver], giver))
    return moves
