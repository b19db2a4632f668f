"""Check-worthiness on a page: distributions under the stated conditions, beside what the conditions leave possible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from claimlab.evolve.worth.compare import summary
from claimlab.evolve.worth.score import Perspective, Society
from claimlab.evolve.worth.values import DIMENSIONS, Background
from claimlab.report.blocks import Block, Figure, Report, Section, Table, Text, Tiles
from claimlab.report.charts import to_svg
from claimlab.report.excerpt import excerpt
from claimlab.report.heatmap import heatmap

BINS = 10
TOPICS = 8  # in one picture


@dataclass
class Worth:
    """The scores (id, topic, the six values, content, depth, size, propagation, score) and what they rest on."""

    scores: pl.DataFrame
    background: Background
    perspective: Perspective
    society: Society
    method: str  # "features", or the model that played the users
    where: dict[str, str] = field(default_factory=dict)  # attributes that users had to have
    people: dict[str, Any] | None = None
    tally: dict[str, Any] | None = None

    @property
    def ceiling(self) -> float:
        """The greatest score that the bounds on spreading leave possible."""
        most = self.perspective.bounds.ceiling(self.society.population.size)
        return self.perspective.combined(1.0, most)

    def to_json(self) -> dict[str, Any]:
        p = self.perspective
        return {
            "method": self.method,
            "background": dict(self.background.__dict__),
            "users": {"where": self.where, "count": self.society.population.size, "network": self.society.network.kind},
            "perspective": {
                "dimensions": dict(p.dimensions), "content": p.content, "propagation": p.propagation,
                "threshold": p.threshold, "depth": p.bounds.depth, "fan_out": p.bounds.fan_out,
                "decimals": p.decimals, "starts": p.starts,
            },
            "ceiling": self.ceiling,
            "claims": self.scores.height,
            "unscored": self.scores["score"].null_count(),
            "worthy": int(self.scores["worthy"].sum()) if "worthy" in self.scores.columns else None,
            "by_topic": summary(self.scores, "topic").to_dicts(),
            "people": self.people,
            "tally": self.tally,
        }  # fmt: skip


def page(found: Worth) -> Report:
    told = found.to_json()
    who = ", ".join(f"{k} = {v}" for k, v in found.where.items()) or "everybody"
    conditions = f"Background: {found.background}. Users: {who} ({told['users']['count']:,}). Asked: {found.method}."
    blocks: list[Block] = [Text(conditions), tiles(found), *distributions(found), table(found), *_people(found)]
    caution = (
        "A score holds under these conditions only. By features it rests on word lists and on shifts that were set by "
        "hand and fitted to nobody; by a model, on a judge that was not compared with people. It measures; it is fed "
        "back to nothing."
    )
    return Report("Check-worthiness", f"{found.scores.height:,} claims", [*blocks, Text(caution, "note")])


def tiles(found: Worth) -> Tiles:
    known = found.scores["score"].drop_nulls()
    mean = f"{float(known.sum()) / known.len():.3f}" if known.len() else "–"
    unscored = found.scores.height - known.len()
    worthy = f"{int(found.scores['worthy'].sum()):,}" if "worthy" in found.scores.columns else "no threshold set"
    return Tiles(
        [
            ("mean score", mean, "plain"),
            ("highest possible", f"{found.ceiling:.3f}", "plain"),
            ("above the threshold", worthy, "plain"),
            ("without a score", f"{unscored:,}", "warn" if unscored else "plain"),
        ]
    )


def distributions(found: Worth) -> list[Figure]:
    """Figures 8, 13 and 14 of the paper: how the scores of each topic spread."""
    known = found.scores.drop_nulls("score").with_columns(pl.col("topic").fill_null("not stated"))
    if not known.height:
        return []
    largest = known["topic"].value_counts().sort(["count", "topic"], descending=[True, False])["topic"].head(TOPICS)
    names = [f"{i / BINS:.1f}–{(i + 1) / BINS:.1f}" for i in range(BINS)]
    cells = []
    for topic in largest.sort().to_list():
        scores = known.filter(pl.col("topic") == topic)["score"].to_numpy()
        counts = np.histogram(scores, np.linspace(0, 1, BINS + 1))[0]
        cells += [
            {"topic": excerpt(topic, 40), "score": name, "share": 100 * n / len(scores)}
            for name, n in zip(names, counts.tolist(), strict=True)
            if n
        ]
    order = list(dict.fromkeys(c["topic"] for c in cells))
    chart = heatmap(
        cells, row="topic", column="score", value="share", title="% of the topic's claims", order=order, columns=names
    )
    caption = (
        "Check-worthiness under these conditions, by topic: share of the claims in each band of scores. Blank: none."
    )
    return [Figure(to_svg(chart), caption, "Heat map of check-worthiness by topic", "worth-by-topic")]


def table(found: Worth) -> Section:
    rows: list[list[Any]] = [list(row) for row in summary(found.scores, "topic").iter_rows()]
    columns = ["Topic", "Claims", "Mean", "Spread", "Lower quartile", "Median", "Upper quartile"]
    means = found.scores.select([*DIMENSIONS, "content", "depth", "size", "propagation"]).mean().row(0, named=True)
    parts: list[list[Any]] = [[name.replace("_", " "), value] for name, value in means.items()]
    return Section(
        "Under these conditions",
        [Table(columns, rows, "Scores by topic."), Table(["Part", "Mean"], parts, "What the scores are made of.")],
    )


def _people(found: Worth) -> list[Block]:
    if found.people is None:
        return [Text("Not compared with people: give their scores with --people.", "note")]
    low, high = found.people["interval"]
    far, n = found.people["wasserstein"], found.people["claims"]
    rank = "not known" if found.people["spearman"] is None else f"{found.people['spearman']:.2f}"
    return [
        Text(
            f"Against people, over {n:,} claims: Wasserstein distance {far:.3f} (95 % interval "
            f"{low:.3f} to {high:.3f}), rank correlation {rank}."
        )
    ]
