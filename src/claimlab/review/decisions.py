"""What a person sees (the next item, or one to go back to) and does: decide, skip, undo, send back,
each in one transaction and as one line of the history. Where annotators differ, a third person
decides, or they see each other's votes and vote again.

A decision has a key that the client made. Saving it again, as after a lost connection, is the same
decision. A new decision of the same person on the same item takes the place of the old one, which
stays in the history.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from claimlab.core.errors import NotAllowed, NotFound, UsageError
from claimlab.core.types import JsonObject
from claimlab.review.people import demand, log, now
from claimlab.review.shapes import (
    ABOVE,
    Decision,
    GivenAnswer,
    Item,
    Payload,
    Person,
    QueueProgress,
    Round,
    Turn,
    Vote,
)
from claimlab.review.statements import (
    CLAIM,
    COUNTS,
    DECISIONS,
    LAST_MOVED,
    LOCKED,
    MOVE,
    NEXT,
    NUMBER,
    PLACE,
    ROW,
    SAVE,
    VALID,
)
from claimlab.review.store import Connection, StoredRow, assignment, decision, event, item, sa
from claimlab.review.task import NOTE_CHARACTERS, Blind, ReviewTask
from claimlab.review.votes import Votes, ballots, outcome, outcomes, rows_of, wanted_by

NOTHING_HIDDEN = Blind(label=False, model=False, others=False)
NO_PERSON = Person(id=0, name="-", role="annotator")
SEES_ALL = Person(id=0, name="-", role="owner")
# What gives the label of a record away: where it comes from often does.
_GIVE_LABEL = ("label", "other_label", "reason", "about", "other_about", "cluster")
ITEMS_TO_GO_BACK_TO = 100
UNDONE = ("decide", "skip")  # what undo takes back


@dataclass(frozen=True)
class Desk:
    """A person at work on a review, within one transaction."""

    connection: Connection
    task: ReviewTask
    who: Person

    def next_item(self) -> tuple[str, bool] | None:
        """The next item of their queue, and whether it is new to them; null when nothing is left.
        Skipped items come back when everything else is done, the earliest first."""
        row = self.connection.execute(NEXT, {"who": self.who.id}).first()
        return None if row is None else (row.item, row.shown is None)

    def claim(self, item_id: str) -> bool:
        """Record that an item was shown to them and stays theirs; false if it was assigned to
        others meanwhile.
        """
        shown = {**self._at(item_id), "at": now()}
        return bool(self.connection.execute(CLAIM, shown).rowcount)

    def _at(self, item_id: str) -> JsonObject:
        return {"who": self.who.id, "on": item_id}

    def _place(self, item_id: str) -> StoredRow | None:
        """The assignment of an item to them; null where there is none."""
        return self.connection.execute(PLACE, self._at(item_id)).first()

    def _row(self, item_id: str) -> StoredRow:
        row = self.connection.execute(ROW, {"on": item_id}).first()
        if row is None:
            raise NotFound(f"There is no item '{item_id:.40}' in this review.", "Check the number.")
        return row

    def _votes(self, item_id: str) -> Votes:
        return ballots(self.connection, [item_id])[item_id]

    # What they see

    def view(self, item_id: str) -> Item:
        """An item as they may see it: annotators see their own items, adjudicators and owners all
        of them.
        """
        row, place = self._row(item_id), self._place(item_id)
        if place is None and not self.who.above:
            raise NotAllowed(
                f"Item {item_id} is not assigned to '{self.who.name}'.",
                "Ask an owner of the review.",
            )
        return self._shown(row, place, self._votes(item_id))

    def _shown(self, row: StoredRow, place: StoredRow | None, votes: Votes) -> Item:
        """An item as they see it; `place` is its assignment to them, null where there is none."""
        blind = NOTHING_HIDDEN if self.who.above else self.task.blind
        hidden = [*_GIVE_LABEL] if blind.label else []
        hidden += ["model"] if blind.model else []
        # An id can give the label away ("fake/17"): it is hidden with the label.
        ids = {} if blind.label else {"record_id": row.record_id, "other_id": row.other_id}
        second = row.revealed is not None and place is not None and place.status == "done"
        return Item(
            id=row.id,
            payload=Payload.model_validate(row.payload).model_copy(update=dict.fromkeys(hidden)),
            round="second" if second else "first",
            votes=() if blind.others and not second else self._visible(votes, not blind.others),
            final=votes.final[0].value if votes.final else None,
            **ids,
            **self._own(votes),
            **({} if place is None else self._assigned(place)),
        )

    def _own(self, votes: Votes) -> JsonObject:
        """What they said so far."""
        own = [ballot for ballot in (*votes.first, *votes.second) if ballot.person == self.who.id]
        return {"value": own[-1].value, "comment": own[-1].comment} if own else {}

    def _assigned(self, place: StoredRow) -> JsonObject:
        """The place of an item in its person's queue, how long that is, and why it was sent
        back.
        """
        at = {"who": place.person, "position": place.position, "on": place.item}
        before, total = self.connection.execute(NUMBER, at).one()
        why = self._why(place) if place.status == "returned" else None
        return {"number": before + 1, "total": total, "status": place.status, "returned": why}

    def _why(self, place: StoredRow) -> str | None:
        """Why an item was last sent back to its person."""
        sent = sa.select(event.c.detail).where(event.c.item == place.item, event.c.kind == "return")
        details = self.connection.execute(sent.order_by(event.c.id.desc())).scalars()
        return next((detail["why"] for detail in details if detail.get("to") == place.person), None)

    def _visible(self, votes: Votes, names: bool) -> tuple[Vote, ...]:
        """The votes on an item; annotators see others' without their names, but a model is always
        marked.
        """
        every = [b for b in votes.every() if names or b.person != self.who.id]
        numbers = {p: n for n, p in enumerate(dict.fromkeys(b.person for b in every), 1)}
        return tuple(
            b.shown(None if names else f"{'Model' if b.model else 'Annotator'} {numbers[b.person]}")
            for b in every
        )

    def turn(self, item_id: str | None) -> Turn:
        """An item, and how far they are, from their own lines alone: it is asked for after every
        save.
        """
        item = None if item_id is None else self.view(item_id)
        total, decided = self.connection.execute(COUNTS, {"who": self.who.id}).one()
        most = {"who": self.who.id, "most": ITEMS_TO_GO_BACK_TO}
        newest = tuple(self.connection.execute(LAST_MOVED, most).scalars())
        return Turn(item=item, standing=QueueProgress(done=decided, total=total, earlier=newest))

    def whole(self) -> list[Item]:
        """All their items in the order of their queue."""
        assigned = assignment.select().where(assignment.c.person == self.who.id)
        ordered = assigned.order_by(assignment.c.position, assignment.c.item)
        places = self.connection.execute(ordered).all()
        ids = [place.item for place in places]
        rows, votes = rows_of(self.connection, ids), ballots(self.connection, ids)
        return [self._shown(rows[place.item], place, votes[place.item]) for place in places]

    def every(self) -> list[Item]:
        """All items as they would see them who have decided nothing."""
        rows = self.connection.execute(item.select().order_by(item.c.position, item.c.id)).all()
        return [self._shown(row, None, Votes()) for row in rows]

    def disputed(self) -> list[Item]:
        """The undecided items on which annotators differ, with their votes, without those that
        they voted on.
        """
        demand(self.who, ABOVE, "see the votes of others")
        torn = {
            i: votes
            for i, (votes, outcome) in outcomes(self.connection, self.task).items()
            if outcome.how == "disputed" and not votes.of(self.who.id)
        }
        rows = rows_of(self.connection, torn)
        return [self._shown(rows[i], None, votes) for i, votes in torn.items()]

    # What they do

    def _save(
        self,
        item_id: str,
        answer: GivenAnswer,
        round: Round,
        place: StoredRow | None = None,
        row: StoredRow | None = None,
    ) -> Decision:
        """Store a decision in `round`; the assignment, if there is one, is done. `row` is the item
        where it is locked, and `place` its assignment where it is known."""
        new = Decision(
            key=check_key(answer.key),
            item=item_id,
            person=self.who.id,
            round=round,
            value=answer.value,
            comment=check_comment(answer.comment),
            seconds=_check_seconds(answer.seconds),
            at=now(),
        )
        row = row or self._locked(item_id)
        earlier = self.connection.execute(DECISIONS, {"name": new.key, "on": item_id}).all()
        for before in earlier:
            if before.key == new.key:
                return _again(before, new)
        if round != "final" and any(d.round == "final" for d in earlier):
            raise _settled(item_id)
        value = self.task.check(answer.value, row.payload.get("text"))
        new = new.model_copy(update={"value": value})
        same = [d for d in earlier if d.round == round]
        replaced = [d.key for d in same if round == "final" or d.person == self.who.id]
        if replaced:
            self._supersede(decision.c.key.in_(replaced))
        self.connection.execute(SAVE, new.model_dump())
        status = self._move(item_id, "done", place) if round == "first" else None
        detail = {"key": new.key, "round": round, "before": status, "replaces": replaced}
        log(self.connection, self.who.id, "decide", item_id, **detail)
        return new

    def _supersede(self, which: sa.ColumnElement[bool], valid: bool = False) -> None:
        """Let decisions no longer count; with `valid`, let them count again."""
        self.connection.execute(decision.update().where(which).values(superseded=not valid))

    def vote(self, item_id: str, answer: GivenAnswer) -> Decision:
        """An annotator's decision: the first vote, or the second once the votes were revealed."""
        row, place = self._locked(item_id), self._place(item_id)
        if place is None and not self.who.model:
            raise self._not_assigned(item_id)
        again = row.revealed is not None and place is not None and place.status == "done"
        ballot = self._save(item_id, answer, "second" if again else "first", place, row)
        checks_annotators = row.gold is not None or row.attention
        discussed = self.task.adjudication == "discussion" and not checks_annotators
        if discussed and ballot.round == "first":
            wanted = wanted_by(self.connection, self.task)
            if outcome(self.task, self._votes(item_id), wanted).how == "disputed":
                self._reveal(item_id, None)
        return ballot

    def _reveal(self, item_id: str, by: int | None) -> None:
        self.connection.execute(item.update().where(item.c.id == item_id).values(revealed=now()))
        log(self.connection, by, "reveal", item_id)

    def _locked(self, item_id: str) -> StoredRow:
        """The row of an item, locked for other decisions until the transaction ends."""
        row = self.connection.execute(LOCKED, {"on": item_id}).first()
        return row or self._row(item_id)

    def skip(self, item_id: str) -> None:
        self._row(item_id)
        before = self._move(item_id, "skipped")
        if before == "done":
            raise NotAllowed(
                f"Item {item_id} is decided.", "Undo the decision, or decide it again."
            )
        log(self.connection, self.who.id, "skip", item_id, before=before)

    def undo(self) -> str:
        """Take back their last decision or skip; the item that it was about. Again, the one
        before.
        """
        reverted: set[int] = set()
        of_person = event.c.person == self.who.id, event.c.kind.in_([*UNDONE, "undo"])
        for row in self.connection.execute(
            sa.select(event).where(*of_person).order_by(event.c.id.desc())
        ):
            if row.kind == "undo":
                reverted.add(row.detail["event"])
            elif row.id not in reverted and self._valid(row):
                self._take_back(row)
                log(self.connection, self.who.id, "undo", row.item, event=row.id)
                return str(row.item)
        raise NotFound("There is nothing to undo.", "Decide or skip an item first.")

    def _valid(self, row: StoredRow) -> bool:
        """Whether the effect of an event still holds: its decision may have been replaced or
        withdrawn.
        """
        if row.kind != "decide":
            return True
        superseded = sa.select(decision.c.superseded).where(decision.c.key == row.detail["key"])
        stored = self.connection.execute(superseded).first()
        return stored is not None and not stored.superseded

    def _take_back(self, row: StoredRow) -> None:
        detail = row.detail
        if row.kind == "decide":
            if detail["round"] == "first" and self._row(row.item).revealed is not None:
                raise NotAllowed(
                    f"The votes on item {row.item} were revealed.",
                    "Vote again: that replaces your vote.",
                )
            if detail["round"] != "final" and self._final(row.item):
                raise _settled(row.item)
            self._supersede(decision.c.key == detail["key"])
            self._supersede(decision.c.key.in_(detail["replaces"]), valid=True)
        if detail.get("before") is not None:
            self._move(row.item, detail["before"])

    def send_back(self, item_id: str, to: Person, why: str) -> None:
        """Return an item to an annotator for correction. Their decision counts until they make
        another; a final decision on the item no longer does."""
        demand(self.who, ("owner", "adjudicator"), "send items back")
        self._row(item_id)
        reason = check_comment(why)
        if reason is None:
            raise UsageError("The item is sent back without a reason.", "Pass `why`.")
        keys = self._final(item_id)
        self._supersede(decision.c.key.in_(keys))
        replace(self, who=to)._move(item_id, "returned")
        more = {"to": to.id, "why": reason, "withdraws": keys}
        log(self.connection, self.who.id, "return", item_id, **more)

    def _final(self, item_id: str) -> list[str]:
        """The keys of the valid final decisions on an item: one, or none."""
        final = sa.select(decision.c.key).where(VALID, decision.c.round == "final")
        return list(self.connection.execute(final, {"on": item_id}).scalars())

    def _move(self, item_id: str, status: str, place: StoredRow | None = None) -> str | None:
        """Give an assignment another status; the one before, or null where there is no
        assignment.
        """
        row = place or self._place(item_id)
        if row is None:
            if self.who.model:
                return None
            raise self._not_assigned(item_id)
        moved = {"to": status, "at": None if status == "open" else now()}
        self.connection.execute(MOVE, self._at(item_id) | moved)
        before: str = row.status
        return before

    def _not_assigned(self, item_id: str) -> NotAllowed:
        return NotAllowed(
            f"Item {item_id} is not assigned to '{self.who.name}'.",
            "Take the next item of the queue.",
        )

    def reveal(self, item_id: str) -> None:
        """Show those who voted on an item what the others said, so that they vote again."""
        demand(self.who, ABOVE, "reveal votes")
        self._row(item_id)
        waiting = sa.select(assignment.c.item).where(
            assignment.c.item == item_id, assignment.c.status != "done"
        )
        few = len(self._votes(item_id).people()) < 2
        if few or self.connection.execute(waiting).first():
            raise NotAllowed(
                f"Not every annotator has voted on item {item_id}.",
                "Reveal the votes when all are in.",
            )
        self._reveal(item_id, self.who.id or None)

    def adjudicate(self, item_id: str, answer: GivenAnswer) -> Decision:
        """The final decision, by a person who did not vote on the item."""
        demand(self.who, ABOVE, "adjudicate")
        if self._votes(item_id).of(self.who.id):
            raise NotAllowed(
                f"'{self.who.name}' voted on item {item_id}.", "A third person decides."
            )
        return self._save(item_id, answer, "final")


def _again(before: StoredRow, new: Decision) -> Decision:
    """The decision that was saved already under the key of a new one."""
    if (before.person, before.item) != (new.person, new.item):
        raise NotAllowed(
            "This key belongs to another decision.", "Make a new uuid for every decision."
        )
    return Decision.model_validate(before._mapping)


def _settled(item_id: str) -> NotAllowed:
    return NotAllowed(f"Item {item_id} has a final decision.", "Ask an owner to send it back.")


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
    if len(comment) > NOTE_CHARACTERS:
        raise UsageError(
            f"The comment has {len(comment):,} characters.", f"Write at most {NOTE_CHARACTERS:,}."
        )
    return comment.strip()


def _check_seconds(seconds: float | None) -> float | None:
    return None if seconds is None or not 0 <= seconds < 1e6 else float(seconds)
