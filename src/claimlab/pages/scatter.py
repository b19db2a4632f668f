"""Words against labels: every word a dot, by how usual it is in either class; the one-sided ones
are named.

Names beside dots do not overlap: each takes the first free place around its dot, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from claimlab.core.plain import plain
from claimlab.core.stats.scores import Floats
from claimlab.pages.blocks import excerpt
from claimlab.pages.charts import UNKNOWN, colours_of
from claimlab.pages.drawing import Drawing, Scale, Tick, text_width

NAME_PIXELS, DOT_PIXELS = 11.0, 3.5  # pixels of a name's letters, and of a dot
GAPS = (5.0, 16.0, 30.0)  # pixels between a dot and its name: the nearest free place is taken
Box = tuple[float, float, float, float]  # left, top, right, bottom
SIDE_PIXELS = 460.0
WORDS_NAMED = 45  # at most
# times as frequent in one class as in the other: a dot above this has the colour of its class
ONE_SIDED = 2.0


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
) -> list[Placed]:
    """Put `names` (index of the dot, words; most important first) beside their dots within `area`
    (width, height).

    No name covers another, nor a dot. One that finds no free place is left out.
    """
    taken = np.concatenate([points - DOT_PIXELS, points + DOT_PIXELS], axis=1)
    out: list[Placed] = []
    for index, name in names:
        width, height = text_width(name, NAME_PIXELS), NAME_PIXELS * 1.15
        x, y = points[index]
        places = (
            (gap, at) for gap in GAPS for at in _around(x, y, width, height, DOT_PIXELS + gap)
        )
        for gap, (left, middle) in places:
            placed = Placed(index, left, middle, width, height, away=gap > GAPS[0])
            free = _inside(placed.box, area) and not _hits(placed.box, taken, own=index)
            if free and not (placed.away and _crosses((x, y), placed, out)):
                taken = np.vstack([taken, placed.box])
                out.append(placed)
                break
    return out


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


@dataclass(frozen=True)
class Side:
    """One class: its name, how many records it has, and how many of them hold each word."""

    name: str
    size: int
    counts: Sequence[int]


def scatter(
    words: Sequence[str], across: Side, up: Side, link: Callable[[str], str] | None = None
) -> str:
    """Each dot shows its word and figures on hover; with `link`, it links to `link(word)`.

    Both axes are logarithmic: words on the dashed line are equally usual in both classes.
    """
    x, y = share(across), share(up)
    low = 0.7 * min(x.min(), y.min())
    high = min(1.0, 1.5 * max(x.max(), y.max()))
    ratio = np.log(x / y)
    tones = {**colours_of([across.name, up.name]), "neither": UNKNOWN}
    leaning = np.where(
        np.exp(np.abs(ratio)) < ONE_SIDED, "neither", np.where(ratio > 0, across.name, up.name)
    )
    along = Scale(low, high, SIDE_PIXELS, logarithmic=True)
    upward = Scale(low, high, SIDE_PIXELS, up=True, logarithmic=True)
    pixels = np.array([[along.at(a), upward.at(b)] for a, b in zip(x, y, strict=True)])
    weight = np.abs(ratio) * np.sqrt(np.asarray(across.counts) + np.asarray(up.counts))
    heaviest = np.argsort(-weight, kind="stable")
    wanted = [int(i) for i in heaviest if leaning[i] != "neither"][:WORDS_NAMED]
    named = place(
        pixels, [(i, excerpt(words[i], 24)) for i in wanted], area=(SIDE_PIXELS, SIDE_PIXELS)
    )
    drawing, steps = Drawing(SIDE_PIXELS, SIDE_PIXELS), _ticks(low, high)
    what = "records labelled {} with the word"
    drawing.across(along, steps, what.format(excerpt(across.name, 40)))
    drawing.up(upward, steps, what.format(excerpt(up.name, 40)))
    drawing.line((0, SIDE_PIXELS), (SIDE_PIXELS, 0), dashed=True)
    for name in named:
        if name.away:
            left, top, right, bottom = name.box
            dot = pixels[name.index]
            end = float(np.clip(dot[0], left, right)), float(np.clip(dot[1], top, bottom))
            drawing.line((float(dot[0]), float(dot[1])), end, width=0.7)
    figures = zip(words, across.counts, up.counts, strict=True)
    for (word, a, b), dot, leans in zip(figures, pixels, leaning, strict=True):
        hover = (
            f"{excerpt(word, 40)}: {a:,} of {across.size:,} {across.name}, {b:,} of {up.size:,}"
            f" {up.name}"
        )
        if link:
            caption = escape(plain(hover))
            drawing.marks.append(f'<a href="{escape(link(word))}" aria-label="{caption}">')
        drawing.symbol(dot[0], dot[1], tones[str(leans)], area=34, opacity=0.75, hover=hover)
        if link:
            drawing.marks.append("</a>")
    for name in named:
        drawing.text(name.left, name.middle, excerpt(words[name.index], 24), size=11)
    drawing.legend(
        {tone: (colour, "circle") for tone, colour in tones.items()}, "more frequent in:"
    )
    return drawing.svg()


def share(side: Side) -> Floats:
    """Share of the class that holds each word; zero counts as half a record, since the scale is
    logarithmic.
    """
    return np.maximum(np.asarray(side.counts, dtype=np.float64), 0.5) / max(side.size, 1)


def _ticks(low: float, high: float) -> list[Tick]:
    """1, 2 and 5 of every power of ten; only the powers where the axis is long."""
    powers = [10.0**e for e in range(-7, 1)]
    steps = (1,) if high / low > 1_000 else (1, 2, 5)
    places = [t for p in powers for t in (round(s * p, 9) for s in steps) if low <= t <= high]
    return [(t, f"{100 * t:g}%") for t in places]
