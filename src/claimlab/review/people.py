"""Who takes part (annotators, adjudicators, owners, and models) and who gets which item: equal
loads, every pair of annotators about equally often, nothing twice for one person.

Tokens are shown once; only their hashes are kept. Items that an annotator has seen stay theirs.
When an annotator joins, the others give up items they have not seen yet.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import permutations, product
from typing import Any

from claimlab.core.errors import NotAllowed, NotFound, UsageError, check_name
from claimlab.core.stats.streams import share_of, stream
from claimlab.review.shapes import ROLES, Person
from claimlab.review.store import Connection, assignment, event, item, person, sa
from claimlab.review.task import ReviewTask

NAME_CHARACTERS = 100
_PERSON = sa.select(person.c.id, person.c.name, person.c.role)
_BY_TOKEN = _PERSON.where(person.c.token_hash == sa.bindparam("hash"))
_BY_ID = _PERSON.where(person.c.id == sa.bindparam("who"))
_LOG = event.insert()


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def log(
    connection: Connection, who: int | None, kind: str, on: str | None = None, **detail: Any
) -> None:
    """A line of the history."""
    connection.execute(
        _LOG, {"at": now(), "person": who, "kind": kind, "item": on, "detail": detail}
    )


def everyone(connection: Connection) -> list[Person]:
    rows = connection.execute(_PERSON.order_by(person.c.id)).mappings()
    return [Person.model_validate(row) for row in rows]


def by_token(connection: Connection, token: str) -> Person | None:
    row = connection.execute(_BY_TOKEN, {"hash": _hash(token)}).mappings().first()
    return None if row is None else Person.model_validate(row)


def named(connection: Connection, name: str) -> Person:
    by_name = {person.name: person for person in everyone(connection)}
    check_name("person", name, by_name)
    return by_name[name]


def known(connection: Connection, who: Person | str) -> Person:
    """The person as the store has them: a name will do, and a role is never taken from the
    caller.
    """
    if isinstance(who, str):
        return named(connection, who)
    row = connection.execute(_BY_ID, {"who": who.id}).mappings().first()
    if row is None:
        raise NotFound(f"There is no person '{who.name}' in this review.", "Add them first.")
    return Person.model_validate(row)


def demand(person: Person, roles: Sequence[str], what: str) -> None:
    if person.role not in roles:
        wanted = " or ".join(roles)
        raise NotAllowed(
            f"'{person.name}' ({person.role}) may not {what}.", f"It takes the role {wanted}."
        )


def add(connection: Connection, name: str, role: str) -> tuple[Person, str]:
    """A new person with their token; `share_out` gives annotators their items."""
    clean = name.strip()
    check_name("role", role, ROLES)
    if connection.execute(sa.select(person.c.id).where(person.c.name == clean)).first():
        raise UsageError(
            f"'{clean}' is already in this review.",
            "Choose another name, or make a new token for them.",
        )
    token = secrets.token_urlsafe(32)
    return enrol(connection, clean, role, _hash(token)), token


def enrol(connection: Connection, name: str, role: str, token: str | None = None) -> Person:
    """A new person; `token` is the hash of theirs."""
    if not name or len(name) > NAME_CHARACTERS or not name.isprintable():
        raise UsageError(
            f"{name!r:.120} is not a name.", f"Give 1 to {NAME_CHARACTERS} printable characters."
        )
    values = {"name": name, "role": role, "token_hash": token, "created": now()}
    query = person.insert().values(**values).returning(person.c.id)
    number = connection.execute(query).scalar_one()
    log(connection, number, "person", name=name, role=role)
    return Person.model_validate({"id": number, "name": name, "role": role})


def new_token(connection: Connection, who: Person) -> str:
    """A new token for a person who lost theirs; the old one is no longer valid."""
    token = secrets.token_urlsafe(32)
    connection.execute(person.update().where(person.c.id == who.id).values(token_hash=_hash(token)))
    log(connection, who.id, "token")
    return token


def share_out(connection: Connection, task: ReviewTask, seed: int) -> None:
    """Assign the items again among the annotators; what an annotator has seen stays theirs. Gold
    items and attention checks go to all."""
    names = {p.id: p.name for p in everyone(connection) if p.role == "annotator"}
    for_all = sa.or_(item.c.attention, item.c.gold.is_not(None))
    query: sa.Select[Any] = sa.select(item.c.id, item.c.position, for_all.label("for_all"))
    places = {r.id: r for r in connection.execute(query.order_by(item.c.position, item.c.id))}
    rows = connection.execute(assignment.select())
    holdings = {(r.item, r.person): (r.status, r.shown) == ("open", None) for r in rows}
    checks = dict.fromkeys(name for name, place in places.items() if place.for_all)
    shared = [name for name in places if name not in checks]
    held_by_person = {pair: free for pair, free in holdings.items() if pair[0] not in checks}
    add, remove = deal(shared, list(names), task.per_item, held_by_person, seed)
    add += [pair for pair in product(checks, names) if pair not in holdings]
    for name, who in remove:
        connection.execute(
            assignment.delete().where(assignment.c.item == name, assignment.c.person == who)
        )

    def place_of(name: str, who: int) -> float:
        """Where an item is in the queue of a person: at random, everyone has an order of their
        own."""
        at_random = task.order == "random"
        return share_of(seed, "order", names[who], name) if at_random else places[name].position

    new = [
        {"item": name, "person": who, "position": float(place_of(name, who)), "status": "open"}
        for name, who in add
    ]
    if new:
        connection.execute(assignment.insert(), new)


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
            ranks = {p: (load[p], _met(together, p, beside), draw.random()) for p in free}
            who = min(free, key=ranks.__getitem__)
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


def _met(together: Counter[tuple[int, int]], who: int, beside: Sequence[int]) -> int:
    """How often an annotator has an item with one of these."""
    return sum(together[who, other] for other in beside)


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
    givers = set(people)
    while givers:
        giver = min(givers, key=lambda p: (-load[p], p))
        taker = min(people, key=lambda p: (load[p], p))
        if load[giver] - load[taker] < 2:
            break
        item = next((i for i in reversed(stock[giver]) if taker not in holders[i]), None)
        if item is None:
            givers.remove(giver)  # nothing of theirs can go there: the next heaviest gives
            continue
        stock[giver].remove(item)
        stock[taker].append(item)
        holders[item] = [taker if p == giver else p for p in holders[item]]
        load.update({giver: -1, taker: 1})
        moves.append((item, giver, taker))
    return moves
