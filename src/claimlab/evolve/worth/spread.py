"""Propagation ability: how deep and how far a claim travels when each user decides whether to pass it on.

Whoever passes a claim on tells at most `fan_out` others, the closest first: strong ties, then moderate ones, then
anyone else. Those who have it already are not told again. Depth and fan-out bound the reach: with depth 3 and fan-out
3, at most 40 users hear of it (1 + 3 + 9 + 27), so in a population of 90 the size cannot pass .44, and propagation
ability cannot pass .72. That is the released setting; both bounds are free here, and `ceiling` says where they leave
the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claimlab.evolve.society.engine import Model, depth, size
from claimlab.evolve.society.network import Network

Decide = Callable[[int], bool]


@dataclass(frozen=True)
class Bounds:
    depth: int = 3
    fan_out: int = 3

    def ceiling(self, population: int) -> float:
        """The greatest propagation ability that these bounds allow in a population."""
        return (1 + min(most_reached(self), population) / population) / 2 if population else 0.0


def most_reached(bounds: Bounds) -> int:
    return sum(bounds.fan_out**d for d in range(bounds.depth + 1))


class Ties:
    """Whom a user tells first, from a network; with tiers, strong before moderate, the most alike first within one."""

    def __init__(self, network: Network, *, strangers: bool = True, seed: int = 0) -> None:
        self.network, self.strangers = network, strangers
        # One shuffled ring of everyone serves as the weak tier, entered at the user's own place: no list per user.
        self.ring = np.random.default_rng(seed).permutation(network.size)
        self.place = np.argsort(self.ring)
        self._ranked: dict[int, npt.NDArray[np.int32]] = {}

    def ranked(self, user: int) -> npt.NDArray[np.int32]:
        """The user's ties, closest first; without tiers in the order of the network."""
        ranked = self._ranked.get(user)
        if ranked is None:
            ranked = self._ranked[user] = self._rank(user)
        return ranked

    def _rank(self, user: int) -> npt.NDArray[np.int32]:
        row = slice(self.network.indptr[user], self.network.indptr[user + 1])
        others = self.network.indices[row]
        if self.network.tiers is None:
            return others
        tier = self.network.tiers[row]
        # 1 is strong and 2 moderate; 0 is held by the other alone, and comes last of the three.
        rank = np.where(tier == 0, 3, tier)
        alike = -self.network.scores[row] if self.network.scores is not None else np.zeros(len(others))
        return np.asarray(others[np.lexsort((others, alike, rank))])

    def told(self, user: int, most: int, heard: set[int]) -> list[int]:
        """At most `most` users whom this one tells, none of whom has heard."""
        out = [int(v) for v in self.ranked(user) if int(v) not in heard][:most]
        if self.strangers and len(out) < most:
            start, size = int(self.place[user]), self.network.size
            for i in range(1, size):
                other = int(self.ring[(start + i) % size])
                if other not in heard and other not in out:
                    out.append(other)
                if len(out) == most:
                    break
        return out


def spread(start: int, ties: Ties, decide: Decide, bounds: Bounds) -> Model:
    """A claim that starts with one user; `decide` is asked once of each user before the last depth."""
    model = Model(start)
    while (visit := model.step()) is not None and visit.depth < bounds.depth:
        if decide(visit.agent):
            model.pass_on(visit, ties.told(visit.agent, bounds.fan_out, model.heard))
    return model


def ability(model: Model, bounds: Bounds, population: int) -> float:
    """Mean of depth over the greatest depth and size over the population."""
    return (depth(model) / bounds.depth + size(model) / population) / 2 if bounds.depth and population else 0.0
