"""The contract of a rewriter: one agent, one claim, one turn. Everything it may know is in the
Request.

One file in `known/` with a module-level REWRITER, called with `Settings`. A turn that fails is a
Rewrite with a `failure`, never an exception: one agent's bad turn must not end a claim's walk. Only
what no other turn can get past (a spent budget, a refused key, a replay without the call) is
raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


class Rewriter(Protocol):
    name: str

    async def rewrite(self, request: Request) -> Rewrite: ...

    async def close(self) -> None:
        """Let go of connections; a rewriter that holds none does nothing."""
        ...

    def describe(self) -> JsonObject:
        """What shapes its rewrites, JSON-safe, for the lineage: two runs that differ here are two
        different runs.
        """
        ...


@dataclass(frozen=True)
class Settings:
    """What the rewriters of one run are opened with; each takes what it needs."""

    weights: Path | None = None
    profile: str | None = None
    model: str | None = None
    recording: Path | None = None
    calls: Calls = field(default_factory=Calls)
    prompts: Prompts = field(default_factory=Prompts)
    # the claims of the run by language, for a rewriter that draws words from them
    texts: Mapping[str | None, Sequence[str]] = field(default_factory=dict)


class Opens(Protocol):
    def __call__(self, settings: Settings) -> Rewriter: ...


REWRITERS: Registry[Opens] = Registry(
    "rewriter",
    package="claimlab.evolve.rewrite.known",
    attribute="REWRITER",
    group="claimlab.rewriters",
)
