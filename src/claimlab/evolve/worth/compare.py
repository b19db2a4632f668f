"""Distributions of scores: under conditions, and how far they are from the scores that annotators
gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.errors import DataError, UnknownName
from claimlab.core.stats.interval import unit_interval
from claimlab.evolve.worth.score import Society, by_features
from claimlab.evolve.worth.values import Background, Values

ALL = "no condition"


def wasserstein(
    a: Sequence[float] | npt.NDArray[np.float64],
    b: Sequence[float] | npt.NDArray[np.float64],
    a_weights: Sequence[float] | None = None,
    b_weights: Sequence[float] | None = None,
) -> float:
    """The first Wasserstein distance between two sets of scores: how far, on average, scores have
    to be moved.
    """
    from scipy.stats import wasserstein_distance

    if not len(a) or not len(b):
        raise DataError(
            "There are no scores to compare.", "Give at least one score on either side."
        )
    return float(wasserstein_distance(a, b, a_weights, b_weights))


def of_counts(counts: Mapping[float, int], other: Mapping[float, int]) -> float:
    """The same between two tables of score -> how often."""
    return wasserstein(list(counts), list(other), list(counts.values()), list(other.values()))


def summary(scores: pl.DataFrame, by: str) -> pl.DataFrame:
    """Per value of `by`: how many, mean, spread and quartiles of the score."""
    score = pl.col("score")
    return (
        scores.with_columns(pl.col(by).fill_null("not stated"))
        .group_by(by, maintain_order=True)
        .agg(
            pl.len().alias("claims"),
            score.mean().alias("mean"),
            score.std().alias("spread"),
            score.quantile(0.25).alias("lower"),
            score.median().alias("median"),
            score.quantile(0.75).alias("upper"),
        )
        .sort(by)
    )


def against_people(
    scores: pl.DataFrame, people: pl.DataFrame, *, draws: int = 500, seed: int = 0
) -> dict[str, object]:
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
    rank = (
        float(spearmanr(ours, other).statistic)
        if len(set(ours)) > 1 and len(set(other)) > 1
        else None
    )
    return {
        "claims": shared.height,
        "wasserstein": wasserstein(ours, other),
        "interval": None if interval is None else list(interval),
        "spearman": rank,
    }


def conditional(
    claims: Sequence[tuple[str, str]], society: Society, by: str, **setting: Any
) -> pl.DataFrame:
    """`condition`, id and score: first without the condition, then under each of its values.

    For an attribute, a claim travels among the users with that value alone; for a background, among
    everyone.
    """
    values: Values = setting.get("values") or Values.read()
    background: Background = setting.get("background") or Background()
    setting = {**setting, "values": values, "background": background}
    parts = [_part(ALL, by_features(claims, society, **setting))]
    if by in background.__dict__:
        for value in values.backgrounds[by]:
            changed = {**setting, "background": replace(background, **{by: value})}
            parts.append(_part(value, by_features(claims, society, **changed)))
    elif by in ("group", *society.population.attributes):
        for value in society.population.values(by):
            if (society.population.codes(by) == society.population.values(by).index(value)).any():
                among = Society.of(society.population, society.network, {by: value})
                parts.append(_part(value, by_features(claims, among, **setting)))
    else:
        raise UnknownName(
            "condition", by, [*background.__dict__, "group", *society.population.attributes]
        )
    return pl.concat(parts)


def distances(scores: pl.DataFrame) -> pl.DataFrame:
    """Per condition: claims, mean, quartiles, and how far its scores lie from those without the
    condition.
    """
    whole = scores.filter(pl.col("condition") == ALL)["score"].drop_nulls().to_numpy()
    rows = []
    for (name,), part in scores.group_by("condition", maintain_order=True):
        values = part["score"].drop_nulls()
        quartiles = [values.quantile(q) for q in (0.25, 0.5, 0.75)]
        far = wasserstein(values.to_numpy(), whole) if values.len() and len(whole) else None
        rows.append((name, values.len(), values.mean(), *quartiles, far))
    numbers = dict.fromkeys(("mean", "lower", "median", "upper", "distance"), pl.Float64())
    schema: dict[str, pl.DataType] = {"condition": pl.String(), "claims": pl.Int64(), **numbers}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _part(name: str, scores: pl.DataFrame) -> pl.DataFrame:
    return scores.select(pl.lit(name).alias("condition"), "id", "score")
