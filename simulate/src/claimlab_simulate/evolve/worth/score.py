"""Check-worthiness of claims: content value by the users who heard of a claim, propagation ability,
weighted.

A model plays each user who hears a claim, rates it, and decides whether to pass it on. All claims
advance together, depth by depth, so that the model is asked many questions at once. A refusal or a
reply that cannot be read is null: that user gives no rating and passes nothing on, and the tally
counts it.

Whoever passes a claim on tells at most `fan_out` others, the closest first: strong ties, then
moderate ones, then anyone else. Those who have it already are not told again. Depth and fan-out
bound the reach: with depth 3 and fan-out 3, at most 40 users hear of it (1 + 3 + 9 + 27), so in a
population of 90 the size cannot pass .44, and propagation ability cannot pass .72. That is the
published setting; both bounds are free here, and `ceiling` says where they leave the score.

Readings by name. `paper`: depth at most 3, weights .5 and .5. `released`: the same, with every
number rounded to one decimal on the way, as the published code does. `free` is ours: nothing is
rounded, and everything can be set. A score is a measure under stated conditions, and is fed back to
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.core import packaged
from claimlab.core.errors import DataError, UnknownName, UsageError, check_name
from claimlab.core.stats.interval import unit_interval
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab.llm.judge import JudgeCase, ModelJudge, Reasoned
from claimlab.llm.messages import untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab_simulate.evolve.society.engine import Model, depth, size
from claimlab_simulate.evolve.society.network import Floats, Longs, Network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.telling import Closest

READINGS = ("free", "paper", "released")
DIMENSIONS = ("public_interest", "controversy", "elites", "proximity", "novelty", "difficulty")
ALL = "no condition"
READ = 1_500  # characters of a claim
MAX_TOKENS = 300
PROMPT = "worth"
Claims = Sequence[tuple[str, str]]  # id and text


@cache
def values() -> JsonObject:
    """What users are asked, and the values that a background can have."""
    return packaged.toml("claimlab_simulate.evolve.worth", "values.toml")


@dataclass(frozen=True)
class Background:
    """The social environment in which a claim is judged; the first value of each is the everyday
    one.
    """

    time_node: str = "normal"
    regulatory_pressure: str = "low"
    trust_climate: str = "high"

    def __post_init__(self) -> None:
        for condition, value in vars(self).items():
            valid = values()["background"][condition]
            check_name(condition.replace("_", " "), value, valid)

    @classmethod
    def parse(cls, text: str | None) -> Background:
        """`time_node=sensitive,trust_climate=low`; what is not named is the everyday value."""
        choices = {name: value for name, _, value in _parts(text) if name}
        for name in choices:
            check_name("condition of the background", name, values()["background"])
        return cls(**choices)

    def __str__(self) -> str:
        return ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in vars(self).items())


def _parts(text: str | None) -> list[list[str]]:
    """`a=1,b` as name, equals sign and value."""
    return [[word.strip() for word in part.partition("=")] for part in (text or "").split(",")]


def weights_of(text: str) -> dict[str, float]:
    """`controversy=2,novelty`: what has no number weighs 1."""
    weights = {}
    for name, _, weight in _parts(text):
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise UsageError(
                f"'{weight}' is not a valid weight.", "Write NAME=NUMBER, such as controversy=2."
            ) from None
    return weights


@dataclass(frozen=True)
class Perspective:
    """What counts: which content values, how much content weighs against propagation, where a yes
    begins, how far a cascade may go.
    """

    dimensions: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 1.0))
    content: float = 0.5
    propagation: float = 0.5
    threshold: float | None = None
    depth: int = 3
    fan_out: int = 3
    decimals: int | None = None  # null: nothing is rounded

    @classmethod
    def named(cls, reading: str, **changes: object) -> Perspective:
        check_name("reading", reading, READINGS)
        settings: JsonObject = {k: v for k, v in changes.items() if v is not None}
        return cls(decimals=1 if reading == "released" else None, **settings)

    def __post_init__(self) -> None:
        strange = [d for d in self.dimensions if d not in DIMENSIONS]
        if strange:
            raise UnknownName("content value", strange[0], DIMENSIONS)
        parts = self.dimensions.values(), (self.content, self.propagation)
        if any(min(weights) < 0 or sum(weights) <= 0 for weights in parts):
            raise UsageError(
                "Weights must not be negative, and not all zero.",
                "Give weights such as 0.5 and 0.5.",
            )

    @property
    def most_reached(self) -> int:
        return sum(self.fan_out**d for d in range(self.depth + 1))

    def ability(self, depth: int, size: int, population: int) -> float:
        """Mean of depth over the greatest depth and size over the population."""
        return (depth / self.depth + size / population) / 2

    def ceiling(self, population: int) -> float:
        """The greatest propagation ability that these bounds allow in a population."""
        return self.ability(self.depth, min(self.most_reached, population), population)

    def weights(self) -> Floats:
        raw = np.array([self.dimensions.get(d, 0.0) for d in DIMENSIONS])
        return np.asarray(raw / raw.sum())

    def rounded(self, value: float) -> float:
        return value if self.decimals is None else round(value, self.decimals)

    def combined(self, content: float, propagation: float) -> float:
        total = self.content * content + self.propagation * propagation
        return self.rounded(total / (self.content + self.propagation))


@dataclass(frozen=True)
class Society:
    """The users who judge: a population and their network."""

    population: Population
    network: Network

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
            valid = population.values(attribute)
            check_name(f"value of '{attribute}'", value, valid)
            chosen &= population.codes(attribute) == valid.index(value)
        rows = np.flatnonzero(chosen)
        if not len(rows):
            raise UsageError("No user has all of these attributes.", "Ask for fewer of them.")
        return cls(Population.of(population.agents[rows]), _induced(network, rows))


def _induced(network: Network, rows: Longs) -> Network:
    """The network among `rows` alone, renumbered."""
    number = np.full(network.size, -1, dtype=np.int64)
    number[rows] = np.arange(len(rows))
    inside = network.having((number[network.owners] >= 0) & (number[network.indices] >= 0))
    starts = np.append(inside.indptr[rows], inside.indptr[-1])
    others = number[inside.indices].astype(np.int32)
    return replace(inside, indptr=starts, indices=others, hubs=network.hubs[:0])


@dataclass(frozen=True)
class Circumstances:
    """Under which conditions claims are judged, and what counts."""

    background: Background = field(default_factory=Background)
    perspective: Perspective = field(default_factory=Perspective)
    prompts: Prompts = field(default_factory=Prompts)
    seed: int = 0


Condition = tuple[str, Society, Circumstances]


def conditions(society: Society, setting: Circumstances, by: str | None) -> list[Condition]:
    """First no condition; with `by`, then each of its values.

    For an attribute, a claim travels among the users with that value alone; for a background, among
    everyone.
    """
    stated, people = setting.background, society.population
    table = [(ALL, society, setting)]
    if by is None:
        return table
    if by in values()["background"]:
        for value in values()["background"][by]:
            changed = replace(setting, background=replace(stated, **{by: value}))
            table.append((value, society, changed))
    elif by in ("group", *people.attributes):
        present = set(people.codes(by).tolist())
        for code, value in enumerate(people.values(by)):
            if code in present:
                table.append((value, Society.of(people, society.network, {by: value}), setting))
    else:
        raise UnknownName("condition", by, [*vars(stated), "group", *people.attributes])
    return table


Share = Annotated[float, Field(ge=0, le=1)]


class Rating(Reasoned):
    """Ratings from 0 to 1, and whether this user would pass the claim on."""

    public_interest: Share
    controversy: Share
    elites: Share
    proximity: Share
    novelty: Share
    difficulty: Share
    forward: bool


def judge_of(provider: Provider, prompts: Prompts) -> ModelJudge[Rating]:
    return ModelJudge(
        provider,
        prompts[PROMPT],
        Rating,
        value=lambda reply: reply.public_interest,
        max_tokens=MAX_TOKENS,
    )


def case_of(
    claim: tuple[str, str], profile: dict[str, str], setting: Circumstances, prompt: Prompt
) -> JudgeCase:
    name, text = claim
    who = "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in profile.items())
    questions = "\n".join(
        f"- {dimension}: {question}" for dimension, question in values()["dimensions"].items()
    )
    system = prompt.text("system", person=who, background=setting.background, questions=questions)
    return JudgeCase(name, system, untrusted(text[:READ], "claim"))


def score_claims(
    claims: Claims,
    society: Society,
    judge: ModelJudge[Rating],
    setting: Circumstances,
) -> pl.DataFrame:
    """Claims to id, the six content values, content, depth, size, propagation, score (and worthy).
    One cascade per claim; a claim without a rating has null scores.
    """
    people, perspective = society.population, setting.perspective
    closest = Closest(society.network, perspective.fan_out, seed=setting.seed)
    starts = [
        int(np.random.default_rng(stream_seed(setting.seed, name)).integers(people.size))
        for name, _ in claims
    ]
    model = Model(starts, agents=people.size)
    ratings: list[list[list[float]]] = [[] for _ in claims]
    while len(model.front):
        hearing = list(zip(model.front.claim.tolist(), model.front.agent.tolist(), strict=True))
        cases = [
            case_of(claims[claim], people.profile(agent), setting, judge.prompt)
            for claim, agent in hearing
        ]
        willing = np.zeros(len(hearing), dtype=bool)
        label = f"Asking users at depth {model.front.depth}"
        for index, opinion in enumerate(judge.judge(cases, label=label)):
            if opinion.reply is not None:
                ratings[hearing[index][0]].append([getattr(opinion.reply, d) for d in DIMENSIONS])
                willing[index] = opinion.reply.forward
        if model.front.depth == perspective.depth:
            break
        model.pass_on(closest, willing)
    depths, sizes, rows = depth(model), size(model), []
    for i, ((name, _), scores) in enumerate(zip(claims, ratings, strict=True)):
        # The order in which answers came must not show in the sum.
        rated = np.array(sorted(scores))
        cascade = int(depths[i]), int(sizes[i]), people.size
        rows.append({"id": name, **(scored(rated, *cascade, perspective) if scores else {})})
    numbers = (*DIMENSIONS, "content", "depth", "size", "propagation", "score")
    schema = {"id": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    if perspective.threshold is None:
        return frame
    return frame.with_columns(worthy=pl.col("score") >= perspective.threshold)


def scored(
    ratings: Floats, depth: int, size: int, population: int, perspective: Perspective
) -> dict[str, float]:
    """The figures of one claim, from the ratings (users by dimensions) and the depth and size of
    its cascade.
    """
    if perspective.decimals is not None:
        ratings = np.round(ratings, perspective.decimals)
    means = [perspective.rounded(float(m)) for m in ratings.mean(axis=0)]
    content = perspective.rounded(float(np.array(means) @ perspective.weights()))
    propagation = perspective.rounded(perspective.ability(depth, size, population))
    return {
        **dict(zip(DIMENSIONS, means, strict=True)),
        "content": content,
        "depth": float(depth),
        "size": float(size),
        "propagation": propagation,
        "score": perspective.combined(content, propagation),
    }


# Distributions of scores: under conditions, and how far they are from the scores that annotators
# gave.


def wasserstein(first: Floats, second: Floats) -> float:
    """The first Wasserstein distance between two sets of scores: how far, on average, scores have
    to be moved.
    """
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(first, second))


def against_people(
    scores: pl.DataFrame, people: pl.DataFrame, *, draws: int = 500, seed: int = 0
) -> JsonObject:
    """Distance from annotators' scores (columns id and score), and rank agreement on the claims
    that both have.

    The distance compares distributions and ignores which claim has which score: hence the rank
    correlation.
    """
    from scipy.stats import spearmanr

    theirs = (
        people.drop_nulls(["id", "score"])
        .group_by("id", maintain_order=True)
        .agg(pl.col("score").mean())
    )
    shared = scores.select("id", "score").join(theirs, on="id", suffix="_people").sort("id")
    if not shared.height:
        raise DataError(
            "No claim has both a score and an annotator's score.",
            "Check that the ids are those of the records.",
        )
    ours, other = shared["score"].to_numpy(), shared["score_people"].to_numpy()
    interval = unit_interval(
        len(ours), lambda i: wasserstein(ours[i], other[i]), seed=seed, draws=draws
    )
    varied = len(set(ours)) > 1 and len(set(other)) > 1
    return {
        "claims": shared.height,
        "wasserstein": wasserstein(ours, other),
        "interval": None if interval is None else list(interval),
        "spearman": float(spearmanr(ours, other).statistic) if varied else None,
    }
