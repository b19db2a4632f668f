"""The statements by which a person at work on a review reads and writes the store. They are built
once: building them takes longer than running them, and these run at every save.
"""

from __future__ import annotations

from typing import Any

from claimlab.review.store import assignment, decision, item, sa

# What comes first: what was sent back, what is new, what is to be voted on again, and what was
# skipped.
FIRST = sa.case({"returned": 0, "open": 1, "done": 2, "skipped": 3}, value=assignment.c.status)
# of whom and of which item a statement is
WHO, ITEM = sa.bindparam("who", type_=sa.Integer), sa.bindparam("on", type_=sa.String)
OWN = assignment.c.person == WHO
ASSIGNED = sa.and_(OWN, assignment.c.item == ITEM)
CLAIM = assignment.update().where(ASSIGNED).values(shown=sa.bindparam("at"))
ROW = item.select().where(item.c.id == ITEM)
PLACE = assignment.select().where(ASSIGNED)
LAST_MOVED = (
    sa.select(assignment.c.item)
    .where(OWN, assignment.c.moved.is_not(None))
    .order_by(assignment.c.moved.desc(), assignment.c.item)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_POSITION = sa.bindparam("position", type_=sa.Float)
_EARLIER = sa.or_(
    assignment.c.position < _POSITION,
    sa.and_(assignment.c.position == _POSITION, assignment.c.item < ITEM),
)
# Writers of SQLite wait for each other, so one look finds all that a save must know.
LOCKED = ROW.with_for_update()
VALID = sa.and_(decision.c.item == ITEM, decision.c.superseded == sa.false())
DECISIONS = decision.select().where(
    sa.or_(decision.c.key == sa.bindparam("name", type_=sa.String), VALID)
)
MOVE = (
    assignment.update().where(ASSIGNED).values(status=sa.bindparam("to"), moved=sa.bindparam("at"))
)
SAVE = decision.insert()


def _upcoming() -> sa.Select[Any]:
    of_item = sa.and_(decision.c.item == assignment.c.item, decision.c.superseded == sa.false())
    voted = sa.exists().where(of_item, decision.c.person == WHO, decision.c.round == "second")
    settled = sa.exists().where(of_item, decision.c.round == "final")
    again = sa.and_(assignment.c.status == "done", item.c.revealed.is_not(None), ~voted, ~settled)
    waits = sa.or_(assignment.c.status.in_(["returned", "open", "skipped"]), again)
    skipped = sa.case((assignment.c.status == "skipped", assignment.c.moved), else_=None)
    return (
        sa.select(assignment.c.item, assignment.c.shown)
        .join(item, item.c.id == assignment.c.item)
        .where(OWN, waits)
        .order_by(FIRST, skipped, assignment.c.position, assignment.c.item)
        .limit(1)
    )


NEXT = _upcoming()


def _count(*conditions: Any) -> Any:
    return sa.func.count(sa.case((sa.and_(*conditions), 1)))


COUNTS = (
    sa.select(sa.func.count(), _count(assignment.c.status == "done"))
    .select_from(assignment)
    .where(OWN)
)
NUMBER = sa.select(_count(_EARLIER), sa.func.count()).select_from(assignment).where(OWN)
