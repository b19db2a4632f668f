"""The contract of an auditor: does this text have the value it was meant to get? A vote, a reason,
a diagnosis.

One file in `auditors/known/` with a module-level AUDITOR, called with `ActorSettings` and a number:
it opens so many auditors, each with a view of its own, since three copies of one opinion are one
opinion. A vote that cannot be had is null, and null is never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.contracts import ActorSettings, Participant

AUDITORS: Registry[Callable[[ActorSettings, int], Sequence[Auditor]]] = Registry(
    "auditor",
    package="claimlab_simulate.evolve.auditors.known",
    attribute="AUDITOR",
    group="claimlab.auditors",
)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    target: Target
    seed: int
    origin: str = ""  # the claim before anybody touched it
    context: str | None = None
    claim: str = ""
    round: int = 1
    step: int = 1


@dataclass(frozen=True, slots=True)
class Vote:
    auditor: str
    passed: bool | None  # null: no vote could be had, see `failure`
    reason: str | None = None
    diagnosis: str | None = None  # what is missing, for the next agent
    failure: str | None = None
    cost: float | None = 0.0

    def record(self) -> JsonObject:
        """For the traces: JSON-safe, what is not known left out."""
        values = asdict(self)
        del values["cost"]
        return {k: v for k, v in values.items() if v is not None or k == "passed"}


class Auditor(Participant, Protocol):
    async def judge(self, question: Question) -> Vote: ...


def majority(votes: Sequence[Vote]) -> bool | None:
    """More than half of all auditors say yes; null when none was asked or none could vote."""
    if not any(vote.passed is not None for vote in votes):
        return None
    return 2 * sum(vote.passed is True for vote in votes) > len(votes)


def diagnosis(votes: Sequence[Vote]) -> str | None:
    """What those who said no found missing, each thing once."""
    diagnoses = dict.fromkeys(v.diagnosis for v in votes if v.passed is False and v.diagnosis)
    return " ".join(diagnoses) or None
