"""Dunbar tiers: every agent names a few strong and some moderate ties, those most like it; all
others are weak.

The tiers are those of the released network: 4 to 7 strong ties and 12 to 20 moderate ones, each
number as likely. There likeness was measured by an embedding model; here it is the share of
attributes in common. Of equally alike agents some are taken by chance. Naming is one-sided
(`Network.tiers`); for a walk a tie is a tie, whoever named it, so the mean degree is above the 21.5
that are named on average (27 among 90 agents, 42 among a million). Asked for a mean degree, it
keeps the ties of those most alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab_simulate.evolve.society.likeness import Bytes, Profiles, profiles
from claimlab_simulate.evolve.society.network import (
    TIERS,
    Flags,
    Ints,
    Longs,
    Network,
    pair_keys,
    row_starts,
)
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import edges_wanted

STRONG, MODERATE = (4, 7), (12, 20)
_CELLS = 1 << 22  # pairs of profiles looked at together
_AGENTS = 1 << 12  # agents looked at together
_TIER_OF = np.array([0, 1, 2, 0], dtype=np.int8)  # 3: named by the other


def make(
    population: Population,
    rng: np.random.Generator,
    mean_degree: float | None,
    *,
    strong: Sequence[int] = STRONG,
    moderate: Sequence[int] = MODERATE,
    attributes: Sequence[str] | None = None,
) -> Network:
    size = population.size
    alike = profiles(population, list(attributes or population.attributes), rng)
    few = _numbers(strong, size, rng)
    named = np.minimum(few + _numbers(moderate, size, rng), size - 1)
    other, common = closest(alike, named, rng)
    owner = np.repeat(np.arange(size, dtype=np.int32), named)
    tier = np.where(
        ranks(named) < np.repeat(few, named), TIERS.index("strong"), TIERS.index("moderate")
    )
    indptr, indices, tiers, shared = both_ways(size, owner, other, tier, common)
    parameters = {"strong": list(strong), "moderate": list(moderate), "profiles": len(alike.sizes)}
    scores = shared.astype(np.float32) / np.float32(alike.attributes)
    whole = Network(indptr, indices, "dunbar", parameters=parameters, tiers=tiers, scores=scores)
    return whole if mean_degree is None else _thinned(whole, edges_wanted(size, mean_degree), rng)


@dataclass(frozen=True)
class _Search:
    """What is known of every agent while its ties are found, and the ties and their likeness,
    filled in as they are.
    """

    alike: Profiles
    named: Longs  # how many ties it names
    first: Longs  # where its ties begin in `found`
    seat: Longs  # its place among the agents of its own profile
    answers: Ints
    common: Bytes  # attributes in common

    def entries(self, agents: Longs) -> tuple[Longs, Longs, Longs]:
        """For the ties of `agents`: where they stand, which of `agents` each belongs to, and its
        rank there.
        """
        counts = self.named[agents]
        rank, asker = ranks(counts), np.repeat(np.arange(agents.size), counts)
        return self.first[agents][asker] + rank, asker, rank


def closest(alike: Profiles, named: Longs, rng: np.random.Generator) -> tuple[Ints, Bytes]:
    """The named[i] agents most like agent i, most alike first, agent after agent; and the
    attributes in common.
    """
    size, total = len(named), int(named.sum())
    seat = np.empty(size, dtype=np.int64)
    seat[alike.members] = np.arange(size) - alike.starts[alike.of[alike.members]]
    answers, common = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.uint8)
    search = _Search(alike, named, np.cumsum(named) - named, seat, answers, common)
    enough = alike.sizes[alike.of] > named  # its own profile has all it names
    rich = np.flatnonzero(enough)
    for part in np.array_split(rich, rich.size // _AGENTS + 1):
        _among_own(search, part, rng)
    poor = np.unique(alike.of[~enough])
    rows = max(1, _CELLS // len(alike.sizes))
    for start in range(0, poor.size, rows):
        _further_away(search, poor[start : start + rows], ~enough, rng)
    return answers, common


def _among_own(search: _Search, agents: Longs, rng: np.random.Generator) -> None:
    alike = search.alike
    entry, asker, rank = search.entries(agents)
    own = alike.of[agents]
    place = spaced(rank, search.named[agents], alike.sizes[own] - 1, asker, rng)
    place += place >= search.seat[agents][asker]  # all but oneself
    search.answers[entry] = alike.members[place + alike.starts[own][asker]]
    search.common[entry] = alike.known[own][asker]


def _further_away(search: _Search, wanted: Ints, poor: Flags, rng: np.random.Generator) -> None:
    """Agents of the `wanted` profiles: first those of their own profile, then profile after
    profile, by likeness.
    """
    alike, sizes = search.alike, search.alike.sizes
    row_of = np.full(len(sizes), -1)
    row_of[wanted] = np.arange(wanted.size)
    same = alike.shared(wanted)
    ladder = same.copy()
    ladder[np.arange(wanted.size), wanted] = (
        alike.attributes
    )  # one's own come first, even where partly unknown
    order = _by_likeness(ladder, alike.attributes, rng)
    upto = np.cumsum(sizes[order], axis=1)
    as_alike = _as_alike(ladder, sizes, alike.attributes) - 1  # without oneself

    agents = np.flatnonzero(poor & (row_of[alike.of] >= 0))
    row, named = row_of[alike.of[agents]], search.named[agents]
    level = (as_alike[row] >= named[:, None]).sum(axis=1) - 1  # the likeness of the last one named
    certain = as_alike[row, level + 1]  # all who are more alike than that
    entry, asker, rank = search.entries(agents)
    chosen = spaced(
        rank - certain[asker], named - certain, as_alike[row, level] - certain, asker, rng
    )
    place = np.where(rank < certain[asker], rank, certain[asker] + chosen)
    place += place >= search.seat[agents][asker]
    above = np.arange(wanted.size) * (
        len(search.named) + 1
    )  # lifts each row over the one before: one search does all
    where = np.searchsorted((upto + above[:, None]).ravel(), place + above[row][asker], "right")
    profile = order.ravel()[where]
    search.answers[entry] = alike.members[
        alike.starts[profile] + place - (upto.ravel()[where] - sizes[profile])
    ]
    search.common[entry] = same[row[asker], profile]


def _as_alike(ladder: Bytes, sizes: Longs, most: int) -> Longs:
    """How many agents have at least so much in common with each wanted profile: [wanted, 0 ...
    most].
    """
    wanted, steps = len(ladder), most + 1
    places = np.arange(wanted)[:, None] * steps + ladder
    weights = np.tile(sizes, wanted)
    exactly = np.bincount(places.ravel(), weights, wanted * steps).reshape(wanted, steps)
    from_the_top = exactly[:, ::-1].cumsum(axis=1)
    least: Longs = from_the_top[:, ::-1].astype(np.int64)
    return least


def spaced(
    rank: Longs, wanted: Longs, pool: Longs, asker: Longs, rng: np.random.Generator
) -> Longs:
    """Different places in a pool for the entries of every agent: the pool is cut into as many parts
    as are wanted, and one place is drawn in each; which part an entry gets begins anywhere. `rank`
    below 0 gives nothing of use.
    """
    turn = (rng.random(wanted.size) * wanted).astype(np.int64)
    parts = np.maximum(wanted, 1)[asker]
    part = rank + turn[asker]
    part -= np.where(part >= parts, parts, 0)
    low = part * pool[asker] // parts
    width = (part + 1) * pool[asker] // parts - low
    low += (rng.random(rank.size) * width).astype(np.int64)
    return low


def ranks(counts: Longs) -> Longs:
    """0, 1, 2, ... for every agent's own entries, which stand one agent after the other."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if counts.size else 0) - np.repeat(ends - counts, counts)


def both_ways(
    size: int, owner: Ints, other: Ints, tier: Longs, common: Bytes
) -> tuple[Longs, Ints, NDArray[np.int8], Bytes]:
    """Rows, neighbours, tiers, attributes in common: a tie is in both rows, its tier where it was
    named.

    All four travel in one whole number, because sorting those is what the processor does best: 28
    bits for each agent, 2 for the tier (3: named by the other; of two entries for one tie the
    lowest stays), 5 for the attributes.
    """
    first, second = owner.astype(np.int64), other.astype(np.int64)
    there = (((((first << 28) | second) << 2) | tier) << 5) | common
    back = (((((second << 28) | first) << 2) | 3) << 5) | common
    keys = np.concatenate([there, back])
    keys.sort()
    new = np.ones(keys.size, dtype=np.bool_)
    new[1:] = (keys[1:] ^ keys[:-1]) >> 7 != 0
    ties = keys[new]
    others = ((ties >> 7) & ((1 << 28) - 1)).astype(np.int32)
    shared = (ties & 31).astype(np.uint8)
    return row_starts(size, ties >> 35), others, _TIER_OF[(ties >> 5) & 3], shared


def _by_likeness(same: Bytes, most: int, rng: np.random.Generator) -> Longs:
    """Profiles in each row from the most to the least alike; equals by chance. Small whole numbers
    sort fastest.
    """
    spare = 16 - (most + 1).bit_length()
    chance = rng.integers(0, 1 << spare, same.shape, dtype=np.uint16)
    own = same == most
    key = ((most - same).astype(np.uint16) << spare) | chance
    key[own] = 0
    key[~own & (key == 0)] = 1
    return np.argsort(key, axis=1, kind="stable")


def _numbers(bounds: Sequence[int], size: int, rng: np.random.Generator) -> Longs:
    low, high = bounds
    if not 0 <= low <= high:
        raise UsageError(
            f"No agent has {low} to {high} ties of a tier.",
            "Give the least and the most, such as 4, 7.",
        )
    return rng.integers(low, high + 1, size)


def _thinned(network: Network, wanted: int, rng: np.random.Generator) -> Network:
    """The same network with only the `wanted` ties of those most alike; equals by chance."""
    if wanted > network.edges:
        raise UsageError(
            f"These tiers give a mean degree of {network.mean_degree:.1f}, not more.",
            "Widen `strong` or `moderate`.",
        )
    assert network.scores is not None
    owner = network.owners
    low = np.flatnonzero(owner < network.indices)
    best = low[np.lexsort((rng.random(low.size), -network.scores[low]))[:wanted]]
    chosen = np.concatenate(
        [
            pair_keys(owner[best], network.indices[best]),
            pair_keys(network.indices[best], owner[best]),
        ]
    )
    return network.having(np.isin(pair_keys(owner, network.indices), chosen))


NETWORK = make
