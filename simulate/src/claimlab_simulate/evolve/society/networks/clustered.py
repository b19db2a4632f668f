"""Clustered by group (a planted partition): dense inside a group, sparse between groups, at the
density asked for.

`inside` is the share of ties that stay in a group: 507 of the 539 ties of the released network do.
All groups have one density inside. Agents without a group raise.
"""

from __future__ import annotations

import numpy as np

from claimlab.core.errors import DataError, UsageError
from claimlab_simulate.evolve.society.network import Longs, Network, pair_keys
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import distinct_keys, edges_wanted, ordered_pairs

INSIDE = 507 / 539


def clustered(
    population: Population,
    rng: np.random.Generator,
    mean_degree: float | None,
    *,
    inside: float = INSIDE,
) -> Network:
    groups = population.codes("group")
    if groups.min() < 0:
        raise DataError(
            f"{int((groups < 0).sum())} agents have no group to be clustered by.",
            "Give every agent a group.",
        )
    if not 0 <= inside <= 1:
        raise UsageError(f"inside={inside:g} is not a valid share.", "Give a share from 0 to 1.")
    size, wanted = population.size, edges_wanted(population.size, mean_degree)
    members = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(members)])
    pairs_inside = int((members * (members - 1) // 2).sum())
    pairs_between = size * (size - 1) // 2 - pairs_inside
    within = wanted if pairs_between == 0 else round(wanted * inside)

    order = np.argsort(groups, kind="stable").astype(np.int32)  # agents, group after group
    keys = np.concatenate(
        [
            distinct_keys(within, lambda n: _inside(members, starts, n, rng), rng, pairs_inside),
            distinct_keys(
                wanted - within, lambda n: _between(members, starts, n, rng), rng, pairs_between
            ),
        ]
    )
    first, second = order[keys >> 32], order[keys & 0xFFFFFFFF]
    return Network.of_edges(size, first, second, "clustered", parameters={"inside": inside})


def _inside(members: Longs, starts: Longs, count: int, rng: np.random.Generator) -> Longs:
    """Pairs inside groups, as positions in the agents ordered by group."""
    pairs = members * (members - 1) // 2
    each = rng.multinomial(count, pairs / pairs.sum())
    parts = []
    for group in np.flatnonzero(each):
        first, second = ordered_pairs(int(members[group]), int(each[group]), rng)
        parts.append(pair_keys(first + np.int32(starts[group]), second + np.int32(starts[group])))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _between(members: Longs, starts: Longs, count: int, rng: np.random.Generator) -> Longs:
    """Pairs of agents of different groups: one of a group, then anyone outside it; each pair comes
    up both ways.
    """
    others = starts[-1] - members
    weights = (members * others).astype(np.float64)
    each = rng.multinomial(count, weights / weights.sum())
    parts = []
    for group in np.flatnonzero(each):
        first = rng.integers(starts[group], starts[group + 1], each[group], dtype=np.int32)
        second = rng.integers(0, others[group], each[group], dtype=np.int32)
        second += np.where(second >= starts[group], members[group], 0).astype(
            np.int32
        )  # over the group itself
        parts.append(pair_keys(np.minimum(first, second), np.maximum(first, second)))
    return np.concatenate(parts)


NETWORK = clustered
