"""The same claims under one condition after another: each value of a user attribute, or of a part of the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from claimlab.core.errors import UnknownName
from claimlab.evolve.worth.compare import wasserstein
from claimlab.evolve.worth.score import Society, worth
from claimlab.evolve.worth.values import Background, Values

ALL = "all of them"


def conditional(claims: Sequence[tuple[str, str]], society: Society, by: str, **setting: Any) -> pl.DataFrame:
    """`condition`, id and score: first without the condition, then under each of its values.

    For an attribute, a claim travels among the users with that value alone; for a background, among everyone.
    """
    values: Values = setting.get("values") or Values.read()
    background: Background = setting.get("background") or Background()
    setting = {**setting, "values": values, "background": background}
    parts = [_part(ALL, worth(claims, society, **setting))]
    if by in background.__dict__:
        for value in values.backgrounds[by]:
            changed = {**setting, "background": replace(background, **{by: value})}
            parts.append(_part(value, worth(claims, society, **changed)))
    elif by in ("group", *society.population.attributes):
        for value in society.population.values(by):
            if (society.population.codes(by) == society.population.values(by).index(value)).any():
                among = Society.of(society.population, society.network, {by: value})
                parts.append(_part(value, worth(claims, among, **setting)))
    else:
        raise UnknownName("condition", by, [*background.__dict__, "group", *society.population.attributes])
    return pl.concat(parts)


def distances(scores: pl.DataFrame) -> pl.DataFrame:
    """Per condition: claims, mean, quartiles, and how far its scores lie from those without the condition."""
    whole = scores.filter(pl.col("condition") == ALL)["score"].drop_nulls().to_numpy()
    rows = []
    for (name,), part in scores.group_by("condition", maintain_order=True):
        found = part["score"].drop_nulls()
        quartiles = [found.quantile(q) for q in (0.25, 0.5, 0.75)]
        far = wasserstein(found.to_numpy(), whole) if found.len() and len(whole) else None
        rows.append((name, found.len(), found.mean(), *quartiles, far))
    numbers = dict.fromkeys(("mean", "lower", "median", "upper", "distance"), pl.Float64())
    schema: dict[str, pl.DataType] = {"condition": pl.String(), "claims": pl.Int64(), **numbers}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _part(name: str, scores: pl.DataFrame) -> pl.DataFrame:
    return scores.select(pl.lit(name).alias("condition"), "id", "score")
