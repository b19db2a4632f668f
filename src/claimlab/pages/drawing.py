"""What charts are drawn with: marks, axes and legends as SVG text, a few kilobytes for a figure.

Text colour and background are left to the page, so that a chart reads in light and in dark. How
wide a text is can only be guessed here; what stands around the marks has room to spare.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape

from claimlab.core.graphemes import graphemes
from claimlab.core.plain import plain

FONT = "Arial, 'Liberation Sans', sans-serif"
LETTER_PIXELS = 12.0  # pixels of a letter
LINE_PIXELS = 18.0  # pixels from one line of a legend to the next
AXIS, GRID = "#9aa4b0", "#9aa4b033"
NARROW, WIDE = frozenset("fijlrtI.,:;'’|!()[]"), frozenset("mwMW@%")
DATES_SHOWN = 8  # at most so many below an axis
EPOCH = date(1970, 1, 1).toordinal()
# corners of a shape that is 2 wide and 2 high, around 0
CORNERS = {
    "square": "-1,-1 1,-1 1,1 -1,1",
    "diamond": "0,-1.3 1,0 0,1.3 -1,0",
    "triangle-up": "0,-1 1,1 -1,1",
    "triangle-down": "0,1 1,-1 -1,-1",
    "triangle-right": "1,0 -1,1 -1,-1",
    "triangle-left": "-1,0 1,1 1,-1",
    "cross": "-.4,-1 .4,-1 .4,-.4 1,-.4 1,.4 .4,.4 .4,1 -.4,1 -.4,.4 -1,.4 -1,-.4 -.4,-.4",
    "stroke": "-1,0 1,0",
}


@dataclass(frozen=True)
class Scale:
    """Where the numbers from `low` to `high` lie along an axis of `length` pixels; `up` turns it
    round, since pixels count downwards.
    """

    low: float
    high: float
    length: float
    up: bool = False
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, here = self.low, self.high, value
        if self.logarithmic:
            low, high, here = math.log(low), math.log(high), math.log(value)
        share = (here - low) / ((high - low) or 1.0)
        return self.length * (1 - share if self.up else share)


Tick = tuple[float, str]  # its place on the scale, and its label


def ticks(low: float, high: float, most: int = 10) -> list[Tick]:
    """The multiples of 1, 2 or 5 times a power of ten: as many as fit."""
    step = _step(low, high, most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(k * step, f"{k * step:,.{digits}f}") for k in places]


def round_up(high: float, most: int = 10) -> float:
    """The tick at or above `high`, for an axis that starts at 0."""
    step = _step(0.0, high, most)
    return step * math.ceil(high / step - 1e-9)


def _step(low: float, high: float, most: int) -> float:
    least = ((high - low) or 1.0) / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def date_ticks(low: float, high: float) -> list[Tick]:
    """Days since 1970 at the start of years, months or days, as fine as fits."""
    first, last = (date.fromordinal(EPOCH + int(end)) for end in (math.ceil(low), high))
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    every = next(
        (n for n in (1, 3, 6, 12, 24, 60, 120, 240, 600) if months / n <= DATES_SHOWN), 12 * months
    )
    if months <= 2:
        return [
            (day, str(date.fromordinal(EPOCH + int(day))))
            for day, _ in ticks(low, high, DATES_SHOWN // 2)
        ]
    start = first.year * 12 // max(every, 12) * max(every, 12)
    starts = [date(m // 12, m % 12 + 1, 1) for m in range(start, last.year * 12 + 12, every)]
    return [
        (float(day.toordinal() - EPOCH), str(day.year) if every >= 12 else f"{day:%Y-%m}")
        for day in starts
        if low <= day.toordinal() - EPOCH <= high
    ]


def text_width(text: str, size: float = LETTER_PIXELS) -> float:
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


def fitted(text: str, width: float) -> str:
    """As much of `text` as `width` pixels hold."""
    if text_width(text) <= width:
        return text
    seen = graphemes(text)
    while seen and text_width("".join(seen) + "…") > width:
        seen.pop()
    return "".join(seen).rstrip() + "…"


Look = str | float | None  # a value of an attribute; null leaves it out


class Drawing:
    """Marks in an area of `width` by `height` pixels; axes, names and legends around it make the
    figure larger.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.left, self.top, self.right, self.bottom = 10.0, 8.0, 14.0, 8.0
        self.marks: list[str] = []

    def mark(
        self, kind: str, looks: Mapping[str, Look], *, hover: str = "", inside: str = ""
    ) -> None:
        """One element; `hover` is shown where it is pointed at."""
        attributes = "".join(
            f' {name}="{tenth(look) if isinstance(look, float | int) else escape(look)}"'
            for name, look in looks.items()
            if look is not None
        )
        title = f"<title>{escape(plain(hover))}</title>" if hover else ""
        self.marks.append(f"<{kind}{attributes}>{title}{inside}</{kind}>")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str | None = None,
        turn: float = 0,
        size: float | None = None,
    ) -> None:
        """`words` with the middle of their line at `y`."""
        turned = f"rotate({turn:g} {tenth(x)} {tenth(y)})" if turn else None
        looks = {
            "x": x,
            "y": y + 0.35 * (size or LETTER_PIXELS),
            "text-anchor": anchor,
            "font-size": size,
        }
        self.mark("text", {**looks, "transform": turned}, inside=escape(plain(words)))

    def line(
        self,
        *points: tuple[float, float],
        colour: str = AXIS,
        width: float | None = None,
        opacity: float | None = None,
        dashed: bool = False,
        hover: str = "",
    ) -> None:
        path = "L".join(f"{tenth(x)},{tenth(y)}" for x, y in points)
        looks = {"d": f"M{path}", "fill": "none", "stroke": colour, "stroke-width": width}
        dashes = "5,4" if dashed else None
        self.mark("path", {**looks, "stroke-dasharray": dashes, "opacity": opacity}, hover=hover)

    def bar(
        self,
        box: tuple[float, float, float, float],
        colour: str,
        hover: str,
        opacity: float | None = None,
    ) -> None:
        """`box` is left, top, width and height."""
        place = dict(zip(("x", "y", "width", "height"), box, strict=True))
        self.mark("rect", {**place, "fill": colour, "opacity": opacity}, hover=hover)

    def symbol(
        self,
        x: float,
        y: float,
        colour: str,
        *,
        shape: str = "circle",
        area: float = 60,
        hollow: bool = False,
        opacity: float | None = None,
        hover: str = "",
    ) -> None:
        half = math.sqrt(area) / 2
        looks: dict[str, Look] = {"fill": colour, "opacity": opacity}
        if hollow or shape == "stroke":
            looks |= {"fill": "none", "stroke": colour, "stroke-width": 1.5}
        if shape == "circle":
            self.mark("circle", {"cx": x, "cy": y, "r": 1.13 * half, **looks}, hover=hover)
            return
        corners = (map(float, corner.split(",")) for corner in CORNERS[shape].split())
        points = " ".join(f"{tenth(x + half * a)},{tenth(y + half * b)}" for a, b in corners)
        self.mark("polygon", {"points": points, **looks}, hover=hover)

    def across(self, scale: Scale, at: Iterable[Tick], title: str) -> None:
        """The axis below; labels that would touch each other are left out."""
        free = -math.inf
        for value, label in at:
            x, half = scale.at(value), text_width(label) / 2
            self.line((x, 0), (x, self.height), colour=GRID)
            if x - half < free:
                continue
            free = x + half + 8
            self.left, self.right = max(self.left, half - x), max(self.right, x + half - self.width)
            self.line((x, self.height), (x, self.height + 5))
            self.text(x, self.height + 14, label, anchor="middle")
        self.line((0, self.height), (self.width, self.height))
        self.bottom += 22
        self.below(title)

    def below(self, title: str) -> None:
        if title:
            y, words = self.height + self.bottom + 2, fitted(title, self.width)
            self.text(self.width / 2, y, words, anchor="middle")
            self.bottom += LINE_PIXELS

    def up(self, scale: Scale, at: Sequence[Tick], title: str) -> None:
        """The axis on the left."""
        for value, label in at:
            y = scale.at(value)
            self.line((0, y), (self.width, y), colour=GRID)
            self.line((-5, y), (0, y))
            self.text(-8, y, label, anchor="end")
        self.line((0, 0), (0, self.height))
        self.left += 10 + max((text_width(label) for _, label in at), default=0)
        if title:
            words = fitted(title, self.height + self.bottom)
            self.text(-self.left, self.height / 2, words, anchor="middle", turn=-90)
            self.left += LINE_PIXELS

    def names_left(self, names: Sequence[str], step: float, most: float = 240) -> None:
        """A name for each row of `step` pixels, cut at `most` pixels."""
        labels = [fitted(name, most) for name in names]
        for row, name in enumerate(labels):
            self.text(-8, (row + 0.5) * step, name, anchor="end")
        self.line((0, 0), (0, self.height))
        self.left += 8 + max(map(text_width, labels), default=0)

    def names_below(self, names: Sequence[str], step: float, turn: float) -> None:
        """A name for each column of `step` pixels, slanting."""
        labels = [fitted(name, 240) for name in names]
        for column, name in enumerate(labels):
            x = (column + 0.5) * step
            self.text(x, self.height + 10, name, anchor="end", turn=turn)
            reach = text_width(name) * math.cos(math.radians(turn)) - x
            self.left = max(self.left, reach + 6)
        self.line((0, self.height), (self.width, self.height))
        longest = max(map(text_width, labels), default=0)
        self.bottom += 14 + longest * math.sin(math.radians(abs(turn)))

    def legend(
        self, entries: Mapping[str, tuple[str, str]], title: str = "", *, hollow: bool = False
    ) -> None:
        """Names with their colour and shape, above the marks and in as many lines as they need."""
        if not entries:
            return
        lines: list[list[tuple[float, str]]] = [[]]
        x = text_width(title) + 8 if title else 0.0
        for name in entries:
            room = text_width(fitted(name, 240)) + 30
            if lines[-1] and x + room > max(self.width, 320):
                lines.append([])
                x = 0.0
            lines[-1].append((x, name))
            x += room
        first = -self.top - LINE_PIXELS * (len(lines) - 0.5)
        if title:
            self.text(0, first, title)
        for row, line in enumerate(lines):
            y = first + LINE_PIXELS * row
            for x, name in line:
                colour, shape = entries[name]
                self.symbol(x + 6, y, colour, shape=shape, area=80, hollow=hollow)
                self.text(x + 16, y, fitted(name, 240))
                end = x + 20 + text_width(fitted(name, 240))
                self.right = max(self.right, end - self.width)
        self.top += LINE_PIXELS * len(lines) + 4

    def svg(self) -> str:
        width, height = self.left + self.width + self.right, self.top + self.height + self.bottom
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
            f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}"'
            f' font-size="{LETTER_PIXELS:g}">'
            f'<g transform="translate({tenth(self.left)},{tenth(self.top)})">'
            f"{''.join(self.marks)}</g></svg>"
        )


def tenth(value: float) -> str:
    """Tenths of a pixel, and hundredths of what is below one."""
    return f"{round(value, 1 if abs(value) >= 1 else 2) + 0:g}"
