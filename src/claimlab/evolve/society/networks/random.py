"""Erdős–Rényi: every pair of agents is as likely to be tied as any other. The number of ties is
exact.
"""

from __future__ import annotations

import numpy as np

from claimlab.evolve.society.build import Keys, distinct_keys, edges_wanted, ordered_pairs
from claimlab.evolve.society.network import Network, pair_keys
from claimlab.evolve.society.population import Population


def make(population: Population, rng: np.random.Generator, mean_degree: float | None) -> Network:
    size = population.size
    wanted = edges_wanted(size, mean_degree)

    def draw(count: int) -> Keys:
        return pair_keys(*ordered_pairs(size, count, rng))

    keys = distinct_keys(wanted, draw, rng, size * (size - 1) // 2)
    return Network.of_edges(size, (keys >> 32).astype(np.int32), keys.astype(np.int32), "random")


NETWORK = make
