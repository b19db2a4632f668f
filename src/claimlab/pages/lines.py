"""Lines over steps, one per series, with levels drawn across: how something grows, and how far it
could.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.pages.charts import WIDTH, colours_of

HEIGHT = 260


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
    levels: Mapping[str, float] | None = None,
    width: int = WIDTH,
) -> Any:
    """`series` maps a name to its points; `levels` are dashed lines with their names, always in
    sight.
    """
    import altair as alt

    rows: list[JsonObject] = [
        {"series": name, "x": float(x), "y": float(y)}
        for name, points in series.items()
        for x, y in points
    ]
    schema = {"series": pl.String, "x": pl.Float64, "y": pl.Float64}
    colours = colours_of(series)
    highest = max([r["y"] for r in rows] + list((levels or {}).values()), default=1.0)
    last = max((r["x"] for r in rows), default=1.0)
    scale = alt.Scale(domain=[0, 1.05 * highest or 1.0], nice=False)
    every = max(1, round(last / 10))  # whole steps only
    ticks = alt.Axis(values=list(range(0, int(last) + 1, every)), format="d")
    x = alt.X("x:Q", title=across, scale=alt.Scale(domain=[0, last], nice=False), axis=ticks)
    base = alt.Chart(pl.DataFrame(rows, schema=schema))
    encoding = {
        "x": x,
        "y": alt.Y("y:Q", title=up, scale=scale),
        "color": alt.Color(
            "series:N",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            sort=list(series),
            title=None,
            legend=alt.Legend(orient="top", columns=3, labelLimit=200),
        ),
    }
    layers = [
        base.mark_line(strokeWidth=2).encode(**encoding),
        base.mark_point(size=14, filled=True).encode(**encoding),
    ]
    if levels:
        marks = pl.DataFrame(
            {"y": list(levels.values()), "name": list(levels), "x": [last] * len(levels)}
        )
        drawn = alt.Chart(marks)
        layers.append(
            drawn.mark_rule(strokeDash=[5, 4], color="#9aa4b0").encode(y=alt.Y("y:Q", scale=scale))
        )
        label = drawn.mark_text(align="right", dy=-6, fontSize=11, color="#77818d")
        layers.append(label.encode(x=x, y=alt.Y("y:Q", scale=scale), text=alt.Text("name:N")))
    return alt.layer(*layers).properties(width=width, height=HEIGHT)
