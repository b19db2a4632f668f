"""Words against labels: every word a dot, by how usual it is in either class; the one-sided ones
are named.

Names beside dots do not overlap: each takes the first free place around its dot, or none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.plain import plain
from claimlab.core.stats.scores import Floats
from claimlab.pages.blocks import excerpt
from claimlab.pages.charts import UNKNOWN, colours_of, to_svg

GAPS = (5.0, 16.0, 30.0)  # pixels between a dot and its name: the nearest free place is taken
NARROW, WIDE = frozenset("fijlrtI.,:;'’|!()[]"), frozenset("mwMW@%")


Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Placed:
    """A name whose box starts at `left` and is centred on `middle` (pixels, y grows downwards)."""

    index: int
    left: float
    middle: float
    width: float
    height: float
    away: bool = False  # too far from its dot to go without a line

    @property
    def box(self) -> Box:
        half = self.height / 2
        return self.left, self.middle - half, self.left + self.width, self.middle + half


def place(
    points: Floats,
    names: Sequence[tuple[int, str]],
    *,
    area: tuple[float, float],
    size: float = 11.0,
    radius: float = 3.5,
) -> list[Placed]:
    """Put `names` (index of the dot, words; most important first) beside their dots within `area`
    (width, height).

    No name covers another, nor a dot. One that finds no free place is left out.
    """
    taken = np.concatenate([points - radius, points + radius], axis=1)
    out: list[Placed] = []
    for index, name in names:
        width, height = text_width(name, size), size * 1.15
        x, y = points[index]
        places = ((gap, at) for gap in GAPS for at in _around(x, y, width, height, radius + gap))
        for gap, (left, middle) in places:
            one = Placed(index, left, middle, width, height, away=gap > GAPS[0])
            free = _inside(one.box, area) and not _hits(one.box, taken, own=index)
            if free and not (one.away and _crosses((x, y), one, out)):
                taken = np.vstack([taken, one.box])
                out.append(one)
                break
    return out


def text_width(text: str, size: float) -> float:
    """About how wide `text` is in a sans-serif font, with a little to spare."""
    return 1.08 * size * sum(map(_em, text))


def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if char in NARROW:
        return 0.32
    if char in WIDE:
        return 0.88
    return 0.68 if char.isupper() else 0.56


def _around(
    x: float, y: float, width: float, height: float, away: float
) -> list[tuple[float, float]]:
    near = away * 0.8
    return [
        (x + away, y),
        (x - away - width, y),
        (x - width / 2, y - away - height / 3),
        (x - width / 2, y + away + height / 3),
        (x + near, y - near),
        (x + near, y + near),
        (x - near - width, y - near),
        (x - near - width, y + near),
    ]


def _inside(box: Box, area: tuple[float, float]) -> bool:
    return min(box) >= 0 and box[2] <= area[0] and box[3] <= area[1]


def _crosses(dot: tuple[float, float], name: Placed, others: Sequence[Placed]) -> bool:
    """Whether the line from `dot` to its name would strike through another name."""
    left, top, right, bottom = name.box
    end = min(max(dot[0], left), right), min(max(dot[1], top), bottom)
    way = np.linspace(dot, end, 16)
    struck = [(way > other.box[:2]) & (way < other.box[2:]) for other in others]
    return any(bool(inside.all(axis=1).any()) for inside in struck)


def _hits(box: Box, taken: Floats, *, own: int) -> bool:
    """Whether `box` covers any of `taken`, its own dot aside."""
    over = np.asarray(((taken[:, :2] < box[2:]) & (taken[:, 2:] > box[:2])).all(axis=1))
    over[own] = False
    return bool(over.any())


SIDE = 460.0  # pixels
NAMED = 45
_MARK = "https://dot.invalid/"
_DOT = re.compile(rf'<a xlink:href="{re.escape(_MARK)}(\d+)">(.*?)</a>', re.DOTALL)
# times as frequent in one class as in the other: a dot above this has the colour of its class
ONE_SIDED = 2.0


@dataclass(frozen=True)
class Side:
    """One class: its name, how many records it has, and how many of them hold each word."""

    name: str
    size: int
    counts: Sequence[int]


def scatter_svg(
    words: Sequence[str], across: Side, up: Side, link: Callable[[str], str] | None = None
) -> str:
    """The chart as SVG in which each dot shows its word and figures on hover; with `link`, it links
    to `link(word)`."""
    figures = [
        f"{excerpt(word, 40)}: {a:,} of {across.size:,} {across.name}, {b:,} of {up.size:,}"
        f" {up.name}"
        for word, a, b in zip(words, across.counts, up.counts, strict=True)
    ]

    def dressed(dot: re.Match[str]) -> str:
        word, caption = words[int(dot[1])], escape(plain(figures[int(dot[1])]))
        inner = f"<title>{caption}</title>{dot[2]}"
        return (
            f'<a href="{escape(link(word))}" aria-label="{caption}">{inner}</a>'
            if link
            else f"<g>{inner}</g>"
        )

    return _DOT.sub(dressed, to_svg(scatter(words, across, up), values=False))


def scatter(words: Sequence[str], across: Side, up: Side) -> Any:
    """Both axes are logarithmic: words on the dashed line are equally usual in both classes."""
    import altair as alt

    x, y = share(across), share(up)
    low = 0.7 * min(x.min(), y.min())
    high = min(1.0, 1.5 * max(x.max(), y.max()))
    ratio = np.log(x / y)
    colours = colours_of([across.name, up.name])
    leaning = np.where(
        np.exp(np.abs(ratio)) < ONE_SIDED, "neither", np.where(ratio > 0, across.name, up.name)
    )
    pixels = np.stack([SIDE * _along(x, low, high), SIDE * (1 - _along(y, low, high))], axis=1)
    weight = np.abs(ratio) * np.sqrt(np.asarray(across.counts) + np.asarray(up.counts))
    wanted = [int(i) for i in np.argsort(-weight, kind="stable") if leaning[i] != "neither"][:NAMED]
    named = place(pixels, [(i, excerpt(words[i], 24)) for i in wanted], area=(SIDE, SIDE))
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(format="~%", values=_ticks(low, high), grid=True)
    numbers = [
        f"{_MARK}{i}" for i in range(len(words))
    ]  # what Vega keeps of a dot is where it leads
    dots = pl.DataFrame({"x": x, "y": y, "leans": leaning, "number": numbers})
    back = np.log(high / low) / SIDE
    labels = pl.DataFrame(
        {
            "x": [float(low * np.exp(back * p.left)) for p in named],
            "y": [float(high * np.exp(-back * p.middle)) for p in named],
            "word": [excerpt(words[p.index], 24) for p in named],
        },
        schema={"x": pl.Float64, "y": pl.Float64, "word": pl.String},
    )
    far = [p for p in named if p.away]
    lines = pl.DataFrame(
        {
            "x": [float(x[p.index]) for p in far],
            "y": [float(y[p.index]) for p in far],
            "x2": [
                float(low * np.exp(back * np.clip(pixels[p.index, 0], p.left, p.left + p.width)))
                for p in far
            ],
            "y2": [
                float(high * np.exp(-back * np.clip(pixels[p.index, 1], p.box[1], p.box[3])))
                for p in far
            ],
        },
        schema=dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64),
    )
    tones = {**colours, "neither": UNKNOWN}
    base = alt.Chart(dots).mark_point(filled=True, size=34, opacity=0.75)
    points = base.encode(
        x=alt.X(
            "x:Q",
            scale=scale,
            axis=axis,
            title=f"records labelled {excerpt(across.name, 40)} with the word",
        ),
        y=alt.Y(
            "y:Q",
            scale=scale,
            axis=axis,
            title=f"records labelled {excerpt(up.name, 40)} with the word",
        ),
        color=alt.Color(
            "leans:N",
            scale=alt.Scale(domain=list(tones), range=list(tones.values())),
            title="more frequent in:",
            legend=alt.Legend(orient="top"),
        ),
        href=alt.Href("number:N"),
    )
    at = alt.X("x:Q"), alt.Y("y:Q")
    even = alt.Chart(pl.DataFrame({"x": [low, high], "y": [low, high]})).mark_line(
        strokeDash=[5, 4], color="#9aa4b0"
    )
    leads = alt.Chart(lines).mark_rule(color="#9aa4b0", strokeWidth=0.7)
    text = alt.Chart(labels).mark_text(align="left", baseline="middle", fontSize=11)
    return alt.layer(
        even.encode(x=at[0], y=at[1]),
        leads.encode(x=at[0], y=at[1], x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")),
        points,
        text.encode(x=at[0], y=at[1], text=alt.Text("word:N")),
    ).properties(width=SIDE, height=SIDE)


def share(side: Side) -> Floats:
    """Share of the class that holds each word; zero counts as half a record, since the scale is
    logarithmic.
    """
    return np.maximum(np.asarray(side.counts, dtype=np.float64), 0.5) / max(side.size, 1)


def _along(values: Floats, low: float, high: float) -> Floats:
    """Where values lie on the logarithmic axis from `low` to `high`, as a share of its length."""
    return np.asarray(np.log(values / low) / np.log(high / low))


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every power of ten; only the powers where the axis is long."""
    powers = [10.0**e for e in range(-7, 1)]
    steps = (1,) if high / low > 1_000 else (1, 2, 5)
    return [t for p in powers for t in (round(s * p, 9) for s in steps) if low <= t <= high]
