"""Calls that are not made one by one but sent together, to be answered later and cheaper: batches.
In a run with a batch, whoever asks gets "batched" as an answer, and the question is noted here.
When the run would finish, what was noted is sent, and the run ends with `Pending` instead. The same
run, started again, finds the answers in the recording as if they had been made one by one. A chain
of questions, where one follows from the answer to another, takes as many rounds as it is long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from claimlab.core.calls.recording import CallQuestion
from claimlab.core.errors import Pending
from claimlab.core.types import Json
from claimlab.core.words import several, verb

DeferredCall = tuple[CallQuestion, Mapping[str, Json]]  # the question, and the body of the call


class Sender(Protocol):
    def send(self, items: Sequence[DeferredCall]) -> str:
        """Send them off; a sentence that says where they are."""
        ...


class Deferred:
    """What is to be sent, and how many questions are under way already."""

    def __init__(self) -> None:
        self._items: dict[Sender, dict[str, DeferredCall]] = {}
        self.under_way = 0

    def add(self, sender: Sender, question: CallQuestion, body: Mapping[str, Json]) -> None:
        """Note a question; one that was noted before is sent once."""
        self._items.setdefault(sender, {})[question.key] = (question, body)

    def has(self, sender: Sender, question: CallQuestion) -> bool:
        return question.key in self._items.get(sender, {})

    def settle(self) -> None:
        """Send what was noted. Raise `Pending` unless there was nothing, and nothing is under
        way.
        """
        sentences = [sender.send(list(items.values())) for sender, items in self._items.items()]
        self._items = {}
        if self.under_way:
            sentences.append(
                f"{several(self.under_way, 'question')} {verb(self.under_way)} in a batch that is"
                " not done yet."
            )
        if sentences:
            raise Pending(" ".join(sentences), "Run the same again later; see: claimlab llm batch")
