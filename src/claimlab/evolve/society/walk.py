"""Claims on the move: many walkers take a step at once, and cascades spread one whole front after another.

A walker goes to a neighbour, each as likely as the other, and may come back. Where it has nowhere to go its path is -1
from there on: a walk that ended is not a walk that stayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab.evolve.society.network import Ints, Network, row_starts

ENDED = -1
_TOGETHER = 1 << 14  # random numbers drawn at once


def walk(
    network: Network, starts: Ints, steps: int, rng: np.random.Generator, within: NDArray[np.int32] | None = None
) -> Ints:
    """The paths of all walkers: int32[walkers, steps + 1], the start first, -1 after a path's end.

    `within` holds a code per agent (its group, say): a walker then only goes where the code is its own.
    """
    ground = network if within is None else inside(network, within)
    paths = np.full((steps + 1, len(starts)), ENDED, dtype=np.int32)  # a step is one row in memory
    paths[0] = starts
    first, degrees = ground.indptr[:-1], ground.degrees
    lonely = bool(ground.size) and int(degrees.min()) == 0
    for step, chance in enumerate(_chances(steps, len(starts), rng)):
        at = paths[step]
        if not lonely:
            paths[step + 1] = _picked(ground.indices, first[at], degrees[at], chance)
            continue
        going = np.flatnonzero(at != ENDED)
        going = going[degrees[at[going]] > 0]
        at = at[going]
        paths[step + 1, going] = _picked(ground.indices, first[at], degrees[at], chance[going])
    return np.ascontiguousarray(paths.T)


def meetings(network: Network, steps: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Step after step, a random neighbour of every agent at once: int32[agents]; -1 for an agent that has none."""
    first, degrees = network.indptr[:-1], network.degrees
    lonely = degrees == 0
    first = np.where(lonely, 0, first)
    for chance in _chances(steps, network.size, rng):
        met = _picked(network.indices, first, degrees, chance)
        if lonely.any():
            met[lonely] = ENDED
        yield met


def _chances(steps: int, each: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """`each` random whole numbers below 2^32 for every step; those of many short steps are drawn together."""
    together = max(1, _TOGETHER // max(each, 1))
    for start in range(0, steps, together):
        rows = min(together, steps - start)
        yield from rng.integers(0, 1 << 32, (rows, each), dtype=np.uint32).astype(np.int64)


def _picked(indices: Ints, first: NDArray[np.int64], degrees: NDArray[np.int64], chance: NDArray[np.int64]) -> Ints:
    """The neighbour that chance gives: the random number times the degree, without its lower half.

    That is as good as a division and far faster; the odds of two neighbours differ by less than degree / 2^32.
    """
    place = chance * degrees
    place >>= 32
    place += first
    chosen: Ints = indices[place]
    return chosen


def inside(network: Network, codes: NDArray[np.int32]) -> Network:
    """The network with only the ties between agents of one code."""
    owner = np.repeat(np.arange(network.size, dtype=np.int32), network.degrees)
    kept = codes[owner] == codes[network.indices]
    return replace(
        network,
        indptr=row_starts(network.size, owner[kept]),
        indices=network.indices[kept],
        tiers=None if network.tiers is None else network.tiers[kept],
        scores=None if network.scores is None else network.scores[kept],
    )


@dataclass(frozen=True, eq=False)
class Cascade:
    """Whom a claim reached, in order: the agent, who passed it on (-1 at a start), and after how many hops."""

    agents: Ints
    parents: Ints
    hops: Ints

    @property
    def size(self) -> int:
        return len(self.agents)

    @property
    def depth(self) -> int:
        return int(self.hops.max(initial=0))


def cascade(
    network: Network,
    starts: Ints,
    rng: np.random.Generator,
    *,
    depth: int | None = None,
    fan_out: int | None = None,
    probability: float = 1.0,
) -> Cascade:
    """Everyone a claim reaches: each agent passes it on once, to at most `fan_out` random neighbours, `depth` hops far.

    With `probability`, each of those passings happens or not. Who is reached twice at once has one parent, by chance.
    """
    if not 0 <= probability <= 1 or (fan_out is not None and fan_out < 1):
        raise UsageError(
            f"No claim spreads with probability {probability:g} and fan-out {fan_out}.",
            "Give a probability from 0 to 1 and a fan-out of at least 1.",
        )
    front = np.unique(np.asarray(starts, dtype=np.int32))
    reached = np.zeros(network.size, dtype=np.bool_)
    reached[front] = True
    fronts, parents = [front], [np.full(front.size, ENDED, dtype=np.int32)]
    while front.size and (depth is None or len(fronts) <= depth):
        giver, taker = _passed_on(network, front, fan_out, probability, rng)
        new = ~reached[taker]
        front, first = np.unique(taker[new], return_index=True)
        fronts.append(front)
        parents.append(giver[new][first])
        reached[front] = True
    hops = np.repeat(np.arange(len(fronts), dtype=np.int32), [f.size for f in fronts])
    return Cascade(np.concatenate(fronts), np.concatenate(parents), hops)


def _passed_on(
    network: Network, front: Ints, fan_out: int | None, probability: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Giver and taker of every passing from this front, in random order."""
    degrees = network.degrees[front]
    giver = np.repeat(np.arange(front.size), degrees)
    before = np.cumsum(degrees) - degrees
    place = np.arange(giver.size) - before[giver]
    taker = network.indices[network.indptr[front][giver] + place]
    order = rng.permutation(giver.size)
    if fan_out is not None:
        by_giver = order[np.argsort(giver[order], kind="stable")]  # each giver's neighbours, shuffled
        order = rng.permutation(by_giver[place < fan_out])  # `place` counts along each giver's own neighbours
    if probability < 1:
        order = order[rng.random(order.size) < probability]
    return front[giver[order]], taker[order]
