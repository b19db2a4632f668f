"""Check-worthiness on a page: distributions under the stated conditions, next to what the
conditions allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evolve.worth.score import (
    ALL,
    DIMENSIONS,
    Circumstances,
    Perspective,
    Society,
    wasserstein,
)
from claimlab.pages.blocks import Block, Figure, Report, Section, Table, Text, Tiles
from claimlab.pages.charts import heatmap, to_svg
from claimlab.pages.excerpt import excerpt

FEW = 5  # bands; with fewer, each is halved
TOPICS = 8  # in one chart
LEAST = 20  # claims of a topic that is shown by itself; the others are pooled
TOP = 10  # claims that are listed


@dataclass(repr=False)
class Worth(Shown):
    """The scores (id, topic, the six values, content, depth, size, propagation, score) and what
    they rest on.
    """

    scores: pl.DataFrame
    setting: Circumstances
    society: Society
    method: str  # the model that played the users
    where: dict[str, str] = field(default_factory=dict)  # attributes that users had to have
    by: str | None = None  # the condition that was varied, with its scores
    conditions: pl.DataFrame | None = None
    people: JsonObject | None = None
    tally: JsonObject | None = None
    untold: int = 0  # records without a text, which cannot be scored
    dataset: Dataset | None = None  # the input with the scores beside its records

    @property
    def table(self) -> pl.DataFrame:
        return self.scores

    @property
    def perspective(self) -> Perspective:
        return self.setting.perspective

    def headline(self) -> str:
        return f"of {self.scores['score'].count():,} claims, scored by {self.method}"

    @property
    def ceiling(self) -> float:
        """The greatest score that the bounds on spreading leave possible."""
        most = self.perspective.bounds.ceiling(self.society.population.size)
        return self.perspective.combined(1.0, most)

    def to_json(self) -> JsonObject:
        view = self.perspective
        return {
            "method": self.method,
            "measure": "score",
            "background": dict(self.setting.background.__dict__),
            "users": {
                "where": self.where,
                "count": self.society.population.size,
                "network": self.society.network.kind,
            },
            "perspective": {
                "dimensions": dict(view.dimensions),
                "content": view.content,
                "propagation": view.propagation,
                "threshold": view.threshold,
                "depth": view.bounds.depth,
                "fan_out": view.bounds.fan_out,
                "decimals": view.decimals,
            },
            "ceiling": self.ceiling,
            "claims": self.scores.height + self.untold,
            "unscored": self.scores["score"].null_count() + self.untold,
            "worthy": int(self.scores["worthy"].sum()) if "worthy" in self.scores.columns else None,
            "by_topic": summary(self.scores, "topic").to_dicts(),
            "by": self.by,
            "conditions": (
                None if self.conditions is None else distances(self.conditions).to_dicts()
            ),
            "people": self.people,
            "tally": self.tally,
        }


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


def by_topic(scored: Worth) -> pl.DataFrame:
    """The summary of each topic, largest first; those with few claims are pooled in the last
    row.
    """
    sizes = scored.scores["topic"].fill_null("not stated").value_counts(name="size")
    small = sizes.filter(pl.col("size") < LEAST)["topic"].to_list()
    rest = f"other ({len(small)} topics with fewer than {LEAST} claims)"
    pool = small if len(small) > 1 else []
    pooled = pl.col("topic").fill_null("not stated")
    scores = scored.scores.with_columns(
        pl.when(pooled.is_in(pool)).then(pl.lit(rest)).otherwise(pooled).alias("topic")
    )
    return summary(scores, "topic").sort(
        pl.col("topic") == rest, "claims", "topic", descending=[False, True, False]
    )


def top_claims(scored: Worth, most: int = TOP) -> list[tuple[float, str, str]]:
    """The claims with the highest scores: score, id and text."""
    best = (
        scored.scores.drop_nulls("score").sort(["score", "id"], descending=[True, False]).head(most)
    )
    records = None if scored.dataset is None else scored.dataset.records
    texts = (
        {}
        if records is None
        else dict(records.filter(pl.col("id").is_in(best["id"])).select("id", "text").rows())
    )
    return [
        (score, id, excerpt(texts.get(id) or "", 160))
        for id, score in best.select("id", "score").iter_rows()
    ]


def page(worth: Worth) -> Report:
    figures = worth.to_json()
    who = ", ".join(f"{k} = {v}" for k, v in worth.where.items()) or "all"
    conditions = (
        f"Background: {worth.setting.background}. Users: {who} ({figures['users']['count']:,})."
        f" Method: {worth.method}."
    )
    top: list[list[Any]] = [list(row) for row in top_claims(worth)]
    highest = Section("Most check-worthy claims", [Table(["Score", "Id", "Text"], top)])
    blocks: list[Block] = [
        Text(conditions),
        tiles(worth),
        highest,
        *distributions(worth),
        table(worth),
    ]
    blocks += _people(worth)
    caution = (
        "A score is valid under these conditions only, and depends on a model that was not compared"
        " with annotators."
    )
    return Report(
        "Check-worthiness", f"{figures['claims']:,} claims", [*blocks, Text(caution, "note")]
    )


def tiles(worth: Worth) -> Tiles:
    known = worth.scores["score"].drop_nulls()
    mean = f"{float(known.sum()) / known.len():.3f}" if known.len() else "–"
    unscored = worth.scores.height - known.len() + worth.untold
    worthy = (
        f"{int(worth.scores['worthy'].sum()):,}"
        if "worthy" in worth.scores.columns
        else "no threshold set"
    )
    return Tiles(
        [
            ("mean score", mean, "plain"),
            ("highest possible", f"{worth.ceiling:.3f}", "plain"),
            ("above the threshold", worthy, "plain"),
            ("without a score", f"{unscored:,}", "warn" if unscored else "plain"),
        ]
    )


def distributions(worth: Worth) -> list[Figure]:
    """Figures 8, 13 and 14 of the paper: how scores spread, by topic (highest first) and by
    condition (in order).
    """
    known = worth.scores.with_columns(pl.col("topic").fill_null("not stated")).drop_nulls("score")
    largest = (
        known["topic"]
        .value_counts()
        .sort(["count", "topic"], descending=[True, False])["topic"]
        .head(TOPICS)
    )
    middle = pl.col("score").median()
    topics = (
        known.filter(pl.col("topic").is_in(largest))
        .group_by("topic")
        .agg(middle)
        .sort("score", "topic")
    )
    out = _bands(
        known,
        "topic",
        topics["topic"].reverse().to_list(),
        "under these conditions, by topic",
    )
    if worth.conditions is not None:
        varied, words = worth.conditions.drop_nulls("score"), (worth.by or "").replace("_", " ")
        order = varied["condition"].unique(maintain_order=True).to_list()
        out += _bands(varied, "condition", order, f"of the same claims by {words}")
    return out


def _bands(known: pl.DataFrame, by: str, order: list[str], title: str) -> list[Figure]:
    """Share of the claims in each band of scores, a row for each value of `by`; bands beyond all
    are left out.
    """
    if not known.height:
        return []
    values = known.filter(pl.col(by).is_in(order))["score"].to_numpy()
    bins = next(n for n in (10, 20, 50) if n == 50 or len(np.unique(np.floor(values * n))) >= FEW)
    first, last = int(values.min() * bins), min(int(values.max() * bins), bins - 1)
    edges = np.arange(first, last + 2) / bins
    digits = 1 if bins == 10 else 2
    names = [f"{a:.{digits}f}–{b:.{digits}f}" for a, b in pairwise(edges.tolist())]
    rows, cells = [excerpt(value, 40) for value in order], []
    for value, row in zip(order, rows, strict=True):
        held = known.filter(pl.col(by) == value)["score"].to_numpy()
        shares = 100 * np.histogram(held, edges)[0] / len(held)
        cells += [
            {by: row, "score": n, "share": s}
            for n, s in zip(names, shares.tolist(), strict=True)
            if s
        ]
    chart = heatmap(
        cells,
        row=by,
        column="score",
        value="share",
        title="% of the claims",
        order=rows,
        columns=names,
    )
    caption = f"Check-worthiness {title}: share of the claims in each band of scores. Empty: none."
    return [
        Figure(to_svg(chart), caption, f"Heat map of check-worthiness by {by}", f"worth-by-{by}")
    ]


def table(worth: Worth) -> Section:
    rows: list[list[Any]] = [list(row) for row in by_topic(worth).iter_rows()]
    columns = ["Topic", "Claims", "Mean", "Spread", "Lower quartile", "Median", "Upper quartile"]
    means = (
        worth.scores.select([*DIMENSIONS, "content", "depth", "size", "propagation"])
        .mean()
        .row(0, named=True)
    )
    varied = [] if worth.conditions is None else [_conditions(worth.conditions)]
    parts: list[list[Any]] = [[name.replace("_", " "), value] for name, value in means.items()]
    return Section(
        "Under these conditions",
        [
            Table(columns, rows, "The score by topic."),
            Table(["Part", "Mean"], parts, "What the score is made of."),
            *varied,
        ],
    )


def _conditions(scores: pl.DataFrame) -> Table:
    rows: list[list[Any]] = [list(row) for row in distances(scores).iter_rows()]
    columns = [
        "Condition",
        "Claims",
        "Mean",
        "Lower quartile",
        "Median",
        "Upper quartile",
        "Distance",
    ]
    return Table(
        columns,
        rows,
        "The same claims by condition; the distance (Wasserstein) is from the first row.",
    )


def _people(worth: Worth) -> list[Block]:
    if worth.people is None:
        return [Text("Not compared with annotators: pass `people`.", "note")]
    n = worth.people["claims"]
    rank = "not known" if worth.people["spearman"] is None else f"{worth.people['spearman']:.2f}"
    interval = worth.people["interval"]
    ends = f" (95% interval {interval[0]:.3f} to {interval[1]:.3f})" if interval else ""
    far = f"Wasserstein distance {worth.people['wasserstein']:.3f}{ends}"
    return [
        Text(f"Compared with annotators on {several(n, 'claim')}: {far}, rank correlation {rank}.")
    ]
