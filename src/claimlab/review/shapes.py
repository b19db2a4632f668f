"""What a review hands out: people, items as one person may see them, decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

Role = Literal["annotator", "adjudicator", "owner", "model"]
Status = Literal["open", "done", "skipped", "returned"]
Round = Literal["first", "second", "final"]
ROLES: tuple[Role, ...] = get_args(Role)
ABOVE = ("adjudicator", "owner")  # who sees votes, labels and names
Value: TypeAlias = Any  # an answer as JSON: a choice, a rating, a note, or a list of spans


@dataclass(frozen=True)
class GivenAnswer:
    """What a person answers. `key` is a uuid that the caller made for it."""

    value: object
    key: str
    comment: str | None = None
    seconds: float | None = None


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True)


class Person(_Shape):
    id: int
    name: str
    role: Role

    @property
    def model(self) -> bool:
        return self.role == "model"

    @property
    def above(self) -> bool:
        """Whether they see votes, labels and names."""
        return self.role in ABOVE


class Decision(_Shape):
    """A decision as it is stored; `superseded` when a later one or an undo took its place."""

    key: str
    item: str
    person: int
    round: Round
    value: Value
    comment: str | None = None
    seconds: float | None = None
    at: datetime
    superseded: bool = False


class Vote(_Shape):
    """One answer to an item. A model's answer is always marked."""

    who: str
    model: bool
    round: Round
    value: Value
    comment: str | None = None


class Passage(_Shape):
    """A piece of evidence beside the text."""

    title: str | None = None
    text: str | None = None
    url: str | None = None


class ModelOutput(_Shape):
    """A model's prediction for the record."""

    label: str | None = None
    confidence: float | None = None
    rationale: str | None = None


class RecordOrigin(_Shape):
    """Where a record comes from."""

    source: str | None = None
    date: str | None = None
    url: str | None = None


class Payload(_Shape):
    """Everything that can be shown of an item; the task says what is held back."""

    text: str | None = None
    other_text: str | None = None
    label: str | None = None
    other_label: str | None = None
    about: RecordOrigin | None = None
    other_about: RecordOrigin | None = None
    context: tuple[Passage, ...] = ()
    cluster: tuple[Passage, ...] | None = None  # other records that say nearly the same
    model: ModelOutput | None = None
    reason: str | None = None  # why the record is in this review


class Item(_Shape):
    """An item as one person sees it: what the task hides is null, and gold items look like all
    others.
    """

    id: str
    record_id: str | None = None
    other_id: str | None = None
    payload: Payload
    number: int | None = None  # its place in this person's queue, from 1
    total: int | None = None
    status: Status = "open"
    round: Round = "first"
    value: Value = None
    comment: str | None = None
    returned: str | None = None  # why it was sent back
    votes: tuple[Vote, ...] = ()
    final: Value = None


class QueueProgress(_Shape):
    """How far a person is; `earlier` are the items that they decided or skipped, newest first."""

    done: int
    total: int
    earlier: tuple[str, ...] = ()


class Turn(_Shape):
    """What a person works on, null when nothing is left, and how far they are."""

    item: Item | None
    standing: QueueProgress
