"""The contract of an auditor: does this text have the value it was meant to get? A vote, a reason,
a diagnosis.

One file in `known/` with a module-level AUDITOR, called with `Settings` and a number: it opens so
many auditors, each with a view of its own, since three copies of one opinion are one opinion. A
vote that cannot be had is null, and null is never a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from claimlab.core.calls.calls import Calls
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.evolve.claims.model import Target
from claimlab.llm.prompts import Prompts


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
        values = {
            "auditor": self.auditor,
            "passed": self.passed,
            "reason": self.reason,
            "diagnosis": self.diagnosis,
        }
        values["failure"] = self.failure
        return {k: v for k, v in values.items() if v is not None or k == "passed"}


class Auditor(Protocol):
    name: str

    async def judge(self, question: Question) -> Vote: ...

    async def close(self) -> None: ...

    def describe(self) -> JsonObject:
        """What shapes its votes, JSON-safe, for the lineage."""
        ...


@dataclass(frozen=True)
class Settings:
    recording: Path | None = None  # a dataset with traces, whose votes are given again
    data: Path | None = None  # a dataset with examples of the values: what a classifier learns from
    targets: tuple[Target, ...] = ()
    profiles: tuple[str, ...] = ()  # of models; the auditors take turns with them
    model: str | None = None
    calls: Calls = field(default_factory=Calls)
    prompts: Prompts = field(default_factory=Prompts)
    seed: int = 20


class Opens(Protocol):
    def __call__(self, settings: Settings, count: int) -> Sequence[Auditor]: ...


AUDITORS: Registry[Opens] = Registry(
    "auditor",
    package="claimlab.evolve.auditors.known",
    attribute="AUDITOR",
    group="claimlab.auditors",
)


def majority(votes: Sequence[Vote]) -> bool | None:
    """More than half of all auditors say yes; null when none was asked or none could vote."""
    if not any(vote.passed is not None for vote in votes):
        return None
    return 2 * sum(vote.passed is True for vote in votes) > len(votes)


def diagnosis(votes: Sequence[Vote]) -> str | None:
    """What those who said no found missing, each thing once."""
    diagnoses = dict.fromkeys(v.diagnosis for v in votes if v.passed is False and v.diagnosis)
    return " ".join(diagnoses) or None
