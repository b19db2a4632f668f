"""Names beside dots without overlap: each takes the first free place around its dot, or none."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

GAPS = (5.0, 16.0, 30.0)  # pixels between a dot and its name: the nearest free place is taken
NARROW, WIDE = frozenset("fijlrtI.,:;'’|!()[]"), frozenset("mwMW@%")


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
    def box(self) -> tuple[float, float, float, float]:
        half = self.height / 2
        return self.left, self.middle - half, self.left + self.width, self.middle + half


def place(
    points: npt.NDArray[np.float64],
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


def _inside(box: tuple[float, float, float, float], area: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= area[0] and box[3] <= area[1]


def _crosses(dot: tuple[float, float], name: Placed, others: Sequence[Placed]) -> bool:
    """Whether the line from `dot` to its name would strike through another name."""
    left, top, right, bottom = name.box
    end = min(max(dot[0], left), right), min(max(dot[1], top), bottom)
    way = np.linspace(dot, end, 16)
    return any(
        bool(
            (
                (way[:, 0] > b[0]) & (way[:, 0] < b[2]) & (way[:, 1] > b[1]) & (way[:, 1] < b[3])
            ).any()
        )
        for b in (other.box for other in others)
    )


def _hits(
    box: tuple[float, float, float, float], taken: npt.NDArray[np.float64], *, own: int
) -> bool:
    """Whether `box` covers any of `taken`, its own dot aside."""
    left, top, right, bottom = box
    over = (
        (taken[:, 0] < right) & (taken[:, 2] > left) & (taken[:, 1] < bottom) & (taken[:, 3] > top)
    )
    over[own] = False
    return bool(over.any())
