"""The stage that claims move on: the population, the network, and who may follow whom.

A claim asks three things: where it starts, who is next, and whose opinion is in the air. All draws come from the
claim's own stream, so that claims may move side by side in any order.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import DataError, UnknownName
from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population

_TRIES = 1000  # draws of a starting agent before all are looked at


class Stage:
    """`within`: claims stay in the group they start in; `group`: they start (and stay) in this one."""

    def __init__(
        self,
        population: Population,
        network: Network,
        *,
        within: bool = False,
        group: str | None = None,
        weights: Weights | None = None,
    ) -> None:
        if network.size != population.size:
            raise DataError(
                f"The network has {network.size:,} agents and the population {population.size:,}.",
                "Give the population that the network was made for.",
            )
        self.population, self.network = population, network
        self.within = within or group is not None
        self.group = group
        self.weights = weights or Weights.read()
        self._groups = population.codes("group") if self.within else None
        if group is not None and group not in population.values("group"):
            raise UnknownName("group of agents", group, population.values("group"))
        self._code = population.values("group").index(group) if group is not None else None
        self._ids = population.ids.to_list()
        self.profile = lru_cache(maxsize=65_536)(self._profile)
        self._pull: dict[Target, NDArray[np.float64]] = {}

    def name(self, agent: int) -> str:
        return str(self._ids[agent])

    def start(self, draw: random.Random) -> int:
        """Somebody who can pass the claim on."""
        for _ in range(_TRIES):
            agent = draw.randrange(self.population.size)
            if self._may_start(agent):
                return agent
        able = [i for i in range(self.population.size) if self._may_start(i)]
        if not able:
            raise DataError(
                "No agent in this society can pass a claim on.", "Give a network with ties, or another group."
            )
        return draw.choice(able)

    def following(self, agent: int) -> list[int]:
        """Those whom `agent` may pass a claim to."""
        others = self.network.neighbours(agent)
        if self._groups is not None:
            others = others[self._groups[others] == self._groups[agent]]
        return [int(i) for i in others]

    def next(self, agent: int, draw: random.Random) -> int:
        """A neighbour, all alike; whoever was there before may be there again."""
        return draw.choice(self.following(agent))

    def reroute(self, agent: int, target: Target, draw: random.Random, *, among_all: bool) -> int:
        """Somebody whose attributes are near to the target: a neighbour, or anybody."""
        pull = self._affinities(target)
        if not among_all:
            near = self.following(agent)
            weights = [float(pull[i]) for i in near]
            return draw.choices(near, weights=weights)[0] if sum(weights) > 0 else draw.choice(near)
        allowed = pull if self._groups is None else np.where(self._groups == self._groups[agent], pull, 0.0)
        ties = self.network.degrees > 0
        cumulative = np.cumsum(np.where(ties, allowed, 0.0))
        if cumulative[-1] <= 0:
            return self.next(agent, draw)
        return int(np.searchsorted(cumulative, draw.random() * cumulative[-1], side="right"))

    def hub(self, draw: random.Random) -> int | None:
        """One of the hubs, neighbour or not; null where the network has none."""
        hubs = self.network.hubs
        return int(hubs[draw.randrange(len(hubs))]) if len(hubs) else None

    def describe(self) -> dict[str, Any]:
        """For the lineage."""
        return {
            "population": {"size": self.population.size, **_plain(self.population.source)},
            "network": {
                "kind": self.network.kind,
                "agents": self.network.size,
                "edges": self.network.edges,
                "hubs": len(self.network.hubs),
                **_plain(self.network.parameters),
            },
            "within_group": self.within,
            "group": self.group,
        }

    def _profile(self, agent: int) -> dict[str, str]:
        return self.population.profile(agent)

    def _may_start(self, agent: int) -> bool:
        if self._code is not None and self._groups is not None and self._groups[agent] != self._code:
            return False
        return bool(self.following(agent))

    def _affinities(self, target: Target) -> NDArray[np.float64]:
        """How near every agent is to the target, attribute by attribute: arrays, so that a million agents are quick."""
        from claimlab.evolve.rewrite.operators.all import serving

        if target not in self._pull:
            total = np.zeros(self.population.size)
            for operator in serving(target):
                product = np.full(self.population.size, self.weights.base.get(operator, 1.0))
                for attribute in self.population.attributes:
                    values = self.population.values(attribute)
                    factors = [self.weights.factor(attribute, value, operator) for value in values]
                    if any(f != 1.0 for f in factors):
                        product *= np.array([*factors, 1.0])[self.population.codes(attribute)]  # -1, not known: 1
                total += product
            self._pull[target] = total
        return self._pull[target]


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as Python's own, so that they can be written as JSON."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
