"""Agreement in a review: all annotators together and every pair, before and after discussion, with
intervals.

Models are compared with annotators in pairs; they are not part of the figures over all annotators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.agreement import (
    Figure,
    Level,
    alpha_of,
    bounds,
    figure,
    fleiss_of,
    kappa_figure,
    patterns,
    percent_of,
)
from claimlab.core.types import JsonObject
from claimlab.review.task import Task
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
        overall = self.rows.filter((pl.col("between") == ALL) & (pl.col("votes") == BEFORE))
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


def agreement(task: Task, votes: Mapping[str, Votes], seed: int = 0) -> Agreement:
    level: Level = "ordinal" if task.ordered else "nominal"
    discussed = any(v.second for v in votes.values())
    rows = []
    for when in (BEFORE, AFTER) if discussed else (BEFORE,):
        answers = {i: v.people(after=when == AFTER) for i, v in votes.items()}
        rows.append(_together(task, list(answers.values()), when, level, seed))
        all_answers = (
            answers if when == AFTER else {i: [*answers[i], *votes[i].models()] for i in votes}
        )
        rows += _pairs(task, all_answers, when, level, seed)
    return Agreement(task.name, level, pl.DataFrame(rows, schema=SCHEMA), _bounds(task, votes))


def _together(
    task: Task, units: Sequence[Sequence[Ballot]], when: str, level: Level, seed: int
) -> JsonObject:
    ratings = patterns(_numbers(task, [[b.value for b in unit] for unit in units]))
    figures = [
        figure(ratings, f, seed=seed)
        for f in (percent_of, fleiss_of, partial(alpha_of, level=level))
    ]
    return _row(ALL, False, when, len(ratings.of), figures)


def _pairs(
    task: Task, units: Mapping[str, Sequence[Ballot]], when: str, level: Level, seed: int
) -> list[JsonObject]:
    by: dict[tuple[str, bool], JsonObject] = {}
    for i, unit in units.items():
        for ballot in unit:
            by.setdefault((ballot.name, ballot.model), {})[i] = code(task, ballot.value)
    rows = []
    for (one, machine), (other, too) in combinations(sorted(by), 2):
        both = [i for i in by[one, machine] if i in by[other, too]]
        if not both:
            continue
        mine, theirs = ([by[who][i] for i in both] for who in ((one, machine), (other, too)))
        ratings = patterns(_numbers(task, [list(pair) for pair in zip(mine, theirs, strict=True)]))
        cohen = kappa_figure(mine, theirs, seed=seed)
        figures = [
            figure(ratings, percent_of, seed=seed),
            cohen,
            figure(ratings, partial(alpha_of, level=level), seed=seed),
        ]
        marked = [f"{name} (model)" if m else name for name, m in ((one, machine), (other, too))]
        rows.append(_row(" and ".join(marked), machine or too, when, len(both), figures))
    return rows


def _row(between: str, model: bool, when: str, items: int, figures: Sequence[Figure]) -> JsonObject:
    row: JsonObject = {"between": between, "model": model, "votes": when, "items": items}
    for name, one in zip(FIGURES, figures, strict=True):
        low, high = one.interval or (None, None)
        row |= {name: one.value, f"{name}_low": low, f"{name}_high": high}
    return row


def _numbers(task: Task, units: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Answers as numbers: ratings as they are, all others by any fixed order."""
    coded = [[code(task, value) for value in unit] for unit in units]
    if task.ordered:
        return [[float(value) for value in unit] for unit in coded]
    number = {
        value: float(n)
        for n, value in enumerate(sorted({value for unit in coded for value in unit}))
    }
    return [[number[value] for value in unit] for unit in coded]


def _bounds(task: Task, votes: Mapping[str, Votes]) -> dict[str, float] | None:
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
