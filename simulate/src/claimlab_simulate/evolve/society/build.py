"""Build a network of a named kind over a population.

Networks are matched in density unless asked otherwise: a comparison of shapes whose densities
differ says nothing about the shapes (the released ones have mean degrees of 4.8, 4.6 and 12.0). A
Dunbar network has the density that its tiers give it; build the others with its `mean_degree`, or
it with theirs, to compare.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.registry import Registry
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.population import Population

NETWORKS: Registry[NetworkKind] = Registry(
    "kind of network",
    package="claimlab_simulate.evolve.society.networks",
    attribute="NETWORK",
    group="claimlab.networks",
)


class NetworkKind(Protocol):
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
    settable = inspect.getfullargspec(make).kwonlyargs
    for name in settings:
        if name not in settable:
            raise UnknownName(f"setting of the network '{kind}'", name, [*settable, "mean_degree"])
    network = make(population, np.random.default_rng(seed), mean_degree, **settings)
    origin = {"kind": network.kind, "seed": seed, "mean_degree": network.mean_degree}
    return replace(network, parameters={**origin, **network.parameters})
