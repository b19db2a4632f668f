"""Words against labels: every word a dot, by how usual it is in either class; the one-sided ones are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.report.charts import UNKNOWN, colours_of
from claimlab.report.excerpt import excerpt
from claimlab.report.placing import place

SIDE = 460.0  # pixels
NAMED = 45
ONE_SIDED = 2.0  # times as usual in one class as in the other: from here a dot takes the colour of its class


@dataclass(frozen=True)
class Side:
    """One class: its name, how many records it has, and how many of them hold each word."""

    name: str
    size: int
    counts: Sequence[int]


def scatter(words: Sequence[str], across: Side, up: Side) -> Any:
    """Both axes are logarithmic: words on the dashed line are equally usual in both classes."""
    import altair as alt

    x, y = share(across), share(up)
    low = 10 ** np.floor(np.log10(min(x.min(), y.min())))
    ratio = np.log(x / y)
    colours = colours_of([across.name, up.name])
    leaning = np.where(np.exp(np.abs(ratio)) < ONE_SIDED, "neither", np.where(ratio > 0, across.name, up.name))
    pixels = np.stack([SIDE * _along(x, low), SIDE * (1 - _along(y, low))], axis=1)
    weight = np.abs(ratio) * np.sqrt(np.asarray(across.counts) + np.asarray(up.counts))
    wanted = [int(i) for i in np.argsort(-weight, kind="stable") if leaning[i] != "neither"][:NAMED]
    named = place(pixels, [(i, excerpt(words[i], 24)) for i in wanted], area=(SIDE, SIDE))
    scale = alt.Scale(type="log", domain=[low, 1], nice=False)
    axis = alt.Axis(format="~%", tickCount=4, grid=True)
    dots = pl.DataFrame({"x": x, "y": y, "leans": leaning})
    labels = pl.DataFrame(
        {
            "x": [float(low ** (1 - p.left / SIDE)) for p in named],
            "y": [float(low ** (p.middle / SIDE)) for p in named],
            "word": [excerpt(words[p.index], 24) for p in named],
        },
        schema={"x": pl.Float64, "y": pl.Float64, "word": pl.String},
    )
    tones = {**colours, "neither": UNKNOWN}
    base = alt.Chart(dots).mark_point(filled=True, size=34, opacity=0.75)
    points = base.encode(
        x=alt.X("x:Q", scale=scale, axis=axis, title=f"records labelled {excerpt(across.name, 40)} that hold the word"),
        y=alt.Y("y:Q", scale=scale, axis=axis, title=f"records labelled {excerpt(up.name, 40)} that hold the word"),
        color=alt.Color(
            "leans:N",
            scale=alt.Scale(domain=list(tones), range=list(tones.values())),
            title="more usual in:",
            legend=alt.Legend(orient="top"),
        ),
    )
    even = alt.Chart(pl.DataFrame({"x": [low, 1.0], "y": [low, 1.0]})).mark_line(strokeDash=[5, 4], color="#9aa4b0")
    text = alt.Chart(labels).mark_text(align="left", baseline="middle", fontSize=11)
    return alt.layer(even.encode(x="x:Q", y="y:Q"), points, text.encode(x="x:Q", y="y:Q", text="word:N")).properties(
        width=SIDE, height=SIDE
    )


def share(side: Side) -> npt.NDArray[np.float64]:
    """Share of the class that holds each word; half a record stands for none, since a logarithm has no zero."""
    return np.maximum(np.asarray(side.counts, dtype=np.float64), 0.5) / max(side.size, 1)


def _along(values: npt.NDArray[np.float64], low: float) -> npt.NDArray[np.float64]:
    """Where values lie on the logarithmic axis from `low` to 1, as a share of its length."""
    return np.asarray(1 - np.log(values) / np.log(low))
