"""Figures with an interval beside what they must beat: one line per figure, a dot on it, marks for
the baselines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.pages.charts import TRUE, VERDICT_COLOURS, WIDTH, distinct

SHAPES = {
    "score": "circle",
    "majority": "triangle-right",
    "stratified": "stroke",
    "shuffled": "cross",
}
BOUNDS = {"lower": "triangle-down", "upper": "triangle-up"}


@dataclass(frozen=True)
class Dot:
    """One line: shares from 0 to 1; `tone` is a verdict."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    tone: str = "pass"  # "plain" where there is no verdict to tone by
    marks: Mapping[str, float] = field(default_factory=dict)


def dots(
    rows: Sequence[Dot],
    *,
    title: str,
    threshold: float | None = None,
    width: int = WIDTH - 160,
    names: int = 300,
) -> Any:
    """A line per row in the order given; a dashed rule at `threshold` where there is one. `width`
    is that of the axis, `names` the most pixels that a name may take."""
    import altair as alt

    rows = [
        replace(row, name=name)
        for row, name in zip(rows, distinct(r.name for r in rows), strict=True)
    ]
    y = alt.Y(
        "name:N",
        sort=[r.name for r in rows],
        title=None,
        axis=alt.Axis(labelLimit=names, ticks=False),
    )
    x = alt.X("x:Q", title=title, scale=alt.Scale(domain=[0, 100]))
    colour = _colour(rows)
    points = pl.DataFrame([{"name": r.name, "x": 100 * r.value, "tone": r.tone} for r in rows])
    layers = [
        *_baselines(rows, x, y),
        _intervals(rows)
        .mark_rule(strokeWidth=3, opacity=0.55)
        .encode(y=y, x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=colour),
        alt.Chart(points)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(y=y, x=x, color=colour),
    ]
    if threshold is not None:
        line = pl.DataFrame({"x": [100 * threshold]})
        layers.append(
            alt.Chart(line).mark_rule(strokeDash=[5, 4], color="#8b95a1").encode(x=alt.X("x:Q"))
        )
    return alt.layer(*layers).properties(width=width, height={"step": 21})


def _colour(rows: Sequence[Dot]) -> Any:
    """By verdict, or one colour where there are none."""
    import altair as alt

    tones = [t for t in VERDICT_COLOURS if any(r.tone == t for r in rows)]
    if not tones:
        return alt.ColorValue(TRUE)
    scale = alt.Scale(domain=tones, range=[VERDICT_COLOURS[t] for t in tones])
    return alt.Color("tone:N", scale=scale, title=None, legend=alt.Legend(orient="top"))


def _intervals(rows: Sequence[Dot]) -> Any:
    import altair as alt

    spans = [
        (r.name, 100 * r.interval[0], 100 * r.interval[1], r.tone)
        for r in rows
        if r.interval is not None
    ]
    types = {"name": pl.String, "low": pl.Float64, "high": pl.Float64, "tone": pl.String}
    return alt.Chart(pl.DataFrame(spans, schema=types, orient="row"))


def _baselines(rows: Sequence[Dot], x: Any, y: Any) -> list[Any]:
    """A mark for each baseline; nothing where there is none."""
    import altair as alt

    marks = [
        {"name": r.name, "x": 100 * v, "baseline": k} for r in rows for k, v in r.marks.items()
    ]
    shapes = {**SHAPES, **BOUNDS}
    kinds = [k for k in shapes if any(mark["baseline"] == k for mark in marks)]
    if not kinds:
        return []
    shape = alt.Shape(
        "baseline:N",
        scale=alt.Scale(domain=kinds, range=[shapes[k] for k in kinds]),
        title="bounds:" if set(kinds) <= set(BOUNDS) else "baselines:",
        legend=alt.Legend(orient="top", direction="horizontal"),
    )
    style: JsonObject = {"size": 45, "color": "#8b95a1", "filled": False, "strokeWidth": 1.5}
    return [alt.Chart(pl.DataFrame(marks)).mark_point(**style).encode(y=y, x=x, shape=shape)]
