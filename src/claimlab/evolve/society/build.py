"""Build a network of a named kind over a population.

Networks are matched in density unless asked otherwise: a comparison of shapes whose densities
differ says nothing about the shapes (the released ones have mean degrees of 4.8, 4.6 and 12.0). A
Dunbar network has the density that its tiers give it; build the others with its `mean_degree`, or
it with theirs, to compare.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UnknownName, UnreadableFile, UsageError
from claimlab.core.registry import Registry
from claimlab.core.settings import read
from claimlab.evolve.society.files import read_network
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population

MEAN_DEGREE = (
    6.0  # between the released random (4.8) and clustered (12.0) networks; what peers are timed at
)


class Kind(Protocol):
    """What NETWORK is: a function that makes the network. Its keyword arguments are the settings of
    the kind.
    """

    def __call__(
        self,
        population: Population,
        rng: np.random.Generator,
        mean_degree: float | None,
        **settings: Any,
    ) -> Network: ...


NETWORKS: Registry[Kind] = Registry(
    "kind of network",
    package="claimlab.evolve.society.networks",
    attribute="NETWORK",
    group="claimlab.networks",
)


def build(
    kind: str,
    population: Population,
    *,
    seed: int,
    mean_degree: float | None = None,
    **settings: Any,
) -> Network:
    """A network of `kind`; `mean_degree` null: the default that all kinds share (Dunbar: what its
    tiers give).
    """
    if mean_degree is not None and not 0 < mean_degree < population.size:
        raise UsageError(
            f"{population.size} agents cannot have {mean_degree:g} ties each.",
            f"Ask for a mean degree above 0 and below {population.size}.",
        )
    make = NETWORKS.get(kind)
    known = [
        p.name for p in inspect.signature(make).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    for name in settings:
        if name not in known:
            raise UnknownName(f"setting of the network '{kind}'", name, [*known, "mean_degree"])
    network = make(population, np.random.default_rng(seed), mean_degree, **settings)
    return replace(
        network,
        parameters={
            "kind": network.kind,
            "seed": seed,
            "mean_degree": network.mean_degree,
            **network.parameters,
        },
    )


def edges_wanted(size: int, mean_degree: float | None) -> int:
    """How many ties give that mean degree, never more than there are pairs."""
    wanted = MEAN_DEGREE if mean_degree is None else mean_degree
    return min(round(size * wanted / 2), size * (size - 1) // 2)


Keys = NDArray[np.int64]
_SPARE = 1.02  # drawn beyond what is wanted, so that one round is usually enough


def distinct_keys(
    wanted: int, draw: Callable[[int], Keys], rng: np.random.Generator, possible: int
) -> Keys:
    """`wanted` different keys, sorted; `draw(n)` gives n keys, repeats among them, each possible
    key as likely.
    """
    if wanted > possible:
        raise UsageError(
            f"There are {possible:,} pairs for {wanted:,} ties.",
            "Ask for a smaller mean degree, or more agents.",
        )
    held: Keys = np.empty(0, dtype=np.int64)
    while held.size < wanted:
        share = max(1.0 - held.size / possible, 1 / possible)  # of draws that are new
        more = draw(int((wanted - held.size) / share * _SPARE) + 8)
        held = unique_sorted(np.concatenate([held, more]) if held.size else more)
    if held.size == wanted:
        return held
    surplus = np.zeros(held.size, dtype=np.bool_)
    surplus[rng.choice(held.size, held.size - wanted, replace=False, shuffle=False)] = True
    return held[~surplus]


def unique_sorted(keys: Keys) -> Keys:
    keys.sort()
    keep = np.empty(keys.size, dtype=np.bool_)
    keep[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys if keep.all() else keys[keep]


def ordered_pairs(
    size: int, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """`count` pairs of different rows, each unordered pair as likely, the smaller row first;
    repeats may occur.
    """
    first = rng.integers(0, size, count, dtype=np.int32)
    second = rng.integers(0, size - 1, count, dtype=np.int32)
    second += second >= first
    return np.minimum(first, second), np.maximum(first, second)


# A society from words: who the agents are and who talks to whom, as files (ARCHIVE#MEMBER) or made
# for the run.


AGENTS = 90  # as many as the released society has


def open_population(population: str | int | None, seed: int) -> Population:
    """A file of agents, or so many drawn from the released shares."""
    words = str(AGENTS if population is None else population)
    if words.isdigit():
        size = int(words)
        if size < 2:
            raise UsageError(
                f"A population of {size} is too small: agents talk to each other.",
                "Ask for two or more.",
            )
        return Population.draw(size, seed)
    path, _, member = words.partition("#")
    return Population.read(path, member or None)


def open_network(
    network: str, people: Population, seed: int, mean_degree: float | None = None
) -> Network:
    """A file of ties, or one of a kind made for these agents; the kind may have settings:
    "scale-free:hubs=3".
    """
    path, _, member = network.partition("#")
    if not Path(path).exists():
        kind, _, words = network.partition(":")
        if Path(kind).suffix or "/" in kind:
            raise UnreadableFile(
                f"There is no file '{path}'.", "Check the path, or name a kind of network."
            )
        settings = read(
            NETWORKS.get(kind), words.split(",") if words else (), of=f"the network '{kind}'"
        )
        return build(kind, people, seed=seed, mean_degree=mean_degree, **settings)
    if mean_degree is not None:
        raise UsageError(
            f"The network '{network}' is a file and has its density.", "Leave out `mean_degree`."
        )
    return read_network(path, people, member or None)
