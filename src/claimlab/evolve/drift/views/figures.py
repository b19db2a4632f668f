"""The pictures of a drift report: the paper's figures 4 to 7, 12 and 19, drawn from whatever was
measured.

Each returns no figure where there is nothing to draw; the page then says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.evolve.drift import lite
from claimlab.evolve.drift.attainment import hardest
from claimlab.evolve.drift.curve import Curve
from claimlab.evolve.drift.fuse import TOTAL
from claimlab.evolve.drift.measure import Drift, decomposition
from claimlab.evolve.drift.producers import attribute_names
from claimlab.evolve.drift.verdicts import LEVELS
from claimlab.pages.blocks import Figure
from claimlab.pages.charts import bars, distinct, heatmap, lines, to_svg
from claimlab.pages.excerpt import excerpt

MANY = 12  # series in one picture
LEAST = 20  # traces behind a point; a mean of fewer is drawn nowhere
WORDS = {"home": "group (of traces that stayed in one)"}
VERDICT_COLOURS = dict(
    zip(LEVELS, ("#2f7d4f", "#7fb069", "#d9c14a", "#dd8a3e", "#c8453b", "#7d1f2f"), strict=True)
)  # from true to false, as a traffic light is read


def trajectories(drift: Drift, by: str) -> list[Figure]:
    """Figure 7: mean drift at each hop, a line for each value of `by`; dashed: what unrelated
    claims score.
    """
    chosen = {value: c for (kind, value), c in drift.curves.items() if kind == by}
    series = {excerpt(v, 40): points(c) for v, c in list(chosen.items())[:MANY]}
    series = {name: p for name, p in series.items() if len(p) > 1}
    if not series:
        return []
    far = next(iter(chosen.values())).unrelated
    levels = {} if far is None else {"two unrelated claims": far}
    chart = lines(series, across="hops", up="drift-lite", levels=levels)
    caption = (
        f"Mean drift-lite after each hop, by {WORDS.get(by, by)} (figure 7 of the paper). Hops that"
        f" fewer than {LEAST} traces reached are not drawn."
    )
    return [
        Figure(
            to_svg(chart),
            caption,
            f"Lines of mean drift over hops by {by}",
            f"trajectories-by-{by}",
        )
    ]


def points(one: Curve) -> list[tuple[float, float]]:
    floor = min(LEAST, one.n[0])
    return [(h, m) for h, m, n in zip(one.hops, one.mean, one.n, strict=True) if n >= floor]


def dimensions(drift: Drift, by: str) -> list[Figure]:
    """Figure 12: which dimensions moved, for each value of `by`, at the end of the traces."""
    table = decomposition(drift.hops, by)
    if not table.height:
        return []
    titles = {d.name: d.title + (" (weak)" if d.weak else "") for d in lite.DIMENSIONS}
    cells = [
        {"dimension": titles[name], by: excerpt(str(row[by]), 30), "value": row[name]}
        for row in table.head(MANY).iter_rows(named=True)
        for name in lite.NAMES
        if row[name] is not None
    ]
    values = list(dict.fromkeys(c[by] for c in cells))
    chart = heatmap(
        cells,
        row="dimension",
        column=by,
        value="value",
        title="mean",
        order=list(titles.values()),
        columns=values,
        number=".2f",
    )
    caption = (
        f"The six dimensions of drift-lite at the last hop, mean by {by} (figure 12). Each runs"
        " from 0 to 1."
    )
    return [
        Figure(
            to_svg(chart), caption, f"Heat map of drift dimensions by {by}", f"dimensions-by-{by}"
        )
    ]


def steps(drift: Drift) -> list[Figure]:
    """Figure 4: the target of each dimension that took the most hops, its mean and its longest
    trace.
    """
    table = hardest(drift.steps)
    if not table.height:
        return []
    names = distinct(
        f"{excerpt(r['target'], 24)} (most {r['most']})" for r in table.iter_rows(named=True)
    )
    rows = [
        {"target": n, "hops": float(m)} for n, m in zip(names, table["mean"].to_list(), strict=True)
    ]
    chart = bars(rows, category="target", value="hops", title="hops to the target, mean", width=360)
    caption = (
        "The value of each dimension that took the most hops on average, of traces that attained"
        " it; the longest is in parentheses (figure 4)."
    )
    return [
        Figure(
            to_svg(chart),
            caption,
            "Bars of mean hops to the hardest target of each dimension",
            "steps",
        )
    ]


def influence(drift: Drift) -> list[Figure]:
    """Figure 5: which attributes moved agents to become producers, by dimension."""
    if not drift.influence.height:
        return []
    cells = drift.influence.with_columns(pl.col("share") * 100).to_dicts()
    used = {c["attribute"] for c in cells}
    order = [a for a in (*attribute_names(), "other") if a in used]
    columns = drift.influence["dimension"].unique().sort().to_list()
    chart = heatmap(
        cells,
        row="attribute",
        column="dimension",
        value="share",
        title="% of hops",
        order=order,
        columns=columns,
    )
    caption = (
        "Share of producers' hops in which an agent named the attribute as an influence, in %"
        " (figure 5)."
    )
    return [Figure(to_svg(chart), caption, "Heat map of attributes by dimension", "influence")]


def together(drift: Drift) -> list[Figure]:
    """Figure 19: attributes that were named in the same hop."""
    if not drift.together.height:
        return []
    used = set(drift.together["a"].to_list())
    order = [a for a in (*attribute_names(), "other") if a in used]
    chart = heatmap(
        drift.together.to_dicts(), row="a", column="b", value="n", title="hops", order=order
    )
    caption = (
        "How often two attributes were named in the same hop (figure 19). Empty: never together."
    )
    return [
        Figure(to_svg(chart), caption, "Heat map of attributes that are named together", "together")
    ]


def verdicts(drift: Drift, by: str) -> list[Figure]:
    """Figure 6: how true claims are at the end of their traces, for each value of `by`."""
    table = drift.verdict_shares.get(by)
    if table is None or not table.height:
        return []
    rows = _by_level(table.to_dicts(), by)
    chart = bars(
        rows,
        category="value",
        value="n",
        colour="verdict",
        colours=VERDICT_COLOURS,
        title="share of traces",
        stack="normalize",
        width=460,
    )
    caption = (
        f"Verdicts at the last judged hop by {WORDS.get(by, by)} (figure 6); the number of traces"
        " is in parentheses."
    )
    return [Figure(to_svg(chart), caption, f"Bars of verdict shares by {by}", f"verdicts-by-{by}")]


def _by_level(rows: Sequence[Mapping[str, Any]], by: str) -> list[JsonObject]:
    """Rows in the order of the levels, each value named with its number of traces."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row[by]] = sizes.get(row[by], 0) + row["n"]
    return [
        {
            "value": f"{excerpt(row[by], 34)} ({sizes[row[by]]:,})",
            "verdict": row["verdict"],
            "n": row["n"],
        }
        for row in sorted(rows, key=lambda r: (_in_order(r[by]), LEVELS.index(r["verdict"])))
    ]


def _in_order(value: str) -> tuple[int, str]:
    """Numbers by their size, names by the alphabet."""
    return (int(value), "") if value.isdigit() else (0, value)


def fuse(drift: Drift) -> list[Figure]:
    """FUSE-EVAL of the judged hops, by topic."""
    if drift.fuse is None or drift.fuse_hops is None:
        return []
    known = drift.fuse_hops.drop_nulls(TOTAL).with_columns(pl.col("topic").fill_null("not stated"))
    means = (
        known.group_by("topic", "hop", maintain_order=True)
        .agg(pl.col(TOTAL).mean())
        .sort("topic", "hop")
    )
    series: dict[str, list[tuple[float, float]]] = {}
    for topic, hop, value in means.iter_rows():
        series.setdefault(excerpt(topic, 40), []).append((hop, value))
    if not series:
        return []
    reading = drift.fuse.reading
    chart = lines(series, across="hops", up=f"FUSE-EVAL ({reading.scale})", levels={})
    caption = (
        f"Mean FUSE-EVAL of the judged hops by topic; PD is the {reading.pd.replace('-', ' ')}."
    )
    return [Figure(to_svg(chart), caption, "Lines of FUSE-EVAL over hops by topic", "fuse-eval")]
