"""What a person sees: the next item, an item to go back to, and what they did."""

from __future__ import annotations

from typing import Any

from claimlab.core.errors import NotAllowed, NotFound
from claimlab.core.types import JsonObject
from claimlab.review.people import now
from claimlab.review.shapes import Item, Payload, Person, Standing, Vote
from claimlab.review.store import StoredRow, assignment, decision, event, item, sa
from claimlab.review.task import Blind, Task
from claimlab.review.votes import Votes, ballots, rows_of

# What comes first: what was sent back, what is new, what is to be voted on again, and what was
# skipped.
_FIRST = sa.case({"returned": 0, "open": 1, "done": 2, "skipped": 3}, value=assignment.c.status)
# Statements are built once: building them takes longer than running them, and these run at every
# save.
_WHO, _ITEM = sa.bindparam("who", type_=sa.Integer), sa.bindparam("on", type_=sa.String)
_MINE = assignment.c.person == _WHO


def _next() -> sa.Select[Any]:
    of_item = sa.and_(decision.c.item == assignment.c.item, decision.c.superseded == sa.false())
    voted = sa.exists().where(of_item, decision.c.person == _WHO, decision.c.round == "second")
    settled = sa.exists().where(of_item, decision.c.round == "final")
    again = sa.and_(assignment.c.status == "done", item.c.revealed.is_not(None), ~voted, ~settled)
    waits = sa.or_(assignment.c.status.in_(["returned", "open", "skipped"]), again)
    skipped = sa.case((assignment.c.status == "skipped", assignment.c.moved), else_=None)
    return (
        sa.select(assignment.c.item, assignment.c.shown)
        .join(item, item.c.id == assignment.c.item)
        .where(_MINE, waits)
        .order_by(_FIRST, skipped, assignment.c.position, assignment.c.item)
        .limit(1)
    )


NOTHING_HIDDEN = Blind(label=False, model=False, others=False)
NO_PERSON = Person(id=0, name="-", role="annotator")
_GIVE_LABEL = ("label", "other_label", "reason")  # what gives the label of a record away
_NEXT = _next()
_CLAIM = (
    assignment.update().where(_MINE, assignment.c.item == _ITEM).values(shown=sa.bindparam("at"))
)
_ROW = item.select().where(item.c.id == _ITEM)
_PLACE = assignment.select().where(_MINE, assignment.c.item == _ITEM)
_LAST_MOVED = (
    sa.select(assignment.c.item)
    .where(_MINE, assignment.c.moved.is_not(None))
    .order_by(assignment.c.moved.desc(), assignment.c.item)
    .limit(sa.bindparam("most", type_=sa.Integer))
)


def _count(*conditions: Any) -> Any:
    return sa.func.count(sa.case((sa.and_(*conditions), 1)))


_COUNTS = (
    sa.select(sa.func.count(), _count(assignment.c.status == "done"))
    .select_from(assignment)
    .where(_MINE)
)
_POSITION = sa.bindparam("position", type_=sa.Float)
_EARLIER = sa.or_(
    assignment.c.position < _POSITION,
    sa.and_(assignment.c.position == _POSITION, assignment.c.item < _ITEM),
)
_NUMBER = sa.select(_count(_EARLIER), sa.func.count()).select_from(assignment).where(_MINE)


def next_item(connection: sa.Connection, who: Person) -> tuple[str, bool] | None:
    """The next item of a person's queue, and whether it is new to them; null when nothing is left.
    Skipped items come back when everything else is done, the earliest first."""
    row = connection.execute(_NEXT, {"who": who.id}).first()
    return None if row is None else (row.item, row.shown is None)


def claim(connection: sa.Connection, who: Person, item_id: str) -> bool:
    """Record that an item was shown to a person and stays theirs; false if it was assigned to
    others meanwhile.
    """
    return bool(connection.execute(_CLAIM, {"who": who.id, "on": item_id, "at": now()}).rowcount)


def view(connection: sa.Connection, task: Task, item_id: str, who: Person) -> Item:
    """An item as `who` may see it: annotators see their own items, adjudicators and owners all of
    them.
    """
    row = row_of(connection, item_id)
    place = connection.execute(_PLACE, {"who": who.id, "on": item_id}).first()
    if place is None and not who.above:
        raise NotAllowed(
            f"Item {item_id} is not assigned to '{who.name}'.", "Ask an owner of the review."
        )
    return shown(connection, task, row, place, ballots(connection, [item_id])[item_id], who)


def row_of(connection: sa.Connection, item_id: str) -> StoredRow:
    row = connection.execute(_ROW, {"on": item_id}).first()
    if row is None:
        raise NotFound(f"There is no item '{item_id:.40}' in this review.", "Check the number.")
    return row


def shown(
    connection: sa.Connection,
    task: Task,
    row: StoredRow,
    place: StoredRow | None,
    votes: Votes,
    who: Person,
) -> Item:
    """An item as `who` sees it; `place` is its assignment to them, null where there is none."""
    blind = NOTHING_HIDDEN if who.above else task.blind
    hidden = [*_GIVE_LABEL] if blind.label else []
    hidden += ["model"] if blind.model else []
    # An id can give the label away ("fake/17"): it is hidden with the label.
    ids = {} if blind.label else {"record_id": row.record_id, "other_id": row.other_id}
    second = row.revealed is not None and place is not None and place.status == "done"
    return Item(
        id=row.id,
        payload=Payload.model_validate(row.payload).model_copy(update=dict.fromkeys(hidden)),
        round="second" if second else "first",
        votes=() if blind.others and not second else visible(votes, who, not blind.others),
        final=votes.final[0].value if votes.final else None,
        **ids,
        **_own(votes, who),
        **({} if place is None else _assigned(connection, place)),
    )


def _own(votes: Votes, who: Person) -> JsonObject:
    """What a person said so far."""
    mine = [ballot for ballot in (*votes.first, *votes.second) if ballot.person == who.id]
    return {"value": mine[-1].value, "comment": mine[-1].comment} if mine else {}


def _assigned(connection: sa.Connection, place: StoredRow) -> JsonObject:
    """The place of an item in its person's queue, how long that is, and why it was sent back."""
    at = {"who": place.person, "position": place.position, "on": place.item}
    before, total = connection.execute(_NUMBER, at).one()
    why = _why(connection, place) if place.status == "returned" else None
    return {"number": before + 1, "total": total, "status": place.status, "returned": why}


def visible(votes: Votes, who: Person, names: bool) -> tuple[Vote, ...]:
    """The votes on an item; annotators see others' without their names, but a model is always
    marked.
    """
    every = [b for b in votes.every() if names or b.person != who.id]
    numbers = {p: n for n, p in enumerate(dict.fromkeys(b.person for b in every), 1)}
    return tuple(
        b.shown(None if names else f"{'Model' if b.model else 'Annotator'} {numbers[b.person]}")
        for b in every
    )


def standing(connection: sa.Connection, who: Person, most: int) -> Standing:
    """How far a person is, from their own lines alone: it is asked for after every save."""
    total, done = connection.execute(_COUNTS, {"who": who.id}).one()
    newest = connection.execute(_LAST_MOVED, {"who": who.id, "most": most}).scalars()
    return Standing(done=done, total=total, earlier=tuple(newest))


def history(connection: sa.Connection, task: Task, who: Person) -> list[Item]:
    """What a person decided or skipped, newest first."""
    moved = assignment.c.moved
    query = assignment.select().where(moved.is_not(None)).order_by(moved.desc())
    return _items(connection, task, who, query)


def whole(connection: sa.Connection, task: Task, who: Person) -> list[Item]:
    """All items of a person in the order of their queue."""
    return _items(connection, task, who, assignment.select().order_by(assignment.c.position))


def _items(connection: sa.Connection, task: Task, who: Person, query: sa.Select[Any]) -> list[Item]:
    """The items of a person's assignments, in the order of `query`."""
    mine = query.where(assignment.c.person == who.id).order_by(assignment.c.item)
    places = connection.execute(mine).all()
    ids = [place.item for place in places]
    rows, votes = rows_of(connection, ids), ballots(connection, ids)
    return [
        shown(connection, task, rows[place.item], place, votes[place.item], who) for place in places
    ]


def every(connection: sa.Connection, task: Task) -> list[Item]:
    """All items as an annotator sees them who has decided nothing."""
    rows = connection.execute(item.select().order_by(item.c.position, item.c.id)).all()
    return [shown(connection, task, row, None, Votes(), NO_PERSON) for row in rows]


def _why(connection: sa.Connection, place: StoredRow) -> str | None:
    """Why an item was last sent back to its person."""
    sent = sa.select(event.c.detail).where(event.c.item == place.item, event.c.kind == "return")
    details = connection.execute(sent.order_by(event.c.id.desc())).scalars()
    return next((one["why"] for one in details if one.get("to") == place.person), None)
