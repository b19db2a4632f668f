"""What a person sees (the next item, or one to go back to) and does: decide, skip, undo, send back,
each in one transaction and as one line of the history. Where annotators differ, a third person
decides, or they see each other's votes and vote again.

A decision has a key that the client made. Saving it again, as after a lost connection, is the same
decision. A new decision of the same person on the same item takes the place of the old one, which
stays in the history.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from claimlab.core.errors import NotAllowed, NotFound, UsageError
from claimlab.core.types import JsonObject
from claimlab.review.people import demand, log, now
from claimlab.review.shapes import (
    ABOVE,
    Answer,
    Decision,
    Item,
    Payload,
    Person,
    Round,
    Standing,
    Vote,
)
from claimlab.review.status import Votes, ballots, outcome, outcomes, rows_of
from claimlab.review.store import StoredRow, assignment, decision, event, item, sa
from claimlab.review.task import LONGEST, Blind, Task

# What comes first: what was sent back, what is new, what is to be voted on again, and what was
# skipped.
_FIRST = sa.case({"returned": 0, "open": 1, "done": 2, "skipped": 3}, value=assignment.c.status)
# Statements are built once: building them takes longer than running them, and these run at every
# save.
_WHO, _ITEM = sa.bindparam("who", type_=sa.Integer), sa.bindparam("on", type_=sa.String)
_MINE = assignment.c.person == _WHO


def _upcoming() -> sa.Select[Any]:
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
# What gives the label of a record away: where it comes from often does.
_GIVE_LABEL = ("label", "other_label", "reason", "about", "other_about", "cluster")
_NEXT = _upcoming()
_ASSIGNED = sa.and_(_MINE, assignment.c.item == _ITEM)
_CLAIM = assignment.update().where(_ASSIGNED).values(shown=sa.bindparam("at"))
_ROW = item.select().where(item.c.id == _ITEM)
_PLACE = assignment.select().where(_ASSIGNED)
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


def whole(connection: sa.Connection, task: Task, who: Person) -> list[Item]:
    """All items of a person in the order of their queue."""
    mine = assignment.select().where(assignment.c.person == who.id)
    places = connection.execute(mine.order_by(assignment.c.position, assignment.c.item)).all()
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


UNDONE = ("decide", "skip")  # what undo takes back
# Writers of SQLite wait for each other, so one look finds all that a save must know.
_LOCKED = _ROW.with_for_update()
_VALID = sa.and_(decision.c.item == _ITEM, decision.c.superseded == sa.false())
_DECISIONS = decision.select().where(
    sa.or_(decision.c.key == sa.bindparam("name", type_=sa.String), _VALID)
)
_MOVE = (
    assignment.update().where(_ASSIGNED).values(status=sa.bindparam("to"), moved=sa.bindparam("at"))
)
_SAVE = decision.insert()


def save(
    connection: sa.Connection,
    task: Task,
    who: Person,
    item_id: str,
    answer: Answer,
    round: Round,
    place: StoredRow | None = None,
    row: StoredRow | None = None,
) -> Decision:
    """Store a decision in `round`; the assignment, if there is one, is done. `row` is the item
    where it is locked, and `place` its assignment where it is known."""
    new = Decision(
        key=check_key(answer.key),
        item=item_id,
        person=who.id,
        round=round,
        value=answer.value,
        comment=check_comment(answer.comment),
        seconds=_check_seconds(answer.seconds),
        at=now(),
    )
    row = row or _locked(connection, item_id)
    known = connection.execute(_DECISIONS, {"name": new.key, "on": item_id}).all()
    for before in known:
        if before.key == new.key:
            return _again(before, new)
    if round != "final" and any(d.round == "final" for d in known):
        raise _settled(item_id)
    new = new.model_copy(update={"value": task.check(answer.value, row.payload.get("text"))})
    replaced = [
        d.key for d in known if d.round == round and (round == "final" or d.person == who.id)
    ]
    if replaced:
        _supersede(connection, decision.c.key.in_(replaced))
    connection.execute(_SAVE, new.model_dump())
    status = _move(connection, who, item_id, "done", place) if round == "first" else None
    detail = {"key": new.key, "round": round, "before": status, "replaces": replaced}
    log(connection, who.id, "decide", item_id, **detail)
    return new


def _again(before: StoredRow, new: Decision) -> Decision:
    """The decision that was saved already under the key of a new one."""
    if (before.person, before.item) != (new.person, new.item):
        raise NotAllowed(
            "This key belongs to another decision.", "Make a new uuid for every decision."
        )
    return Decision.model_validate(before._mapping)


def _supersede(
    connection: sa.Connection, which: sa.ColumnElement[bool], valid: bool = False
) -> None:
    """Let decisions no longer count; with `valid`, let them count again."""
    connection.execute(decision.update().where(which).values(superseded=not valid))


def vote(
    connection: sa.Connection,
    task: Task,
    who: Person,
    item_id: str,
    answer: Answer,
    wanted: Callable[[], int],
) -> Decision:
    """An annotator's decision: the first vote, or the second once the votes were revealed. `wanted`
    is how many annotators an item is for: counted only where votes are revealed when all are in."""
    row = _locked(connection, item_id)
    place = connection.execute(_PLACE, {"who": who.id, "on": item_id}).first()
    if place is None and not who.model:
        raise _not_assigned(who, item_id)
    again = row.revealed is not None and place is not None and place.status == "done"
    round: Round = "second" if again else "first"
    ballot = save(connection, task, who, item_id, answer, round, place, row)
    checks_annotators = row.gold is not None or row.attention
    if task.adjudication == "discussion" and ballot.round == "first" and not checks_annotators:
        votes = ballots(connection, [item_id])[item_id]
        if outcome(task, votes, wanted()).how == "disputed":
            _reveal(connection, item_id, None)
    return ballot


def _reveal(connection: sa.Connection, item_id: str, who: Person | None) -> None:
    connection.execute(item.update().where(item.c.id == item_id).values(revealed=now()))
    log(connection, None if who is None else who.id, "reveal", item_id)


def _locked(connection: sa.Connection, item_id: str) -> StoredRow:
    """The row of an item, locked for other decisions until the transaction ends."""
    row = connection.execute(_LOCKED, {"on": item_id}).first()
    return row or row_of(connection, item_id)


def skip(connection: sa.Connection, who: Person, item_id: str) -> None:
    row_of(connection, item_id)
    before = _move(connection, who, item_id, "skipped")
    if before == "done":
        raise NotAllowed(f"Item {item_id} is decided.", "Undo the decision, or decide it again.")
    log(connection, who.id, "skip", item_id, before=before)


def undo(connection: sa.Connection, who: Person) -> str:
    """Take back the last decision or skip of a person; the item that it was about. Again, the one
    before.
    """
    reverted: set[int] = set()
    mine = sa.select(event).where(event.c.person == who.id, event.c.kind.in_([*UNDONE, "undo"]))
    for row in connection.execute(mine.order_by(event.c.id.desc())):
        if row.kind == "undo":
            reverted.add(row.detail["event"])
        elif row.id not in reverted and _valid(connection, row):
            _take_back(connection, who, row)
            log(connection, who.id, "undo", row.item, event=row.id)
            return str(row.item)
    raise NotFound("There is nothing to undo.", "Decide or skip an item first.")


def _valid(connection: sa.Connection, row: StoredRow) -> bool:
    """Whether the effect of an event still holds: its decision may have been replaced or
    withdrawn.
    """
    if row.kind != "decide":
        return True
    stored = connection.execute(
        sa.select(decision.c.superseded).where(decision.c.key == row.detail["key"])
    ).first()
    return stored is not None and not stored.superseded


def _take_back(connection: sa.Connection, who: Person, row: StoredRow) -> None:
    detail = row.detail
    if row.kind == "decide":
        if detail["round"] == "first" and row_of(connection, row.item).revealed is not None:
            raise NotAllowed(
                f"The votes on item {row.item} were revealed.",
                "Vote again: that replaces your vote.",
            )
        if detail["round"] != "final" and _final(connection, row.item):
            raise _settled(row.item)
        _supersede(connection, decision.c.key == detail["key"])
        _supersede(connection, decision.c.key.in_(detail["replaces"]), valid=True)
    if detail.get("before") is not None:
        _move(connection, who, row.item, detail["before"])


def send_back(connection: sa.Connection, owner: Person, item_id: str, to: Person, why: str) -> None:
    """Return an item to an annotator for correction. Their decision counts until they make another;
    a final decision on the item no longer does."""
    demand(owner, ("owner", "adjudicator"), "send items back")
    row_of(connection, item_id)
    reason = check_comment(why)
    if reason is None:
        raise UsageError("The item is sent back without a reason.", "Pass `why`.")
    keys = _final(connection, item_id)
    _supersede(connection, decision.c.key.in_(keys))
    _move(connection, to, item_id, "returned")
    log(connection, owner.id, "return", item_id, to=to.id, why=reason, withdraws=keys)


def _final(connection: sa.Connection, item_id: str) -> list[str]:
    """The keys of the valid final decisions on an item: one, or none."""
    final = sa.select(decision.c.key).where(_VALID, decision.c.round == "final")
    return list(connection.execute(final, {"on": item_id}).scalars())


def _settled(item_id: str) -> NotAllowed:
    return NotAllowed(f"Item {item_id} has a final decision.", "Ask an owner to send it back.")


def _not_assigned(who: Person, item_id: str) -> NotAllowed:
    return NotAllowed(
        f"Item {item_id} is not assigned to '{who.name}'.", "Take the next item of the queue."
    )


def check_key(key: str) -> str:
    """The canonical form of the uuid that names a decision."""
    try:
        return str(uuid.UUID(str(key)))
    except ValueError:
        raise UsageError(
            f"{key!r:.60} is not a uuid.", "Make one for every decision, such as uuid.uuid4()."
        ) from None


def check_comment(comment: str | None) -> str | None:
    if comment is None or not comment.strip():
        return None
    if len(comment) > LONGEST:
        raise UsageError(
            f"The comment has {len(comment):,} characters.", f"Write at most {LONGEST:,}."
        )
    return comment.strip()


def _check_seconds(seconds: float | None) -> float | None:
    return None if seconds is None or not 0 <= seconds < 1e6 else float(seconds)


def _move(
    connection: sa.Connection,
    who: Person,
    item_id: str,
    status: str,
    place: StoredRow | None = None,
) -> str | None:
    """Give an assignment another status; the one before, or null where there is no assignment."""
    mine = {"who": who.id, "on": item_id}
    row = place or connection.execute(_PLACE, mine).first()
    if row is None:
        if who.model:
            return None
        raise _not_assigned(who, item_id)
    connection.execute(_MOVE, {**mine, "to": status, "at": None if status == "open" else now()})
    before: str = row.status
    return before


SEES_ALL = Person(id=0, name="-", role="owner")


def disputed(connection: sa.Connection, task: Task, wanted: int, who: Person | None) -> list[Item]:
    """The undecided items on which annotators differ, with their votes; for `who` without those
    that they voted on.
    """
    if who is not None:
        demand(who, ABOVE, "see the votes of others")
    viewer = who or SEES_ALL
    torn = {
        i: votes
        for i, (votes, outcome) in outcomes(connection, task, wanted).items()
        if outcome.how == "disputed" and not votes.of(viewer.id)
    }
    rows = rows_of(connection, torn)
    return [shown(connection, task, rows[i], None, votes, viewer) for i, votes in torn.items()]


def reveal(connection: sa.Connection, item_id: str, who: Person | None) -> None:
    """Show those who voted on an item what the others said, so that they vote again."""
    if who is not None:
        demand(who, ABOVE, "reveal votes")
    row_of(connection, item_id)
    votes = ballots(connection, [item_id])[item_id]
    waiting = sa.select(assignment.c.item).where(
        assignment.c.item == item_id, assignment.c.status != "done"
    )
    if len(votes.people()) < 2 or connection.execute(waiting).first():
        raise NotAllowed(
            f"Not every annotator has voted on item {item_id}.", "Reveal the votes when all are in."
        )
    _reveal(connection, item_id, who)


def adjudicate(
    connection: sa.Connection, task: Task, who: Person, item_id: str, answer: Answer
) -> Decision:
    """The final decision, by a person who did not vote on the item."""
    demand(who, ABOVE, "adjudicate")
    if ballots(connection, [item_id])[item_id].of(who.id):
        raise NotAllowed(f"'{who.name}' voted on item {item_id}.", "A third person decides.")
    return save(connection, task, who, item_id, answer, "final")
