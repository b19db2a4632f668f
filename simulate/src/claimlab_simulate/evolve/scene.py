"""The stage that claims move on: the population, the network, who may follow whom, and where claims
go by themselves.

A claim asks three things: where it starts, who is next, and whose opinion is in the air. All draws
depend on the claim's own seed alone, so that claims may move side by side in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from claimlab.core.errors import DataError, UnknownName
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.society.draws import HUB, START, Numbers, below, numbers
from claimlab_simulate.evolve.society.engine import Model, Telling, travel
from claimlab_simulate.evolve.society.network import Floats, Ints, Longs, Network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.telling import Fresh, Lists, neighbour, weighted

CELLS_AT_ONCE = 1 << 24  # agents times claims that move at once


class AgentTurn(NamedTuple):
    """Whose turn it is, and in whose wake: `parent` is the place of an earlier turn (-1: the
    start).
    """

    agent: int
    depth: int
    parent: int
    hub: int | None


class Scene:
    """`within`: claims stay in the group they start in; `group`: they start (and stay) in this
    one.
    """

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
        self.ties = network  # who may follow whom
        if self._groups is not None:
            same = self._groups[network.owners] == self._groups[network.indices]
            self.ties = network.having(same)
        able = self.ties.degrees > 0
        if group is not None:
            able &= population.codes("group") == population.values("group").index(group)
        self._able = np.flatnonzero(able).astype(np.int32)
        self._ids = population.ids.to_list()
        self.profile = lru_cache(maxsize=65_536)(population.profile)
        self._near: dict[tuple[Target, bool], Telling] = {}

    def name(self, agent: int) -> str:
        return str(self._ids[agent])

    def starts(self, seeds: Numbers) -> Ints:
        """For each seed an agent who can pass the claim on."""
        if not len(self._able):
            raise DataError(
                "No agent in this society can pass a claim on.",
                "Give a network with ties, or another group.",
            )
        return self._able[below(numbers(seeds, START), len(self._able))]

    def hubs(self, seeds: Numbers, turns: Longs) -> Ints | None:
        """For each seed and turn one of the hubs, neighbour or not; null where the network has
        none.
        """
        hubs = self.network.hubs
        return hubs[below(numbers(seeds, HUB, turns), len(hubs))] if len(hubs) else None

    def near(self, target: Target, *, among_all: bool) -> Telling:
        """The rule that takes a claim to an agent whose attributes are near to the target: a
        neighbour, or any.
        """
        if (target, among_all) not in self._near:
            pull = self.affinities(target)
            if not among_all:
                lists = Lists(self.ties.indptr[:-1], self.ties.indptr[1:], self.ties.indices)
            else:
                everyone = np.zeros(self.population.size, dtype=np.int64)
                groups = everyone if self._groups is None else self._groups
                able = np.flatnonzero(self.ties.degrees > 0)  # others could not pass it on
                begin, end = np.searchsorted(np.sort(groups[able]), [groups, groups + 1])
                lists = Lists(begin, end, able[np.argsort(groups[able], kind="stable")])
            self._near[target, among_all] = weighted(lists, pull)
        return self._near[target, among_all]

    def describe(self) -> JsonObject:
        """For the lineage."""
        return {
            "population": {"size": self.population.size, **self.population.source},
            "network": {
                "kind": self.network.kind,
                "agents": self.network.size,
                "edges": self.network.edges,
                "hubs": len(self.network.hubs),
                **self.network.parameters,
            },
            "within_group": self.within,
            "group": self.group,
        }

    def affinities(self, target: Target) -> Floats:
        """How near every agent is to the target, attribute by attribute: arrays, so that a million
        agents are quick.
        """
        total = np.zeros(self.population.size)
        for habit in self.weights.habits(target):
            product = np.full(self.population.size, self.weights.base.get(habit, 1.0))
            for attribute in self.population.attributes:
                values = self.population.values(attribute)
                factors = [self.weights.factor(attribute, value, habit) for value in values]
                by_code = np.array([*factors, 1.0])  # the last, of code -1: not known
                product *= by_code[self.population.codes(attribute)]
            total += product
        return total


def paths(
    seeds: Numbers,
    stage: Scene,
    steps: int,
    fan_out: int | None = None,
    reach: int | None = None,
    threshold: float = 0,
    *,
    hubs: bool,
) -> list[Sequence[AgentTurn]]:
    """The turns of one claim for each seed. A walk: every agent tells one neighbour.

    A cascade (`fan_out`): every agent tells some who have not heard the claim, until `reach` agents
    have; those below the `threshold` tell no one.
    """
    telling = neighbour(stage.ties) if fan_out is None else Fresh(stage.ties, fan_out)
    at_once = max(1, CELLS_AT_ONCE // stage.ties.size)
    turns: list[Sequence[AgentTurn]] = []
    for first in range(0, len(seeds), at_once):
        some = seeds[first : first + at_once]
        model = Model(stage.starts(some), some, agents=stage.ties.size)
        travel(model, telling, steps - 1, reach, threshold)
        visits = model.visits()
        begin = np.searchsorted(visits.claim, np.arange(len(some) + 1))
        place = np.arange(len(visits.claim)) - begin[visits.claim]
        opinions = stage.hubs(some[visits.claim], place) if hubs else None
        named = [None] * len(place) if opinions is None else opinions.tolist()
        rows = list(
            map(
                AgentTurn,
                visits.agent.tolist(),
                visits.depth.tolist(),
                visits.parent.tolist(),
                named,
            )
        )
        turns += [rows[a:b][:reach] for a, b in pairwise(begin)]
    return turns
