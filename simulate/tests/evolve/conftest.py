"""A made-up town: claims, agents in three groups, and networks small enough to look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab_simulate.evolve.rewriter import Request, Rewrite
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.build import build
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.population import Population

CLAIMS = (
    "In 2019, the bridge of Riverton was closed for 47 days due to a cracked pillar.",
    "Research indicates that approximately 58% of individuals in Riverton drink tap water.",
    "The Riverton Water Agency established 3 new wells in 2021, including one near the mill.",
    "Vaccination reduces the risk of the river fever, which affects many children.",
    "The harvest of 1,234 farms in the valley declined because of a late frost.",
    "mRNA vaccines were developed rapidly (in 11 months) and provided to 2.5 million people.",
    "On 3 May 2020, the council launched a plan to assist the poor, but it did not work.",
    "The mill does not employ children under 15.",
)
CONTEXT = "The town has two bridges. In 2019 engineers found 12 cracks in the pillar of the old bridge in Riverton."


class Town:
    claims_text = CLAIMS
    context = CONTEXT

    def claims(self, n: int = len(CLAIMS), **columns: Any) -> Dataset:
        rows = [
            {"id": f"c{i}", "text": CLAIMS[i % len(CLAIMS)] if i < len(CLAIMS) else f"{CLAIMS[i % len(CLAIMS)]} {i}",
             "kind": "claim", "language": "eng", "label_raw": "1", "veracity": "true", "topic": "Riverton", **columns}
            for i in range(n)
        ]  # fmt: skip
        evidence = pl.DataFrame(
            {"record_id": [r["id"] for r in rows], "evidence_id": [f"e-{r['id']}" for r in rows],
             "rank": [1] * n, "text": [CONTEXT] * n}
        )  # fmt: skip
        return Dataset.build("town", pl.DataFrame(rows), {"evidence": evidence})

    def people(self, n: int = 40) -> Population:
        return Population.draw(n, seed=3)

    def stage(self, kind: str = "random", n: int = 40, **settings: Any) -> Scene:
        people = self.people(n)
        return Scene(people, build(kind, people, seed=3), **settings)

    def ring(self, n: int = 6, hubs: tuple[int, ...] = ()) -> Scene:
        """Everybody has two neighbours."""
        people = self.people(n)
        source = np.arange(n, dtype=np.int32)
        ties = Network.of_edges(
            n, source, ((source + 1) % n).astype(np.int32), hubs=np.array(hubs, dtype=np.int32)
        )
        return Scene(people, ties)


class Scripted:
    """A rewriter that does what a function says, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, say: Callable[[Request], Rewrite]) -> None:
        self.say = say
        self.asked: list[Request] = []

    async def rewrite(self, request: Request) -> Rewrite:
        self.asked.append(request)
        return self.say(request)

    async def close(self) -> None: ...

    def describe(self) -> dict[str, Any]:
        return {"rewriter": self.name}


@pytest.fixture(scope="session")
def town() -> Town:
    return Town()


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted
