"""The pictures of the drift report: the paper's figures 4 to 7, 12 and 19, drawn from whatever was
measured.

There is none where there is nothing to draw, and the page then says why.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.pages.blocks import (
    Figure,
    excerpt,
)
from claimlab.pages.charts import bars, distinct, heatmap, lines
from claimlab_simulate.evolve.drift.attainment import hardest
from claimlab_simulate.evolve.drift.curve import Curve
from claimlab_simulate.evolve.drift.fuse import TOTAL
from claimlab_simulate.evolve.drift.hops import FEWEST_TRACES
from claimlab_simulate.evolve.drift.influence import OTHER, attribute_names
from claimlab_simulate.evolve.drift.lite import DIMENSIONS, NAMES
from claimlab_simulate.evolve.drift.result import Drift, decomposition
from claimlab_simulate.evolve.drift.verdicts import LEVELS

MOST_SERIES = 12  # series in one picture
WORDS = {"home": "group (of traces that stayed in one)"}
VERDICT_COLOURS = dict(
    zip(LEVELS, ("#2f7d4f", "#7fb069", "#d9c14a", "#dd8a3e", "#c8453b", "#7d1f2f"), strict=True)
)  # from true to false, as a traffic light is read


def trajectory_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 7: mean drift at each hop, a line for each value of `by`; dashed: what unrelated
    claims score.
    """
    chosen = {value: curve for (kind, value), curve in drift.curves.items() if kind == by}
    series = {
        excerpt(value, 40): points(curve) for value, curve in list(chosen.items())[:MOST_SERIES]
    }
    series = {name: line for name, line in series.items() if len(line) > 1}
    if not series:
        return []
    whole = drift.curves["all", ""]
    series["null model"] = points(replace(whole, mean=whole.noise))
    far = whole.unrelated
    levels = {} if far is None else {"two unrelated claims": far}
    return [
        Figure(
            lines(series, across="hops", up="drift-lite", levels=levels),
            f"Mean drift-lite after each hop, by {WORDS.get(by, by)} (figure 7 of the paper), and"
            " of the null model on all traces: as many words changed at random. Hops that"
            f" fewer than {FEWEST_TRACES} traces reached are not drawn.",
            f"Lines of mean drift over hops by {by}",
            f"trajectories-by-{by}",
        )
    ]


def points(curve: Curve) -> list[tuple[float, float]]:
    floor = min(FEWEST_TRACES, curve.n[0])
    return [(h, m) for h, m, n in zip(curve.hops, curve.mean, curve.n, strict=True) if n >= floor]


def dimension_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 12: which dimensions moved, for each value of `by`, at the end of the traces."""
    table = decomposition(drift.hops, by).head(MOST_SERIES)
    if not table.height:
        return []
    titles = {d.name: d.title + (" (weak)" if d.weak else "") for d in DIMENSIONS}
    cells = [
        {"dimension": titles[name], by: excerpt(str(row[by]), 30), "value": row[name]}
        for row in table.iter_rows(named=True)
        for name in NAMES
        if row[name] is not None
    ]
    chart = heatmap(
        cells,
        row="dimension",
        column=by,
        value="value",
        title="mean",
        order=list(titles.values()),
        columns=list(dict.fromkeys(cell[by] for cell in cells)),
        number=".2f",
    )
    return [
        Figure(
            chart,
            f"The six dimensions of drift-lite at the last hop, mean by {by} (figure 12). Each runs"
            " from 0 to 1.",
            f"Heat map of drift dimensions by {by}",
            f"dimensions-by-{by}",
        )
    ]


def step_figures(drift: Drift) -> list[Figure]:
    """Figure 4: the target of each dimension that took the most hops, its mean and its longest
    trace.
    """
    table = hardest(drift.steps).to_dicts()
    if not table:
        return []
    names = distinct(f"{excerpt(row['target'], 24)} (most {row['most']})" for row in table)
    rows = [{"target": name, "hops": row["mean"]} for name, row in zip(names, table, strict=True)]
    return [
        Figure(
            bars(
                rows, category="target", value="hops", title="hops to the target, mean", width=360
            ),
            "The value of each dimension that took the most hops on average, of traces that"
            " attained it; the longest is in parentheses (figure 4).",
            "Bars of mean hops to the hardest target of each dimension",
            "steps",
        )
    ]


def influence_figures(drift: Drift) -> list[Figure]:
    """Figure 5: which attributes moved agents to become producers, by dimension."""
    if not drift.influence.height:
        return []
    chart = heatmap(
        drift.influence.with_columns(pl.col("share") * 100).to_dicts(),
        row="attribute",
        column="dimension",
        value="share",
        title="% of hops",
        order=_in_profile(drift.influence["attribute"]),
        columns=drift.influence["dimension"].unique().sort().to_list(),
    )
    return [
        Figure(
            chart,
            "Share of producers' hops in which an agent named the attribute as an influence, in %"
            " (figure 5).",
            "Heat map of attributes by dimension",
            "influence",
        )
    ]


def together_figures(drift: Drift) -> list[Figure]:
    """Figure 19: attributes that were named in the same hop."""
    if not drift.together.height:
        return []
    order = _in_profile(drift.together["a"])
    cells = drift.together.to_dicts()
    return [
        Figure(
            heatmap(cells, row="a", column="b", value="n", title="hops", order=order),
            "How often two attributes were named in the same hop (figure 19). Empty: never"
            " together.",
            "Heat map of attributes that are named together",
            "together",
        )
    ]


def _in_profile(named: pl.Series) -> list[str]:
    """The attributes that were named, in the order of a profile."""
    used = set(named)
    return [name for name in (*attribute_names(), OTHER) if name in used]


def verdict_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 6: how true claims are at the end of their traces, for each value of `by`."""
    table = drift.verdict_shares.get(by)
    if table is None or not table.height:
        return []
    chart = bars(
        _by_level(table, by),
        category="value",
        value="n",
        colour="verdict",
        colours=VERDICT_COLOURS,
        title="share of traces",
        stack="normalize",
        width=460,
    )
    return [
        Figure(
            chart,
            f"Verdicts at the last judged hop by {WORDS.get(by, by)} (figure 6); the number of"
            " traces is in parentheses.",
            f"Bars of verdict shares by {by}",
            f"verdicts-by-{by}",
        )
    ]


def _by_level(table: pl.DataFrame, by: str) -> list[JsonObject]:
    """Rows in the order of the levels, each value named with its number of traces."""
    rows = table.with_columns(size=pl.col("n").sum().over(by)).to_dicts()
    rows.sort(key=lambda row: (_in_order(row[by]), LEVELS.index(row["verdict"])))
    return [{**row, "value": f"{excerpt(row[by], 34)} ({row['size']:,})"} for row in rows]


def _in_order(value: str) -> tuple[int, str]:
    """Numbers by their size, names by the alphabet."""
    return (int(value), "") if value.isdigit() else (0, value)


def fuse_figures(drift: Drift) -> list[Figure]:
    """FUSE-EVAL of the judged hops, by topic."""
    if drift.fuse is None:
        return []
    scored = drift.fuse.hops.drop_nulls(TOTAL).with_columns(pl.col("topic").fill_null("not stated"))
    means = scored.group_by("topic", "hop", maintain_order=True).agg(pl.col(TOTAL).mean())
    series: dict[str, list[tuple[float, float]]] = {}
    for topic, hop, value in means.sort("topic", "hop").iter_rows():
        series.setdefault(excerpt(topic, 40), []).append((hop, value))
    if not series:
        return []
    reading = drift.fuse.reading
    return [
        Figure(
            lines(series, across="hops", up=f"FUSE-EVAL ({reading.scale})", levels={}),
            "Mean FUSE-EVAL of the judged hops by topic; PD is the"
            f" {reading.pd.replace('-', ' ')}.",
            "Lines of FUSE-EVAL over hops by topic",
            "fuse-eval",
        )
    ]
