"""The contracts of those who take part: the rewriter, who writes for every agent, and the auditors,
who judge.

A rewriter has one agent, one claim, one turn. Everything it may know is in the Request. One file
in `known/` with a module-level REWRITER, called with `ActorSettings`. A turn that fails is a
Rewrite with a `failure`, never an exception: one agent's bad turn must not end a claim's walk. Only
what no other turn can get past (a spent budget, a refused key, a replay without the call) is
raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from claimlab.core.calls.calls import Calls
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.evolve.claims.model import Target
from claimlab.llm.prompts import Prompts

Role = Literal["producer", "bystander", "failed"]


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent is given. Texts other than the profile come from datasets and are untrusted."""

    text: str
    profile: Mapping[str, str]
    # of this very turn: made from the run's seed, the claim, the target, the round and the step
    seed: int
    agent: str = ""
    claim: str = ""  # id of the record that the claim started from
    origin: str = ""  # its text then
    language: str | None = None
    context: str | None = None
    evidence: tuple[str, ...] = ()
    opinion: Mapping[str, str] | None = (
        None  # the profile of the hub whose opinion the agent has heard
    )
    target: Target | None = None  # null: nothing steers
    diagnosis: str | None = None  # what the auditors found missing last time
    must_rewrite: bool = (
        True  # false: the agent decides whether it is a producer or passes the claim on
    )
    round: int = 1
    step: int = 1


@dataclass(frozen=True, slots=True)
class Rewrite:
    text: str
    role: Role
    operators: tuple[JsonObject, ...] = ()  # what was changed, each with its name
    attributes: tuple[str, ...] = ()  # which attributes of the agent moved it, strongest first
    reason: str | None = None
    failure: str | None = None
    cost: float | None = 0.0  # US dollars; null: not known

    @classmethod
    def failed(
        cls, request: Request, failure: str, detail: str | None = None, cost: float | None = 0.0
    ) -> Rewrite:
        """The agent could not speak: the claim goes on as it came."""
        return cls(request.text, "failed", reason=detail, failure=failure, cost=cost)


class Participant(Protocol):
    name: str

    async def close(self) -> None:
        """Let go of connections; one that holds none does nothing."""
        return

    def describe(self) -> JsonObject:
        """What shapes its rewrites or votes, JSON-safe, for the lineage: two runs that differ here
        are two different runs.
        """
        ...


class Rewriter(Participant, Protocol):
    async def rewrite(self, request: Request) -> Rewrite: ...


@dataclass(frozen=True)
class ActorSettings:
    """What the rewriter and the auditors of one run are opened with; each takes what it needs."""

    weights: str | Path | None = None
    profile: str | None = None  # of the model that plays the agents
    profiles: tuple[str, ...] = ()  # of models that audit; the auditors take turns with them
    model: str | None = None
    recording: str | Path | None = (
        None  # a dataset with traces, whose words and votes are given again
    )
    adapter: str | Path | None = None  # a folder of `evolve learn`
    data: str | Path | None = (
        None  # a dataset with examples of the values: what a classifier learns from
    )
    targets: tuple[Target, ...] = ()
    calls: Calls = field(default_factory=Calls)
    prompts: Prompts = field(default_factory=Prompts)
    # the claims of the run by language, for a rewriter that draws words from them
    texts: Mapping[str | None, Sequence[str]] = field(default_factory=dict)
    seed: int = 0


REWRITERS: Registry[Callable[[ActorSettings], Rewriter]] = Registry(
    "rewriter",
    package="claimlab.evolve.rewrite.known",
    attribute="REWRITER",
    group="claimlab.rewriters",
)


# The contract of an auditor: does this text have the value it was meant to get? A vote, a reason,
# a diagnosis.
#
# One file in `known/` with a module-level AUDITOR, called with `ActorSettings` and a number: it
# opens so many auditors, each with a view of its own, since three copies of one opinion are one
# opinion. A vote that cannot be had is null, and null is never a pass.


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


AUDITORS: Registry[Callable[[ActorSettings, int], Sequence[Auditor]]] = Registry(
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
