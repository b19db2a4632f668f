"""What is kept of a claim's life: every hop, with the released step fields and all that shaped it;
failures too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

from claimlab.core.types import JsonObject
from claimlab.evolve.claims.model import Target

# done: a walk that nothing steered; success and failure: by the vote; unaudited: steered, and no
# auditor was asked
Status = Literal["done", "success", "failure", "unaudited"]


@dataclass(frozen=True)
class Start:
    """A claim before anybody has touched it."""

    id: str
    text: str
    language: str | None = None
    context: str | None = None
    evidence: tuple[str, ...] = ()
    target: Target | None = None

    @property
    def key(self) -> str:
        """Of the life of this claim towards this target: its record, its trace, its random
        streams.
        """
        return (
            self.id
            if self.target is None
            else f"{self.id}-{self.target.dimension}-{self.target.value}"
        )


@dataclass(frozen=True)
class Hop:
    round: int
    step: int
    agent: str
    role: str
    input: str
    output: str
    passed: bool | None = None
    reason: str | None = None  # of the vote
    attributes: list[str] = field(default_factory=list)
    why: str | None = None  # the agent's own reason
    operators: list[JsonObject] = field(default_factory=list)
    votes: list[JsonObject] = field(default_factory=list)
    diagnosis: str | None = None  # what the agent was told to change
    hub: str | None = None  # whose opinion was in the air
    parent: int | None = (
        None  # cascades: the step that this agent had the claim from (0: the start)
    )
    depth: int | None = None
    seed: int | None = None
    failure: str | None = None
    cost: float | None = 0.0  # US dollars; null: not known


@dataclass(frozen=True)
class Life:
    key: str
    status: Status
    text: str  # what the claim became
    hops: list[Hop]

    def to_json(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def from_json(cls, values: JsonObject) -> Life:
        return cls(
            values["key"], values["status"], values["text"], [Hop(**hop) for hop in values["hops"]]
        )
