"""Check-worthiness of claims: content value by the users who heard of a claim, propagation ability, weighted.

Three readings by name. `paper`: depth at most 3, weights .5 and .5, one cascade. `released`: the same, with
fan-out 3 and every number rounded to one decimal on the way, as the published code does. `free` is ours: nothing is
rounded, everything can be set, and the mean is taken over several cascades from users drawn at random, because one
cascade that dies with its first user says little of the claim. A score is a measure under stated conditions, and is fed
back to nothing.
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
from claimlab.evolve.drift.features import Reader
from claimlab.evolve.society.engine import Model, depth, size
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population
from claimlab.evolve.worth.spread import Bounds, Ties, ability, spread
from claimlab.evolve.worth.values import DIMENSIONS, Background, Cues, Values, shifted

READINGS = ("free", "paper", "released")


@dataclass(frozen=True)
class Perspective:
    """What counts: which content values, how much content weighs against propagation, where a yes begins."""

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
        if min(weights) < 0 or sum(self.dimensions.values()) <= 0 or self.content + self.propagation <= 0:
            raise UsageError("Weights must not be negative, and not all zero.", "Give weights such as 0.5 and 0.5.")

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
    """The users who judge: a population, their network, and the rows of those who count (null: all)."""

    population: Population
    network: Network
    users: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, population: Population, network: Network, where: Mapping[str, str] | None = None) -> Society:
        """Only users whose attributes have the values in `where`; a claim travels among them alone."""
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
    owner = np.repeat(np.arange(network.size), network.degrees)
    keep = (number[owner] >= 0) & (number[network.indices] >= 0)
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.bincount(number[owner[keep]], minlength=len(rows)), out=indptr[1:])
    indices = number[network.indices[keep]].astype(np.int32)
    tiers = None if network.tiers is None else network.tiers[keep]
    scores = None if network.scores is None else network.scores[keep]
    return replace(network, indptr=indptr, indices=indices, hubs=network.hubs[:0], tiers=tiers, scores=scores)


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
    """(id, text) of claims to id, the six content values, content, depth, size, propagation, score (and worthy)."""
    background, perspective = background or Background(), perspective or Perspective()
    values = values or Values.read()
    cues = Cues(values, Reader()).matrix([text for _, text in claims])
    shift = values.of_users(society.population) + values.of_background(background)
    ties = Ties(society.network, seed=seed)
    rows = []
    for i, (name, _) in enumerate(claims):
        rows.append({"id": name, **_one(name, cues[i], shift, ties, society, perspective, values, seed)})
        if i % 50 == 0:
            progress("scoring claims", i, len(claims))
    progress("scoring claims", len(claims), len(claims))
    frame = pl.DataFrame(rows, schema=schema(), orient="row")
    if perspective.threshold is None:
        return frame
    return frame.with_columns((pl.col("score") >= perspective.threshold).alias("worthy"))


def schema() -> dict[str, Any]:
    numbers = dict.fromkeys((*DIMENSIONS, "content"), pl.Float64)
    return {
        "id": pl.String,
        **numbers,
        "depth": pl.Float64,
        "size": pl.Float64,
        "propagation": pl.Float64,
        "score": pl.Float64,
    }


def _one(
    name: str,
    cues: npt.NDArray[np.float64],
    shift: npt.NDArray[np.float64],
    ties: Ties,
    society: Society,
    perspective: Perspective,
    values: Values,
    seed: int,
) -> dict[str, Any]:
    """One claim: it starts with users drawn at random; whoever hears it rates it and decides whether to pass it on."""
    rng = np.random.default_rng(stream_seed(seed, name))
    users = society.population.size
    weights = perspective.weights()
    ratings = shifted(cues[None, :], shift[:, :-1])
    leaning = values.forward["base"] + values.forward["rating"] * (ratings @ weights - 0.5) + shift[:, -1]
    willing = 1 / (1 + np.exp(-leaning))
    models = []
    for _ in range(perspective.starts):
        start, passes = int(rng.integers(users)), rng.random(users) < willing
        models.append(spread(start, ties, passes.__getitem__, perspective.bounds))
    heard = ratings[[visit.agent for model in models for visit in model.visits]]
    return scored(heard, models, users, perspective)


def scored(
    heard: npt.NDArray[np.float64], models: Sequence[Model], population: int, perspective: Perspective
) -> dict[str, Any]:
    """The figures of one claim, from the ratings (users by dimensions) and the cascades."""
    if perspective.decimals is not None:
        heard = np.round(heard, perspective.decimals)
    means = [perspective.rounded(float(m)) for m in heard.mean(axis=0)]
    content = perspective.rounded(float(np.array(means) @ perspective.weights()))
    reached = [ability(model, perspective.bounds, population) for model in models]
    propagation = perspective.rounded(float(np.mean(reached)))
    return {
        **dict(zip(DIMENSIONS, means, strict=True)),
        "content": content,
        "depth": float(np.mean([depth(model) for model in models])),
        "size": float(np.mean([size(model) for model in models])),
        "propagation": propagation,
        "score": perspective.combined(content, propagation),
    }
