"""What a person sees: the next item, an item to go back to, and what they did."""

from __future__ import annotations

from typing import Any

from claimlab.core.errors import NotAllowed, NotFound
from claimlab.review.people import above, now
from claimlab.review.shapes import Item, Payload, Person, Standing, Vote
from claimlab.review.tables import assignment, decision, event, item, sa
from claimlab.review.task import Task
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
    if place is None and not above(who):
        raise NotAllowed(
            f"Item {item_id} is not assigned to '{who.name}'.", "Ask an owner of the review."
        )
    return shown(
        connection, task, row, place, ballots(connection, [item_id]).get(item_id, Votes()), who
    )


def row_of(connection: sa.Connection, item_id: str) -> Any:
    row = connection.execute(_ROW, {"on": item_id}).first()
    if row is None:
        raise NotFound(f"There is no item '{item_id:.40}' in this review.", "Check the number.")
    return row


def shown(
    connection: sa.Connection, task: Task, row: Any, place: Any, votes: Votes, who: Person
) -> Item:
    hidden = task.blind if not above(who) else None
    payload = Payload.model_validate(row.payload)
    if hidden is not None and hidden.label:
        payload = payload.model_copy(update={"label": None, "other_label": None, "reason": None})
    if hidden is not None and hidden.model:
        payload = payload.model_copy(update={"model": None})
    own = next((b for b in reversed([*votes.first, *votes.second]) if b.person == who.id), None)
    second = row.revealed is not None and place is not None and place.status == "done"
    number, total = (None, None) if place is None else _place(connection, place)
    open_names = above(who) or not task.blind.others
    return Item(
        id=row.id,
        # An id can give the label away ("fake/17"): it is hidden with the label.
        record_id=None if hidden is not None and hidden.label else row.record_id,
        other_id=None if hidden is not None and hidden.label else row.other_id,
        payload=payload,
        number=number,
        total=total,
        status="open" if place is None else place.status,
        round="second" if second else "first",
        value=None if own is None else own.value,
        comment=None if own is None else own.comment,
        returned=(
            _why(connection, row.id, who)
            if place is not None and place.status == "returned"
            else None
        ),
        votes=visible(votes, who, open_names) if above(who) or second or open_names else (),
        final=votes.final[0].value if votes.final else None,
    )


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
    rows = connection.execute(
        assignment.select()
        .where(assignment.c.person == who.id, assignment.c.moved.is_not(None))
        .order_by(assignment.c.moved.desc(), assignment.c.item)
    ).all()
    ids = [r.item for r in rows]
    rows_by_id, votes = rows_of(connection, ids), ballots(connection, ids)
    return [
        shown(connection, task, rows_by_id[r.item], r, votes.get(r.item, Votes()), who)
        for r in rows
    ]


def whole(connection: sa.Connection, task: Task, who: Person) -> list[Item]:
    """All items of a person in the order of their queue."""
    query = assignment.select().where(assignment.c.person == who.id)
    rows = connection.execute(query.order_by(assignment.c.position, assignment.c.item)).all()
    ids = [r.item for r in rows]
    rows_by_id, votes = rows_of(connection, ids), ballots(connection, ids)
    return [
        shown(connection, task, rows_by_id[r.item], r, votes.get(r.item, Votes()), who)
        for r in rows
    ]


def every(connection: sa.Connection, task: Task) -> list[Item]:
    """All items as an annotator sees them who has decided nothing."""
    no_person = Person(id=0, name="-", role="annotator")
    rows = connection.execute(item.select().order_by(item.c.position, item.c.id)).all()
    return [shown(connection, task, row, None, Votes(), no_person) for row in rows]


def _place(connection: sa.Connection, place: Any) -> tuple[int, int]:
    """The place of an assignment in its person's queue, and how long that is."""
    at = {"who": place.person, "position": place.position, "on": place.item}
    before, total = connection.execute(_NUMBER, at).one()
    return before + 1, total


def _why(connection: sa.Connection, item_id: str, who: Person) -> str | None:
    """Why an item was last sent back to a person."""
    rows = connection.execute(
        sa.select(event.c.detail)
        .where(event.c.item == item_id, event.c.kind == "return")
        .order_by(event.c.id.desc())
    )
    return next((r.detail["why"] for r in rows if r.detail.get("to") == who.id), None)
