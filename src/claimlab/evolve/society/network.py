"""Who talks to whom, as compressed rows: `indices[indptr[i]:indptr[i + 1]]` are the neighbours of
agent i, in order.

A network is undirected: a tie is in both rows. No agent is its own neighbour, and no tie occurs
twice. Where ties have tiers (Dunbar), the tier is one-sided, as people's is: i may hold j close
while j holds i at arm's length.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import DataError, SchemaError, UnknownName, UnreadableFile, UsageError
from claimlab.core.registry import Registry
from claimlab.core.settings import read
from claimlab.core.types import JsonObject
from claimlab.evolve.member import open_member
from claimlab.evolve.society.population import Population
from claimlab.files.read import user_table
from claimlab.files.tables import read_json

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TIERS = (
    "named by the other only",
    "strong",
    "moderate",
)  # what `tiers` stand for; strangers are the weak tier
_NONE: Ints = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Network:
    """`kind` is a name of the registry NETWORKS ("random", "scale-free", ...), or "file" for one
    that none made.

    `tiers` and `scores`, where a network has them, are parallel to `indices`: how the agent of the
    row holds the other (an index into TIERS), and how alike the two are.
    """

    indptr: Longs
    indices: Ints
    kind: str
    hubs: Ints = field(default_factory=lambda: _NONE)
    parameters: JsonObject = field(default_factory=dict)
    tiers: NDArray[np.int8] | None = None
    scores: NDArray[np.float32] | None = None

    @property
    def size(self) -> int:
        return len(self.indptr) - 1

    @property
    def edges(self) -> int:
        return len(self.indices) // 2

    @property
    def mean_degree(self) -> float:
        return len(self.indices) / self.size if self.size else 0.0

    @property
    def degrees(self) -> Longs:
        return np.diff(self.indptr)

    def neighbours(self, agent: int) -> Ints:
        return self.indices[self.indptr[agent] : self.indptr[agent + 1]]

    def named(self, agent: int, tier: str) -> Ints:
        """Those whom `agent` holds in a tier ("strong" or "moderate")."""
        if self.tiers is None:
            raise DataError(
                f"A {self.kind} network has no tiers.", "Build or read a Dunbar network."
            )
        row = slice(self.indptr[agent], self.indptr[agent + 1])
        held: Ints = self.indices[row][self.tiers[row] == TIERS.index(tier)]
        return held

    @property
    def owners(self) -> Ints:
        """Whose row each entry of `indices` is in."""
        return np.repeat(np.arange(self.size, dtype=np.int32), self.degrees)

    def having(self, entries: Flags) -> Network:
        """The same agents with these entries of `indices` only."""
        tiers = None if self.tiers is None else self.tiers[entries]
        scores = None if self.scores is None else self.scores[entries]
        indptr = row_starts(self.size, self.owners[entries])
        return replace(
            self, indptr=indptr, indices=self.indices[entries], tiers=tiers, scores=scores
        )

    @classmethod
    def of_edges(
        cls, size: int, source: Ints, target: Ints, kind: str = "file", **more: Any
    ) -> Network:
        """A network from ties in any order; repeats count once, ties of an agent to itself not at
        all.
        """
        indptr, indices = compressed(size, source, target)
        return cls(indptr, indices, kind, **more)


def compressed(size: int, source: Ints, target: Ints) -> tuple[Longs, Ints]:
    """Ties as compressed rows: both directions, sorted, without loops and repeats."""
    # one sort of whole numbers does ordering, grouping and finding repeats
    keys = unique_sorted(np.concatenate([pair_keys(source, target), pair_keys(target, source)]))
    owner, other = (keys >> 32).astype(np.int32), keys.astype(np.int32)  # the low half
    if (loops := owner == other).any():
        owner, other = owner[~loops], other[~loops]
    return row_starts(size, owner), other


def row_starts(size: int, owner: Ints | Longs) -> Longs:
    """Where each agent's row begins, from the owner of each entry."""
    indptr = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=size), out=indptr[1:])
    return indptr


def pair_keys(first: Ints, second: Ints) -> Longs:
    """Two row numbers as one whole number that sorts by the first, then by the second."""
    keys = first.astype(np.int64)
    keys <<= 32
    keys |= second
    return keys


# Network files: the released JSON layouts as they are, or any table of ties.
#
# Two layouts are released: nodes and edges (with a mark on hubs), and for the Dunbar network each
# agent's own list of strong and moderate ties with how alike the two are.

KINDS = {"random": "random", "scale_free": "scale-free", "high_clustering_by_group": "clustered"}
_LAYOUTS = (
    "Give nodes and edges, strong and moderate ties by agent, or a table with columns source and"
    " target."
)


def read_network(path: str | Path, population: Population) -> Network:
    """Ties from a file, or from one inside a zip or folder (ARCHIVE#MEMBER)."""
    with open_member(path) as (bundle, name):
        source = {"file": name, "inputs": bundle.hashes()}
        if not name.lower().endswith(".json"):
            frame = user_table(bundle, "source", "target", member=name)
            if not {"source", "target"} <= set(frame.columns):
                raise SchemaError(f"'{name}' has no columns source and target.", _LAYOUTS)
            return _tied(population, frame.select("source", "target").rows(), source)
        content = read_json(bundle.text(name), name)
    try:
        if isinstance(content, dict) and "edges" in content:
            return _nodes_and_edges(content, population, source)
        if isinstance(content, dict) and content:
            return _tiers(content, population, source)
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"'{name}' is not a network: it lacks {error}.", _LAYOUTS) from None
    raise SchemaError(f"'{name}' is not a network.", _LAYOUTS)


def _nodes_and_edges(
    content: Mapping[str, Any], population: Population, source: JsonObject
) -> Network:
    nodes = content.get("nodes", ())
    population.positions(node["id"] for node in nodes)  # raises on a stranger
    hubs = np.sort(population.positions(node["id"] for node in nodes if node.get("hub")))
    kind = str(content.get("network_type", "file"))
    ties = [(tie["source"], tie["target"]) for tie in content["edges"]]
    return replace(_tied(population, ties, source), kind=KINDS.get(kind, kind), hubs=hubs)


def _tied(population: Population, ties: list[tuple[str, str]], source: JsonObject) -> Network:
    one, other = (population.positions(tie[end] for tie in ties) for end in (0, 1))
    return Network.of_edges(population.size, one, other, parameters=source)


def _tiers(content: Mapping[str, Any], population: Population, source: JsonObject) -> Network:
    ties = {
        (who, tie["id"]): (TIERS.index(tier), tie["score"])
        for who, held in content.items()
        for tier in TIERS[1:]
        for tie in held[tier]
    }
    # Every tie is in both rows, its tier only in the row of the one who named it.
    for (who, other), (_, score) in list(ties.items()):
        ties.setdefault((other, who), (0, score))
    owners, others = (population.positions(pair[end] for pair in ties) for end in (0, 1))
    order = np.lexsort((others, owners))
    marks = np.array(list(ties.values())).reshape(-1, 2)[order]
    return Network(
        row_starts(population.size, owners),
        others[order],
        "dunbar",
        parameters=source,
        tiers=marks[:, 0].astype(np.int8),
        scores=marks[:, 1].astype(np.float32),
    )


# Build a network of a named kind over a population.
#
# Networks are matched in density unless asked otherwise: a comparison of shapes whose densities
# differ says nothing about the shapes (the released ones have mean degrees of 4.8, 4.6 and 12.0). A
# Dunbar network has the density that its tiers give it; build the others with its `mean_degree`, or
# it with theirs, to compare.

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
    known = inspect.getfullargspec(make).kwonlyargs
    for name in settings:
        if name not in known:
            raise UnknownName(f"setting of the network '{kind}'", name, [*known, "mean_degree"])
    network = make(population, np.random.default_rng(seed), mean_degree, **settings)
    origin = {"kind": network.kind, "seed": seed, "mean_degree": network.mean_degree}
    return replace(network, parameters={**origin, **network.parameters})


def edges_wanted(size: int, mean_degree: float | None) -> int:
    """How many ties give that mean degree, never more than there are pairs."""
    wanted = MEAN_DEGREE if mean_degree is None else mean_degree
    return min(round(size * wanted / 2), size * (size - 1) // 2)


_SPARE = 1.02  # drawn beyond what is wanted, so that one round is usually enough


def distinct_keys(
    wanted: int, draw: Callable[[int], Longs], rng: np.random.Generator, possible: int
) -> Longs:
    """`wanted` different keys, sorted; `draw(n)` gives n keys, repeats among them, each possible
    key as likely.
    """
    if wanted > possible:
        raise UsageError(
            f"There are {possible:,} pairs for {wanted:,} ties.",
            "Ask for a smaller mean degree, or more agents.",
        )
    held: Longs = np.empty(0, dtype=np.int64)
    while held.size < wanted:
        share = max(1.0 - held.size / possible, 1 / possible)  # of draws that are new
        more = draw(int((wanted - held.size) / share * _SPARE) + 8)
        held = unique_sorted(np.concatenate([held, more]) if held.size else more)
    if held.size == wanted:
        return held
    surplus = np.zeros(held.size, dtype=np.bool_)
    surplus[rng.choice(held.size, held.size - wanted, replace=False, shuffle=False)] = True
    return held[~surplus]


def unique_sorted(keys: Longs) -> Longs:
    keys.sort()
    keep = np.empty(keys.size, dtype=np.bool_)
    keep[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys if keep.all() else keys[keep]


def ordered_pairs(size: int, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
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
