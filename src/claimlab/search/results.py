"""What a provider is and what it gives back: evidence, what it cost, and a name for everything that
went wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from claimlab.core.types import JsonObject
from claimlab.search.evidence import Evidence
from claimlab.search.query import Query


@dataclass(frozen=True)
class Attempt:
    """How one provider fared: answered, empty, or failed (with the kind and the sentence)."""

    provider: str
    outcome: str
    kind: str | None = None
    reason: str | None = None

    def to_json(self) -> JsonObject:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Results:
    """The answer to one query. `malformed` counts results that had neither address nor text and
    were left out; `newer` those that would have been among the results but for the query's last
    day, where the provider can tell.
    """

    query: Query
    provider: str
    evidence: tuple[Evidence, ...]
    retrieved: datetime
    cost: float | None = None  # in US dollars; null when the price is not known
    malformed: int = 0
    newer: int = 0
    notes: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()


class Provider(Protocol):
    """One file in `search/providers/`. Constructors store; keys are read from the environment when
    a call is made.
    """

    @property
    def name(self) -> str: ...

    def parameters(self) -> JsonObject:
        """What besides the query decides the answer, JSON-safe and without secrets: part of a
        recorded call's name.
        """
        ...

    async def search(self, query: Query) -> Results:
        """Answer one query.

        Parameters
        ----------
        query : Query
            The words to look for, and how many results, of which language and how late.

        Returns
        -------
        Results
            What was found, what it cost, and what was left out.
        """
        ...


def now() -> datetime:
    """The time of retrieval: UTC, whole seconds, without a zone, as in every table."""
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)
