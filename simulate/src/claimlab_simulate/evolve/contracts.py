"""What those who take part in a run have in common, whether they write or judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from claimlab.core.calls.calls import Calls
from claimlab.core.types import JsonObject
from claimlab.llm.prompts import Prompts
from claimlab_simulate.evolve.claims.model import Target


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
