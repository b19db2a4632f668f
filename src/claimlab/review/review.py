"""The one object behind the command line, Python and the web: open a review, decide, adjudicate,
see how far it is.

Rules are kept here: who may do what, what annotators do not see, and that a repeated save is one
decision.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Annotated

import polars as pl

from claimlab.core.errors import SchemaError, UsageError
from claimlab.core.options import Argument, Place
from claimlab.core.remote import refuse_remote
from claimlab.core.shown import Shown
from claimlab.core.tables import read_parquet, scan_parquet
from claimlab.review import people
from claimlab.review.agreement import Agreement, agreement
from claimlab.review.batches import BatchTable, confirms, judge
from claimlab.review.decisions import NO_PERSON, SEES_ALL, Desk
from claimlab.review.merge import DecisionRow, Imported, merge
from claimlab.review.project import BATCHES, ITEMS, Project, item_rows, read
from claimlab.review.shapes import Decision, GivenAnswer, Item, Person, Turn
from claimlab.review.status import ReviewStatus, events, places, results, status
from claimlab.review.store import (
    STORE_VARIABLE,
    Connection,
    ReviewStore,
    StoredRow,
    check_url,
    item,
    sa,
)
from claimlab.review.votes import Ballot, Outcomes, ballots, outcomes

Who = Person | str  # a name will do


class Review(Shown):
    """An open review. Safe to share between threads, and between processes on the same folder or
    database.
    """

    def __init__(self, folder: Path, project: Project, place: str | None = None) -> None:
        self.folder, self.project, self.task = folder, project, project.task
        self._place = place
        self._store: ReviewStore | None = None
        self._opening = Lock()
        self._people: dict[int | str, Person] = {}

    @classmethod
    def open(cls, folder: str | Path, *, store: str | None = None) -> Review:
        """Open the review in `folder`; its store is opened when it is first needed. `store` is the
        address of the database where the decisions are in one: a folder may come from anybody, so
        it does not say where.
        """
        refuse_remote(folder, "a review, whose decisions are written one by one,")
        return cls(Path(folder), read(Path(folder)), store)

    @classmethod
    def of(cls, review: AnyReview) -> Review:
        """The review, which is opened where it is given as a folder."""
        return review if isinstance(review, Review) else cls.open(review)

    @property
    def store(self) -> ReviewStore:
        """The store of decisions; created from the items if there is none yet."""
        with self._opening:
            if self._store is None:
                where = self._place or store_of(self.folder, self.project)
                store = ReviewStore.open(where, self.project.schema_name)
                with store.write() as connection:
                    if connection.execute(sa.select(item.c.id).limit(1)).first() is None:
                        connection.execute(item.insert(), list(item_rows(self.folder)))
                self._store = store
            return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    # People

    def people(self) -> list[Person]:
        with self.store.read() as connection:
            return people.everyone(connection)

    def person(self, name: str) -> Person:
        with self.store.read() as connection:
            return people.named(connection, name)

    def add_person(self, name: str, role: str = "annotator") -> tuple[Person, str]:
        """The new person and their token, which is shown this once. Annotators get a share of the
        items.
        """
        with self.store.write() as connection:
            added = people.add(connection, name, role)
            if role == "annotator":
                people.share_out(connection, self.task, self.project.seed)
            return added

    def add_people(self, names: Sequence[str]) -> dict[str, str]:
        """New annotators with their tokens; the items are assigned once."""
        with self.store.write() as connection:
            added = [people.add(connection, name, "annotator") for name in names]
            people.share_out(connection, self.task, self.project.seed)
        return {person.name: token for person, token in added}

    def new_token(self, who: Who) -> str:
        """A new token for a person; the old one is no longer valid."""
        with self.store.write() as connection:
            return people.new_token(connection, self._known(connection, who))

    def person_of(self, token: str) -> Person | None:
        with self.store.read() as connection:
            return people.by_token(connection, token)

    # Annotating

    def next_item(self, who: Who) -> Item | None:
        """What this person does next; null when nothing is left."""
        while True:
            with self._reading(who) as desk:
                upcoming = desk.next_item()
                if upcoming is None:
                    return None
                item_id, new = upcoming
                if not new:
                    return desk.view(item_id)
            with self._writing(who, durable=False) as desk:
                claimed = desk.claim(item_id)
            if claimed:
                return self.item(item_id, who)

    def item(self, item_id: str, who: Who) -> Item:
        with self._reading(who) as desk:
            return desk.view(item_id)

    def queue(self, who: Who) -> list[Item]:
        """All items of a person in the order of their queue."""
        with self._reading(who) as desk:
            return desk.whole()

    def every_item(self) -> list[Item]:
        """All items as an annotator sees them who has decided nothing."""
        with self._reading(None, NO_PERSON) as desk:
            return desk.every()

    def turn(self, who: Who, item_id: str | None = None) -> Turn:
        """The next item of this person, or the one to go back to, and how far they are."""
        if item_id is None:
            upcoming = self.next_item(who)
            item_id = None if upcoming is None else upcoming.id
        with self._reading(who) as desk:
            return desk.turn(item_id)

    def decide(
        self,
        who: Who,
        item_id: str,
        value: object,
        *,
        key: str,
        comment: str | None = None,
        seconds: float | None = None,
    ) -> Decision:
        """Save a decision. `key` is a uuid that the caller made for it: saved again, it is the same
        decision. Once the votes on an item were revealed, this is the second vote."""
        with self._writing(who) as desk:
            return desk.vote(item_id, GivenAnswer(value, key, comment, seconds))

    def answer(self, who: Who, item_id: str, answer: GivenAnswer) -> Turn:
        """Save a decision as `decide` does, and take the next item in the same transaction."""
        with self._writing(who) as desk:
            desk.vote(item_id, answer)
            following, new = desk.next_item() or (None, False)
            if following is not None and new:
                desk.claim(following)
            return desk.turn(following)

    def skip(self, who: Who, item_id: str) -> None:
        """Leave an item for later: it comes back when everything else is done."""
        with self._writing(who) as desk:
            desk.skip(item_id)

    def undo(self, who: Who) -> Item:
        """Take back this person's last decision or skip; the item it was about."""
        with self._writing(who) as desk:
            return desk.view(desk.undo())

    def send_back(self, owner: Who, item_id: str, to: Who, why: str) -> None:
        """Return an item to an annotator for correction, with the reason."""
        with self._writing(owner) as desk:
            desk.send_back(item_id, self._known(desk.connection, to), why)

    # Adjudicating

    def disputed(self, who: Who | None = None) -> list[Item]:
        """The undecided items on which annotators differ, with their votes. For `who`, an
        adjudicator or owner, those that they may decide."""
        with self._reading(who) as desk:
            return desk.disputed()

    def adjudicate(
        self, who: Who, item_id: str, value: object, *, key: str, comment: str | None = None
    ) -> Decision:
        """The final decision on an item, by an adjudicator or owner who did not vote on it."""
        with self._writing(who) as desk:
            return desk.adjudicate(item_id, GivenAnswer(value, key, comment))

    def reveal(self, item_id: str, who: Who | None = None) -> None:
        """Show those who voted on an item what the others said; they vote again."""
        with self._writing(who) as desk:
            desk.reveal(item_id)

    # Looking

    def progress(self) -> ReviewStatus:
        with self.store.read() as connection:
            return status(connection, self.task)

    def agreement(self) -> Agreement:
        votes = {name: votes for name, (votes, _) in self.outcomes().items()}
        return agreement(self.task, votes, self.project.seed)

    def results(self) -> pl.DataFrame:
        """A row for each item under review: what it comes to, and how."""
        with self.store.read() as connection:
            return results(connection, self.task, outcomes(connection, self.task))

    def batches(self) -> BatchTable:
        """The state of each batch, of a review by batches."""
        if self.task.batches is None:
            raise UsageError(
                "This is not a review by batches.", "Make one with `batch` (records in a batch)."
            )
        payloads = {row["id"]: row["payload"] for row in item_rows(self.folder)}
        seen: dict[int, list[bool | None]] = {}
        for name, batch, value in self.results().select("item", "batch", "value").iter_rows():
            payload = payloads[name]
            label = payload.get("model", payload).get("label")
            right = None if value is None else confirms(self.task, value, label)
            seen.setdefault(batch, []).append(right)
        return judge(read_parquet(self.folder / BATCHES), self.task.batches, seen)

    def outcomes(self) -> Outcomes:
        """The valid decisions on every item under review, and what they come to."""
        with self.store.read() as connection:
            return outcomes(connection, self.task)

    def about(self) -> dict[str, StoredRow]:
        """By item: record_id, other_id, batch."""
        with self.store.read() as connection:
            return places(connection)

    def ballots(self) -> list[Ballot]:
        """Every valid decision, gold items and attention checks included, by item and round."""
        with self.store.read() as connection:
            by_item = ballots(connection)
        names = sorted(by_item, key=lambda name: (len(name), name))
        return [ballot for name in names for ballot in by_item[name].every()]

    def merge(self, rows: Sequence[DecisionRow]) -> Imported:
        """Decisions from a file: nothing is lost, nothing is doubled."""
        with self.store.write() as connection:
            return merge(connection, self.task, rows, self.project.schema_name)

    def events(self) -> pl.DataFrame:
        """The history, oldest first: who, what, when."""
        with self.store.read() as connection:
            return events(connection)

    @property
    def size(self) -> int:
        """How many items there are, gold items and attention checks included."""
        return int(scan_parquet(self.folder / ITEMS).select(pl.len()).collect().item())

    @property
    def table(self) -> pl.DataFrame:
        return self.results()

    def headline(self) -> str:
        return self.progress().headline()

    def _known(self, connection: Connection, who: Who) -> Person:
        """The person as the store has them, looked up once: name and role never change."""
        key = who if isinstance(who, str) else who.id
        if key not in self._people:
            self._people[key] = people.known(connection, who)
        return self._people[key]

    @contextmanager
    def _reading(self, who: Who | None, otherwise: Person = SEES_ALL) -> Iterator[Desk]:
        """The desk of a person; without one, that of `otherwise`."""
        with self.store.read() as connection:
            person = otherwise if who is None else self._known(connection, who)
            yield Desk(connection, self.task, person)

    @contextmanager
    def _writing(self, who: Who | None, *, durable: bool = True) -> Iterator[Desk]:
        with self.store.write(durable=durable) as connection:
            person = SEES_ALL if who is None else self._known(connection, who)
            yield Desk(connection, self.task, person)


AnyReview = Annotated[Review | Place, Argument("The folder of a review.")]


def store_of(folder: Path, project: Project) -> str | Path:
    """Where the decisions of a review are: a file in its folder, or the database that this user
    names.
    """
    if project.in_folder:
        if (folder / project.store).is_symlink():
            raise SchemaError(
                f"The store of '{folder}' is a link to another place.", "Make the review again."
            )
        return folder / project.store
    address = os.environ.get(STORE_VARIABLE)
    if not address:
        raise UsageError(
            f"The decisions of '{folder}' are in a database, and only you can say in which.",
            f"Set {STORE_VARIABLE}=postgresql://USER@HOST/NAME, or pass `store`.",
        )
    check_url(address)
    return address
