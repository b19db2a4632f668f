"""Who takes part: annotators, adjudicators, owners, and models. Tokens are shown once; only their
hashes are kept.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from claimlab.core.errors import NotAllowed, NotFound, UnknownName, UsageError
from claimlab.review.dealing import deal
from claimlab.review.shapes import ABOVE, ROLES, Person, Role
from claimlab.review.tables import assignment, event, item, person, sa
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
    rows = connection.execute(_PERSON.order_by(person.c.id))
    return [Person(id=r.id, name=r.name, role=r.role) for r in rows]


def by_token(connection: sa.Connection, token: str) -> Person | None:
    row = connection.execute(_BY_TOKEN, {"hash": _hash(token)}).first()
    return None if row is None else Person(id=row.id, name=row.name, role=row.role)


def named(connection: sa.Connection, name: str) -> Person:
    match = next((p for p in everyone(connection) if p.name == name), None)
    if match is None:
        raise UnknownName("person", name, [p.name for p in everyone(connection)])
    return match


def known(connection: sa.Connection, who: Person | str) -> Person:
    """The person as the store has them: a name will do, and a role is never taken from the
    caller.
    """
    if isinstance(who, str):
        return named(connection, who)
    row = connection.execute(_BY_ID, {"who": who.id}).first()
    if row is None:
        raise NotFound(f"There is no person '{who.name}' in this review.", "Add them first.")
    return Person(id=row.id, name=row.name, role=row.role)


def demand(person: Person, roles: Sequence[Role] | Sequence[str], what: str) -> None:
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
    people = [p for p in everyone(connection) if p.role == "annotator"]
    for_all = sa.or_(item.c.attention, item.c.gold.is_not(None))
    rows = connection.execute(
        sa.select(item.c.id, item.c.position, for_all).order_by(item.c.position, item.c.id)
    )
    places = {row[0]: (row[1], bool(row[2])) for row in rows}
    holdings_query = sa.select(
        assignment.c.item, assignment.c.person, assignment.c.status, assignment.c.shown
    )
    holdings = {
        (r.item, r.person): r.status == "open" and r.shown is None
        for r in connection.execute(holdings_query)
    }
    shared = [i for i, (_, for_all) in places.items() if not for_all]
    mine = {pair: free for pair, free in holdings.items() if not places[pair[0]][1]}
    add, remove = deal(shared, [p.id for p in people], task.per_item, mine, seed)
    add += [
        (i, p.id)
        for i, (_, for_all) in places.items()
        if for_all
        for p in people
        if (i, p.id) not in holdings
    ]
    for i, p in remove:
        connection.execute(
            assignment.delete().where(assignment.c.item == i, assignment.c.person == p)
        )
    names = {p.id: p.name for p in people}
    rows_to_add = [
        {
            "item": i,
            "person": p,
            "position": _place(task, places[i][0], i, names[p], seed),
            "status": "open",
        }
        for i, p in add
    ]
    if rows_to_add:
        connection.execute(assignment.insert(), rows_to_add)


def _place(task: Task, position: float, on: str, name: str, seed: int) -> float:
    """The position of an item in a person's queue; in random order, each annotator has an order of
    their own.
    """
    from claimlab.core.stats.streams import share_of

    return share_of(seed, "order", name, on) if task.order == "random" else position


def above(person: Person) -> bool:
    return person.role in ABOVE


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
