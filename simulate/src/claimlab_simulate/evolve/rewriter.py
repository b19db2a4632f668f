"""The contract of the rewriter, who writes for every agent.

A rewriter has one agent, one claim, one turn. Everything it may know is in the Request. One file in
`rewrite/known/` with a module-level REWRITER, called with `ActorSettings`. A turn that fails is a
Rewrite with a `failure`, never an exception: one agent's bad turn must not end a claim's walk. Only
what no other turn can get past (a spent budget, a refused key, a replay without the call) is
raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.contracts import ActorSettings, Participant

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


class Rewriter(Participant, Protocol):
    async def rewrite(self, request: Request) -> Rewrite: ...


REWRITERS: Registry[Callable[[ActorSettings], Rewriter]] = Registry(
    "rewriter",
    package="claimlab_simulate.evolve.rewrite.known",
    attribute="REWRITER",
    group="claimlab.rewriters",
)
