"""Agreement in a review: all annotators together and every pair, before and after discussion, with
intervals.

Models are compared with annotators in pairs; they are not part of the figures over all annotators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.agreement import (
    AgreementFigure,
    Level,
    alpha_of,
    figure,
    fleiss_of,
    kappa_figure,
    patterns,
    percent_of,
)
from claimlab.core.stats.consensus import bounds
from claimlab.core.types import JsonObject
from claimlab.review.task import ReviewTask
from claimlab.review.votes import Ballot, Votes, code

BEFORE, AFTER = "before", "after"
ALL = "all annotators"
FIGURES = ("percent", "kappa", "alpha")
SCHEMA = {
    "between": pl.String,
    "model": pl.Boolean,
    "votes": pl.String,
    "items": pl.Int64,
    **{f"{name}{end}": pl.Float64 for name in FIGURES for end in ("", "_low", "_high")},
}


@dataclass(frozen=True, repr=False)
class Agreement(Shown):
    """A row for all annotators (kappa is Fleiss') and for each pair (Cohen's), as they voted before
    and, where votes were revealed, after discussion. Figures are shares of 1; null is not defined,
    or too few items for an interval.
    """

    name: str
    level: Level
    rows: pl.DataFrame
    bounds: dict[str, float] | None = None  # lower, average and upper share of positive answers

    @property
    def table(self) -> pl.DataFrame:
        return self.rows

    @property
    def measured(self) -> bool:
        """Whether any item has two votes."""
        return bool(self.rows["items"].sum())

    def headline(self) -> str:
        overall = self.rows.filter(between=ALL, votes=BEFORE)
        if not overall.height or not overall["items"][0]:
            return f"'{self.name}': no item has two votes yet"
        row = overall.row(0, named=True)
        alpha = "not defined" if row["alpha"] is None else f"{row['alpha']:.2f}"
        return (
            f"'{self.name}': {100 * row['percent']:.0f}% on {row['items']:,} items, alpha"
            f" ({self.level}) {alpha}"
        )

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "level": self.level,
            "bounds": self.bounds,
            "rows": self.rows.to_dicts(),
        }


def agreement(task: ReviewTask, votes: Mapping[str, Votes], seed: int = 0) -> Agreement:
    discussed = any(v.second for v in votes.values())
    rows: list[JsonObject] = []
    for when in (BEFORE, AFTER) if discussed else (BEFORE,):
        answers = {i: v.people(after=when == AFTER) for i, v in votes.items()}
        coded = ([code(task, b.value) for b in unit] for unit in answers.values())
        together = {"between": ALL, "model": False, **_figures(task, coded, seed)}
        if when == BEFORE:
            answers = {i: [*unit, *votes[i].models()] for i, unit in answers.items()}
        rows += [{**row, "votes": when} for row in (together, *_pairs(task, answers, seed))]
    table = pl.DataFrame(rows, schema=SCHEMA)
    return Agreement(task.name, level_of(task), table, _bounds(task, votes))


def _pairs(task: ReviewTask, units: Mapping[str, Sequence[Ballot]], seed: int) -> list[JsonObject]:
    by: dict[tuple[str, bool], JsonObject] = {}
    for i, unit in units.items():
        for ballot in unit:
            by.setdefault((ballot.name, ballot.model), {})[i] = code(task, ballot.value)
    rows = []
    for pair in combinations(sorted(by), 2):
        answers, other_answers = (by[who] for who in pair)
        both = [(answers[i], other_answers[i]) for i in answers if i in other_answers]
        if not both:
            continue
        cohen = kappa_figure(*zip(*both, strict=True), seed=seed)
        names = [f"{name} (model)" if model else name for name, model in pair]
        models = any(model for _, model in pair)
        row = {"between": " and ".join(names), "model": models, "items": len(both)}
        rows.append(row | _figures(task, both, seed, cohen))
    return rows


def _figures(
    task: ReviewTask,
    units: Iterable[Sequence[Any]],
    seed: int,
    kappa: AgreementFigure | None = None,
) -> JsonObject:
    """Of answers that are coded; `kappa` is Fleiss' unless it is given."""
    ratings = patterns(_numbers(task, list(units)))
    alpha = partial(alpha_of, level=level_of(task))
    percent, fleiss, krippendorff = (
        figure(ratings, measure, seed=seed) for measure in (percent_of, fleiss_of, alpha)
    )
    row: JsonObject = {"items": len(ratings.of)} if kappa is None else {}
    for name, one in zip(FIGURES, (percent, kappa or fleiss, krippendorff), strict=True):
        low, high = one.interval or (None, None)
        row |= {name: one.value, f"{name}_low": low, f"{name}_high": high}
    return row


def level_of(task: ReviewTask) -> Level:
    return "ordinal" if task.ordered else "nominal"


def _numbers(task: ReviewTask, units: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Answers as numbers: ratings as they are, all others by any fixed order."""
    if task.ordered:
        return [list(map(float, unit)) for unit in units]
    places = sorted({value for unit in units for value in unit})
    return [[float(places.index(value)) for value in unit] for unit in units]


def _bounds(task: ReviewTask, votes: Mapping[str, Votes]) -> dict[str, float] | None:
    units = [[b.value in task.positive for b in v.people()] for v in votes.values() if v.people()]
    if not task.positive or not units:
        return None
    low, high = bounds(np.array([np.mean(unit) for unit in units]))
    return {
        "items": len(units),
        "lower": float(low.mean()),
        "average": float((low + high).mean() / 2),
        "upper": float(high.mean()),
    }
