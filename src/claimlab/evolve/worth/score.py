"""Check-worthiness of claims: content value by the users who heard of a claim, propagation ability,
weighted.

Three readings by name. `paper`: depth at most 3, weights .5 and .5, one cascade. `released`: the
same, with fan-out 3 and every number rounded to one decimal on the way, as the published code does.
`free` is ours: nothing is rounded, everything can be set, and the mean is taken over several
cascades from users drawn at random, because one cascade that dies with its first user says little
of the claim. A score is a measure under stated conditions, and is fed back to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.features import Reader
from claimlab.evolve.society.engine import Ints, depth, size
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population
from claimlab.evolve.society.telling import Closest
from claimlab.evolve.worth.spread import Bounds, ability, spread
from claimlab.evolve.worth.values import DIMENSIONS, Background, Cues, Values, shifted

READINGS = ("free", "paper", "released")
CELLS = 1 << 22  # users times cascades at once


@dataclass(frozen=True)
class Perspective:
    """What counts: which content values, how much content weighs against propagation, where a yes
    begins.
    """

    dimensions: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 1.0))
    content: float = 0.5
    propagation: float = 0.5
    threshold: float | None = None
    bounds: Bounds = field(default_factory=Bounds)
    decimals: int | None = None  # null: nothing is rounded
    starts: int = 20  # cascades, each from another user drawn at random

    @classmethod
    def named(cls, reading: str, **changes: Any) -> Perspective:
        if reading not in READINGS:
            raise UnknownName("reading", reading, READINGS)
        settings = {"paper": cls(starts=1), "released": cls(decimals=1, starts=1)}
        base = settings.get(reading, cls())
        return replace(base, **{k: v for k, v in changes.items() if v is not None})

    def __post_init__(self) -> None:
        strange = [d for d in self.dimensions if d not in DIMENSIONS]
        if strange:
            raise UnknownName("content value", strange[0], DIMENSIONS)
        weights = [*self.dimensions.values(), self.content, self.propagation]
        if (
            min(weights) < 0
            or sum(self.dimensions.values()) <= 0
            or self.content + self.propagation <= 0
        ):
            raise UsageError(
                "Weights must not be negative, and not all zero.",
                "Give weights such as 0.5 and 0.5.",
            )

    def weights(self) -> npt.NDArray[np.float64]:
        raw = np.array([self.dimensions.get(d, 0.0) for d in DIMENSIONS])
        return np.asarray(raw / raw.sum())

    def rounded(self, value: float) -> float:
        return value if self.decimals is None else round(value, self.decimals)

    def combined(self, content: float, propagation: float) -> float:
        total = self.content * content + self.propagation * propagation
        return self.rounded(total / (self.content + self.propagation))


@dataclass(frozen=True)
class Society:
    """The users who judge: a population, their network, and the rows of those who count (null:
    all).
    """

    population: Population
    network: Network
    users: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, population: Population, network: Network, where: Mapping[str, str] | None = None
    ) -> Society:
        """Only users whose attributes have the values in `where`; a claim travels among them
        alone.
        """
        if not where:
            return cls(population, network)
        chosen = np.ones(population.size, dtype=bool)
        for attribute, value in where.items():
            known = population.values(attribute)
            if value not in known:
                raise UnknownName(f"value of '{attribute}'", value, known)
            chosen &= population.codes(attribute) == known.index(value)
        rows = np.flatnonzero(chosen)
        if not len(rows):
            raise UsageError("No user has all of these attributes.", "Ask for fewer of them.")
        return cls(Population.of(population.agents[rows]), induced(network, rows), rows)


def induced(network: Network, rows: npt.NDArray[np.int64]) -> Network:
    """The network among `rows` alone, renumbered."""
    number = np.full(network.size, -1, dtype=np.int64)
    number[rows] = np.arange(len(rows))
    inside = network.having((number[network.owners] >= 0) & (number[network.indices] >= 0))
    starts, others = (
        np.append(inside.indptr[rows], inside.indptr[-1]),
        number[inside.indices].astype(np.int32),
    )
    return replace(inside, indptr=starts, indices=others, hubs=network.hubs[:0])


def by_features(
    claims: Sequence[tuple[str, str]],
    society: Society,
    *,
    background: Background | None = None,
    perspective: Perspective | None = None,
    values: Values | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> pl.DataFrame:
    """(id, text) of claims to id, the six content values, content, depth, size, propagation, score
    (and worthy).
    """
    background, perspective = background or Background(), perspective or Perspective()
    values = values or Values.read()
    cues = Cues(values, Reader()).matrix([text for _, text in claims])
    shift = values.of_users(society.population) + values.of_background(background)
    closest = Closest(society.network, perspective.bounds.fan_out, seed=seed)
    at_once = max(1, CELLS // (perspective.starts * max(1, society.population.size)))
    rows: list[JsonObject] = []
    for first in range(0, len(claims), at_once):
        progress("scoring claims", first, len(claims))
        names = [name for name, _ in claims[first : first + at_once]]
        rows += _scores(
            names, cues[first : first + at_once], shift, closest, perspective, values, seed
        )
    progress("scoring claims", len(claims), len(claims))
    frame = pl.DataFrame(rows, schema=schema(), orient="row")
    if perspective.threshold is None:
        return frame
    return frame.with_columns((pl.col("score") >= perspective.threshold).alias("worthy"))


def schema() -> JsonObject:
    numbers = dict.fromkeys((*DIMENSIONS, "content"), pl.Float64)
    return {
        "id": pl.String,
        **numbers,
        "depth": pl.Float64,
        "size": pl.Float64,
        "propagation": pl.Float64,
        "score": pl.Float64,
    }


def _scores(
    names: Sequence[str],
    cues: npt.NDArray[np.float64],
    shift: npt.NDArray[np.float64],
    closest: Closest,
    perspective: Perspective,
    values: Values,
    seed: int,
) -> list[JsonObject]:
    """Each claim starts with users drawn at random; whoever hears it rates it and decides whether
    to pass it on.
    """
    users, times = len(shift), perspective.starts
    starts, willing = (
        np.empty((len(names), times), dtype=np.int64),
        np.empty((len(names) * times, users), dtype=bool),
    )
    ratings = []
    for i, name in enumerate(names):
        ratings.append(shifted(cues[i][None, :], shift[:, :-1]))
        rated = ratings[i] @ perspective.weights()
        leaning = values.forward["base"] + values.forward["rating"] * (rated - 0.5) + shift[:, -1]
        rng, chance = np.random.default_rng(stream_seed(seed, name)), 1 / (1 + np.exp(-leaning))
        for k in range(times):
            starts[i, k] = rng.integers(users)
            willing[i * times + k] = rng.random(users) < chance
    model = spread(starts.ravel(), closest, willing, perspective.bounds.depth)
    visits, depths, sizes = (
        model.visits(),
        depth(model).reshape(-1, times),
        size(model).reshape(-1, times),
    )
    ends = np.searchsorted(visits.claim, np.arange(1, len(names) + 1) * times)
    hearers = np.split(visits.agent, ends[:-1])
    return [
        {"id": name, **scored(ratings[i][hearers[i]], depths[i], sizes[i], users, perspective)}
        for i, name in enumerate(names)
    ]


def scored(
    ratings: npt.NDArray[np.float64],
    depths: Ints,
    sizes: Ints,
    population: int,
    perspective: Perspective,
) -> JsonObject:
    """The figures of one claim, from the ratings (users by dimensions) and the depths and sizes of
    its cascades.
    """
    if perspective.decimals is not None:
        ratings = np.round(ratings, perspective.decimals)
    means = [perspective.rounded(float(m)) for m in ratings.mean(axis=0)]
    content = perspective.rounded(float(np.array(means) @ perspective.weights()))
    propagation = perspective.rounded(
        float(np.mean(ability(depths, sizes, perspective.bounds, population)))
    )
    return {
        **dict(zip(DIMENSIONS, means, strict=True)),
        "content": content,
        "depth": float(np.mean(depths)),
        "size": float(np.mean(sizes)),
        "propagation": propagation,
        "score": perspective.combined(content, propagation),
    }
