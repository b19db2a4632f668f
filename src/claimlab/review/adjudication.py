"""Where annotators differ: a third person decides, or they see each other's votes and vote
again.
"""

from __future__ import annotations

from claimlab.core.errors import NotAllowed
from claimlab.review.decisions import save
from claimlab.review.people import demand, log, now
from claimlab.review.queue import row_of, shown
from claimlab.review.shapes import ABOVE, Decision, Item, Person
from claimlab.review.tables import assignment, item, sa
from claimlab.review.task import Task
from claimlab.review.votes import Votes, ballots, outcomes, rows_of

SEES_ALL = Person(id=0, name="-", role="owner")


def disputed(connection: sa.Connection, task: Task, wanted: int, who: Person | None) -> list[Item]:
    """The undecided items on which annotators differ, with their votes; for `who` without those
    that they voted on.
    """
    if who is not None:
        demand(who, ABOVE, "see the votes of others")
    torn = {
        i: votes
        for i, (votes, outcome) in outcomes(connection, task, wanted).items()
        if outcome.how == "disputed"
    }
    rows = rows_of(connection, torn)
    own = {
        i
        for i, votes in torn.items()
        if who is not None and who.id in {b.person for b in votes.first}
    }
    viewer = who or SEES_ALL
    return [
        shown(connection, task, rows[i], None, votes, viewer)
        for i, votes in torn.items()
        if i not in own
    ]


def reveal(connection: sa.Connection, item_id: str, who: Person | None) -> None:
    """Show those who voted on an item what the others said, so that they vote again."""
    if who is not None:
        demand(who, ABOVE, "reveal votes")
    row_of(connection, item_id)
    votes = ballots(connection, [item_id]).get(item_id, Votes())
    waiting = sa.select(assignment.c.item).where(
        assignment.c.item == item_id, assignment.c.status != "done"
    )
    if len(votes.people()) < 2 or connection.execute(waiting).first():
        raise NotAllowed(
            f"Not every annotator has voted on item {item_id}.", "Reveal the votes when all are in."
        )
    connection.execute(item.update().where(item.c.id == item_id).values(revealed=now()))
    log(connection, None if who is None else who.id, "reveal", item_id)


def second_vote(
    connection: sa.Connection,
    task: Task,
    who: Person,
    item_id: str,
    value: object,
    *,
    key: str,
    comment: str | None,
) -> Decision:
    """A vote after the reveal, by an annotator who voted before it."""
    row, votes = row_of(connection, item_id), ballots(connection, [item_id]).get(item_id, Votes())
    if row.revealed is None:
        raise NotAllowed(f"The votes on item {item_id} are not revealed.", "Reveal them first.")
    if who.id not in {b.person for b in votes.first}:
        raise NotAllowed(
            f"'{who.name}' did not vote on item {item_id} before.", "Only those who did vote again."
        )
    return save(connection, task, who, item_id, value, key=key, round="second", comment=comment)


def adjudicate(
    connection: sa.Connection,
    task: Task,
    who: Person,
    item_id: str,
    value: object,
    *,
    key: str,
    comment: str | None,
) -> Decision:
    """The final decision, by a person who did not vote on the item."""
    demand(who, ABOVE, "adjudicate")
    votes = ballots(connection, [item_id]).get(item_id, Votes())
    if who.id in {b.person for b in votes.first}:
        raise NotAllowed(f"'{who.name}' voted on item {item_id}.", "A third person decides.")
    return save(connection, task, who, item_id, value, key=key, round="final", comment=comment)
