"""Scale-free: agents come one by one and tie themselves to those who have many ties
(Barabási–Albert).

Drawing "by degree" is drawing an end of any earlier tie. What stands at that end may itself have
been drawn so; all draws are made first and then followed back together, so that no loop over agents
is needed (after Batagelj and Brandes, 2005). The hubs are the agents with most ties: by default the
share that is flagged in the released network (5 of 90).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from claimlab.core.errors import UsageError
from claimlab_simulate.evolve.society.network import Ints, Network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import edges_wanted

HUB_SHARE = 5 / 90


def scale_free(
    population: Population,
    rng: np.random.Generator,
    mean_degree: float | None,
    *,
    hubs: int | None = None,
) -> Network:
    size, wanted = population.size, edges_wanted(population.size, mean_degree)
    count = max(1, round(size * HUB_SHARE)) if hubs is None else hubs
    if not 0 <= count <= size:
        raise UsageError(f"{size} agents cannot have {count} hubs.", f"Ask for 0 to {size}.")
    newcomer, core = arrivals(size, wanted)
    earlier = attached(newcomer, core, rng)
    # Who came first has most ties; rows are dealt out anew, so that an agent's row says nothing
    # about its standing.
    deal = rng.permutation(size).astype(np.int32)
    network = Network.of_edges(size, deal[newcomer], deal[earlier], "scale-free")
    return replace(network, hubs=most_tied(network, count), parameters={"hubs": count})


def arrivals(size: int, wanted: int) -> tuple[Ints, Ints]:
    """The newcomer of each tie in order, and the other end of the first of them: a full core, then
    the rest evenly.
    """
    core = min(size, 1 + math.ceil(wanted / size))
    while core < size and wanted - core * (core - 1) // 2 > core * (size - core):
        core += 1  # a newcomer cannot tie itself to more agents than there are
    core_ties = np.concatenate(
        [np.empty(0, dtype=np.int32), *(np.arange(c, dtype=np.int32) for c in range(1, core))]
    )
    core_ties = core_ties[:wanted]
    first = np.repeat(np.arange(core), np.arange(core))[:wanted]
    spread = np.linspace(0, wanted - core_ties.size, size - core + 1).round().astype(np.int64)
    later = np.repeat(np.arange(core, size), np.diff(spread))
    return np.concatenate([first, later]).astype(np.int32), core_ties


def attached(newcomer: Ints, core: Ints, rng: np.random.Generator) -> Ints:
    """The other end of every tie: in the core as given, after it drawn from the ends of the ties
    before the newcomer's.

    End 2i is the newcomer of tie i, end 2i + 1 its other end.
    """
    ties = np.arange(newcomer.size, dtype=np.int32)
    began = np.concatenate([[True], newcomer[1:] != newcomer[:-1]])[: newcomer.size]
    before = 2 * np.maximum.accumulate(
        np.where(began, ties, 0)
    )  # ends that stood when the newcomer came
    drawn = (rng.random(newcomer.size) * before).astype(np.int32)
    end = drawn.copy()
    following = np.flatnonzero((end & 1 == 1) & (end >> 1 >= core.size)).astype(np.int32)
    while (
        following.size
    ):  # half of the draws point at a newcomer and are done; the rest go one tie further back
        onward = drawn[end[following] >> 1]
        end[following] = onward
        following = following[(onward & 1 == 1) & (onward >> 1 >= core.size)]
    other: Ints = newcomer[end >> 1]
    at_core = np.flatnonzero(end & 1)
    other[at_core] = core[end[at_core] >> 1]
    other[: core.size] = core
    while (repeated := _repeats(newcomer, other)).size:
        end_again = (rng.random(repeated.size) * before[repeated]).astype(np.int32)
        other[repeated] = np.where(end_again & 1, other[end_again >> 1], newcomer[end_again >> 1])
    return other


def _repeats(newcomer: Ints, other: Ints) -> Ints:
    """Ties whose newcomer has the same tie already, a few entries before."""
    most = int(np.bincount(newcomer).max(initial=0))
    again = np.zeros(newcomer.size, dtype=np.bool_)
    for lag in range(1, most):
        again[lag:] |= (newcomer[lag:] == newcomer[:-lag]) & (other[lag:] == other[:-lag])
    return np.flatnonzero(again).astype(np.int32)


def most_tied(network: Network, count: int) -> Ints:
    """The `count` agents with most ties, in order of row; of equals the earlier row."""
    order = np.argsort(-network.degrees, kind="stable")[:count]
    return np.sort(order).astype(np.int32)


NETWORK = scale_free
