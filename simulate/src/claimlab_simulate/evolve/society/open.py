"""A society from words: who the agents are and who talks to whom, as files (ARCHIVE#MEMBER) or made
for the run.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.settings import read
from claimlab_simulate.evolve.society.build import NETWORKS, build
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.network_files import read_network
from claimlab_simulate.evolve.society.population import Population

RELEASED_AGENTS = 90  # as many as the released society has


def open_population(population: str | int | None, seed: int) -> Population:
    """A file of agents, or so many drawn from the released shares."""
    words = str(RELEASED_AGENTS if population is None else population)
    if words.isdigit():
        size = int(words)
        if size < 2:
            raise UsageError(
                f"A population of {size} is too small: agents talk to each other.",
                "Ask for two or more.",
            )
        return Population.draw(size, seed)
    return Population.read(words)


def open_network(
    network: str, people: Population, seed: int, mean_degree: float | None = None
) -> Network:
    """A file of ties, or one of a kind made for these agents; the kind may have settings:
    "scale-free:hubs=3".
    """
    path, _, _ = network.partition("#")
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
    return read_network(network, people)
