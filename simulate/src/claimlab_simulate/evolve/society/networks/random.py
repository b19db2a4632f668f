"""Random: every pair of agents is as likely to be tied as any other."""

from __future__ import annotations

import numpy as np

from claimlab_simulate.evolve.society.network import Longs, Network, pair_keys
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import distinct_keys, edges_wanted, ordered_pairs


def random(population: Population, rng: np.random.Generator, mean_degree: float | None) -> Network:
    """Erdős–Rényi: every pair of agents is as likely to be tied as any other. The number of ties is
    exact.
    """
    size, wanted = population.size, edges_wanted(population.size, mean_degree)

    def draw(count: int) -> Longs:
        return pair_keys(*ordered_pairs(size, count, rng))

    keys = distinct_keys(wanted, draw, rng, size * (size - 1) // 2)
    return Network.of_edges(size, (keys >> 32).astype(np.int32), keys.astype(np.int32), "random")


NETWORK = random
