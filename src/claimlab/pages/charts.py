"""Charts as SVG text: no browser, no script in the page, no library; a few kilobytes each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from itertools import chain, cycle
from textwrap import wrap
from typing import Literal, NamedTuple

from claimlab.core.plain import plain
from claimlab.core.words import several
from claimlab.pages.blocks import Figure, Table, cell, excerpt
from claimlab.pages.drawing import (
    EPOCH,
    FONT,
    GRID,
    Drawing,
    Scale,
    date_ticks,
    fitted,
    round_up,
    ticks,
)
from claimlab.pages.look import colours

_LOOK = colours()  # of a page on paper; on a screen the stylesheet puts those of the scheme
TRUE, FALSE, MIXED, UNKNOWN = (_LOOK[name] for name in ("true", "false", "mixed", "grey"))
CLASS_COLOURS = {"true": TRUE, "false": FALSE, "mixed": MIXED, "unknown": UNKNOWN}
VERDICT_COLOURS = {
    **{name: _LOOK[name] for name in ("fail", "warn", "inconclusive", "pass")},
    **dict.fromkeys(("not-measured", "not-applicable"), UNKNOWN),
}
_MORE_COLOURS = ("#7a5ea8", "#2f9c95", "#c25b8f", "#7f8f3a", "#a0653a", "#5a6ea0")
WIDTH = 640
ROW = 20.0  # pixels of a bar and the gap below it
SHAPES = {
    "score": "circle",
    "majority": "triangle-right",
    "stratified": "stroke",
    "shuffled": "cross",
    "own text": "diamond",
}
BOUNDS = {"lower": "triangle-down", "upper": "triangle-up"}
MARKS = {**SHAPES, **BOUNDS}
LINE = 21.0  # pixels
CELL = 46  # pixels
LEAST = 300  # pixels wide: a page would enlarge a smaller figure
SIDE, EDGE = 440, 8  # pixels
MOST_LABELS = 6  # with a colour each; the rest are "other"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
NONE, OTHER = "no label", "other"
FONT_OF_PNG = "Arimo"  # as wide as Arial, which pages ask for
PIXELS_PER_UNIT = 2.0  # of a PNG


def table_to_svg(tables: Sequence[Table]) -> str:
    """Tables below each other as a figure, for slides, with the rules and the note of a paper."""
    marks: list[tuple[int, int, str | None]] = []  # a rule has no text
    top, widest = 8, 0
    for table in tables:
        rows = [[cell(value).text for value in row] for row in (table.columns, *table.rows)]
        sizes = [8 * max(map(len, column)) + 20 for column in zip(*rows, strict=True)]
        width = max(sum(sizes), 300)
        for number, row in enumerate(rows):
            y = top + 20 + 22 * number
            marks += [(14 + sum(sizes[:i]), y, text) for i, text in enumerate(row)]
        end = top + 22 * len(rows) + 6
        marks += [(8, y, None) for y in (top, top + 28, end)]
        note = wrap(table.caption, width // 7)
        marks += [(14, end + 20 + 18 * number, line) for number, line in enumerate(note)]
        top, widest = end + 30 + 18 * len(note), max(widest, width)
    drawn = (
        f'<path d="M{x},{y}H{widest}" stroke="#000"/>'
        if text is None
        else f'<text x="{x}" y="{y}">{escape(plain(text))}</text>'
        for x, y, text in marks
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest + 8}" height="{top}"'
        f' font-family="{FONT}" font-size="13">{"".join(drawn)}</svg>'
    )


def svg_to_png(svg: str) -> bytes:
    """An SVG of ours as PNG on white, for papers and slides. Its letters are those of the font that
    is installed with claimlab; scripts that this font lacks are drawn in one of the system's.
    """
    from fontpkg_arimo import ROOT
    from resvg_py import svg_to_bytes

    return svg_to_bytes(
        svg.replace(FONT, FONT_OF_PNG, 1),
        background="white",
        zoom=PIXELS_PER_UNIT,
        font_dirs=[str(ROOT / "files")],
        font_family=FONT_OF_PNG,
        sans_serif_family=FONT_OF_PNG,
    )


def colours_of(classes: Iterable[str]) -> dict[str, str]:
    """A colour for each class: the verdicts keep theirs, others take what is left in their
    order.
    """
    spare = iter(_MORE_COLOURS * 50)
    return {c: CLASS_COLOURS.get(c) or next(spare) for c in classes}


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, repeats numbered: a chart draws equal names on one line."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def bars(  # noqa: PLR0913
    rows: Sequence[Mapping[str, object]],
    *,
    category: str,
    value: str,
    colour: str | None = None,
    colours: Mapping[str, str] | None = None,
    title: str = "",
    horizontal: bool = True,
    stack: Literal["zero", "normalize"] = "zero",
    width: int = WIDTH,
) -> str:
    """A bar per category, in the order given; `colour` names the field that splits or tones the
    bars. With "normalize", each bar is split into shares."""
    what, shares = title or value, stack == "normalize"
    pieces = _pieces(rows, category, value, colour, shares=shares)
    tones = list(dict.fromkeys(piece.tone for parts in pieces.values() for piece in parts))
    known = {**colours_of(tones), "": TRUE, **(colours or {})}
    order = sorted(tones, key=list(colours or known).index)
    drawing = Drawing(width, ROW * len(pieces) if horizontal else 220)
    scale, step = _bar_axes(drawing, pieces, what, shares, horizontal)
    for place, (name, parts) in enumerate(pieces.items()):
        end, start, thick = 0.0, (place + 0.05) * step, 0.9 * step
        for piece in sorted(parts, key=lambda piece: order.index(piece.tone)):
            hover = f"{category}: {name}; {what}: {piece.number:,.6g}"
            hover += f"; {colour}: {piece.tone}" if colour else ""
            first, end = end, end + piece.length
            near, far = sorted((scale.at(first), scale.at(end)))
            lying = near, start, far - near, thick
            standing = start, near, thick, far - near
            drawing.bar(lying if horizontal else standing, known[piece.tone], hover)
    drawing.legend({tone: (known[tone], "square") for tone in order if colour})
    return drawing.svg()


class _Piece(NamedTuple):
    tone: str
    number: float
    length: float


def _pieces(
    rows: Sequence[Mapping[str, object]],
    category: str,
    value: str,
    colour: str | None,
    *,
    shares: bool,
) -> dict[str, list[_Piece]]:
    """The pieces of each bar."""
    pieces: dict[str, list[_Piece]] = {}
    totals: dict[str, float] = {}
    for row in rows:
        name = str(row[category])
        totals[name] = totals.get(name, 0.0) + float(str(row[value]))
    for row in rows:
        name, number = str(row[category]), float(str(row[value]))
        length = number / (totals[name] or 1) if shares else number
        tone = str(row[colour]) if colour else ""
        pieces.setdefault(name, []).append(_Piece(tone, number, length))
    return pieces


def _bar_axes(
    drawing: Drawing,
    pieces: Mapping[str, list[_Piece]],
    what: str,
    shares: bool,
    horizontal: bool,
) -> tuple[Scale, float]:
    """The scale along the bars, and how many pixels each takes."""
    names = list(pieces)
    longest = max((sum(piece.length for piece in parts) for parts in pieces.values()), default=1.0)
    most = 1.0 if shares else round_up(longest)
    steps = [(k / 10, f"{10 * k}%") for k in range(11)] if shares else ticks(0, most)
    if horizontal:
        scale, step = Scale(0, most, drawing.width), ROW
        drawing.across(scale, steps, what)
        drawing.names_left(names, step)
    else:
        scale = Scale(0, most, drawing.height, up=True)
        step = drawing.width / max(1, len(names))
        drawing.up(scale, steps, what)
        drawing.names_below(names, step, turn=-35)
    return scale, step


def histogram(
    edges: Sequence[float],
    counts: Mapping[str, Sequence[int]],
    *,
    title: str,
    dates: bool = False,
) -> str:
    """Counts per bin and class, already counted, so that the page carries bins and not rows.

    `edges` has one number more than each list of counts; with `dates` they are days since 1970.
    """
    colours = colours_of(counts)
    most = round_up(max((n for column in counts.values() for n in column), default=0) or 1, 6)
    drawing = Drawing(WIDTH, 180)
    along, up = Scale(edges[0], edges[-1], WIDTH), Scale(0, most, drawing.height, up=True)
    below = date_ticks if dates else ticks
    drawing.up(up, ticks(0, most, 6), "records")
    drawing.across(along, below(edges[0], edges[-1]), title)
    ends = [str(date.fromordinal(EPOCH + int(e))) if dates else f"{e:,.6g}" for e in edges]
    for name, column in counts.items():
        for i, n in enumerate(column):
            left, top = along.at(edges[i]), up.at(n)
            box = left, top, along.at(edges[i + 1]) - left, drawing.height - top
            hover = f"{title}: {ends[i]} to {ends[i + 1]}; records: {n}; class: {name}"
            if n:
                drawing.bar(box, colours[name], hover, opacity=0.6)
    drawing.legend({name: (colour, "square") for name, colour in colours.items()})
    return drawing.svg()


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
) -> str:
    """A line per row in the order given; a dashed rule at `threshold` where there is one. `width`
    is that of the axis, `names` the most pixels that a name may take."""
    drawing = Drawing(width, LINE * len(rows))
    scale = Scale(0, 1, width)
    drawing.across(scale, [(k / 10, str(10 * k)) for k in range(11)], title)
    drawing.names_left(distinct(row.name for row in rows), LINE, names)
    for place, row in enumerate(rows):
        y, colour = (place + 0.5) * LINE, VERDICT_COLOURS.get(row.tone, TRUE)
        drawing.line((0, y), (width, y), colour=GRID)
        _draw_row(drawing, scale, y, row, colour)
    if threshold is not None:
        x = scale.at(threshold)
        drawing.line((x, 0), (x, drawing.height), colour=UNKNOWN, dashed=True)
    tones = {row.tone for row in rows}
    drawing.legend({t: (colour, "circle") for t, colour in VERDICT_COLOURS.items() if t in tones})
    kinds = {kind for row in rows for kind in row.marks}
    marks = {kind: (UNKNOWN, shape) for kind, shape in MARKS.items() if kind in kinds}
    drawing.legend(marks, "bounds:" if kinds <= set(BOUNDS) else "baselines:", hollow=True)
    return drawing.svg()


def _draw_row(drawing: Drawing, scale: Scale, y: float, row: Dot, colour: str) -> None:
    for kind, value in row.marks.items():
        x, hover = scale.at(value), f"{row.name}: {kind} {100 * value:.1f}"
        drawing.symbol(x, y, UNKNOWN, shape=MARKS[kind], area=45, hollow=True, hover=hover)
    words = f"{row.name}: {100 * row.value:.1f}"
    if row.interval is not None:
        low, high = row.interval
        words += f" ({100 * low:.1f} to {100 * high:.1f})"
        ends = (scale.at(low), y), (scale.at(high), y)
        drawing.line(*ends, colour=colour, width=3, opacity=0.55, hover=words)
    drawing.symbol(scale.at(row.value), y, colour, area=70, hover=words)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
    levels: Mapping[str, float] | None = None,
) -> str:
    """`series` maps a name to its points; `levels` are dashed lines with their names, always in
    sight.
    """
    marked = levels or {}
    points = list(chain.from_iterable(series.values()))
    highest = 1.05 * max([*marked.values(), *(y for _, y in points)], default=1.0) or 1.0
    last = max([x for x, _ in points], default=1.0)
    drawing = Drawing(WIDTH, 260)
    along, upward = Scale(0, last, WIDTH), Scale(0, highest, drawing.height, up=True)
    every = max(1, round(last / 10))  # whole steps only
    drawing.up(upward, ticks(0, highest), up)
    drawing.across(along, [(x, f"{x:,}") for x in range(0, int(last) + 1, every)], across)
    colours = colours_of(series)
    for name, one in series.items():
        places = [(along.at(x), upward.at(y)) for x, y in one]
        drawing.line(*places, colour=colours[name], width=2)
        for place, (x, y) in zip(places, one, strict=True):
            hover = f"{name}: {across} {x:,.6g}; {up} {y:,.4g}"
            drawing.symbol(*place, colours[name], area=14, hover=hover)
    for name, level in marked.items():
        y = upward.at(level)
        drawing.line((0, y), (WIDTH, y), dashed=True)
        drawing.text(WIDTH, y - 8, fitted(name, WIDTH), anchor="end", size=11)
    drawing.legend({name: (colour, "circle") for name, colour in colours.items()})
    return drawing.svg()


def reliability(points: Sequence[tuple[int, float, float]]) -> str:
    """A dot per bin (n, mean confidence, share right), larger with more records; on the dashed line
    sure is right.
    """
    drawing = Drawing(300, 240)
    along, up = Scale(0, 1, drawing.width), Scale(0, 1, drawing.height, up=True)
    steps = [(k / 5, str(20 * k)) for k in range(6)]
    drawing.up(up, steps, "correct (%)")
    drawing.across(along, steps, "confidence (%)")
    drawing.line((0, drawing.height), (drawing.width, 0), colour=UNKNOWN, width=1.5, dashed=True)
    places = [(along.at(sure), up.at(right)) for _, sure, right in points]
    drawing.line(*places, colour=TRUE, width=2, opacity=0.6)
    most = max((n for n, _, _ in points), default=1) or 1
    for (x, y), (n, sure, right) in zip(places, points, strict=True):
        hover = f"{n:,} records: confidence {100 * sure:.1f}%, correct {100 * right:.1f}%"
        drawing.symbol(x, y, TRUE, area=30 + 230 * n / most, hover=hover)
    return drawing.svg()


def heatmap(
    cells: Sequence[Mapping[str, object]],
    *,
    row: str,
    column: str,
    value: str,
    title: str,
    order: Sequence[str],
    columns: Sequence[str] | None = None,
    number: str = ",.0f",
) -> str:
    """`cells` name their row and column; missing cells stay empty, which is not the same as
    zero. What a cell has under "hover" is shown when it is pointed at, instead of its values.
    """
    across, high = list(columns or order), 0.7 * CELL
    drawing = Drawing(max(CELL * len(across), LEAST), high * len(order))
    wide = drawing.width / max(1, len(across))
    drawing.text(drawing.width, -10, title, anchor="end")
    drawing.top += 14
    drawing.names_left(list(order), high)
    drawing.names_below(across, wide, turn=-40)
    known = [(one, float(str(one[value]))) for one in cells if one.get(value) is not None]
    most = max((n for _, n in known), default=0.0) or 1.0
    for one, n in known:
        left, top = wide * across.index(str(one[column])), high * list(order).index(str(one[row]))
        hover = (
            one.get("hover") or f"{row}: {one[row]}; {column}: {one[column]}; {title}: {n:{number}}"
        )
        # Shaded by how much of the page shines through: the page's ink reads on it, light or dark.
        drawing.bar(
            (left, top, wide, high), TRUE, str(hover), opacity=0.1 + 0.6 * max(0.0, n) / most
        )
        drawing.text(left + wide / 2, top + high / 2, f"{n:{number}}", anchor="middle", size=11)
    return drawing.svg()


def map_figure(
    points: Sequence[Sequence[float]],
    labels: Sequence[str | None],
    names: Sequence[str],
    *,
    method: str,
) -> Figure:
    """The figure with its caption; `names` are what a dot says on hover, next to its label."""
    shown = _shown(labels)
    classes = {label: shown.count(label) for label in dict.fromkeys(sorted(shown))}
    tally = ", ".join(f"{excerpt(label, 40)} {n:,}" for label, n in classes.items())
    caption = (
        f"{several(len(shown), 'text')} by meaning: texts that are near each other say similar"
        f" things. Sentence vectors, brought down to two dimensions by {method}; the axes have no"
        " unit, and distances between groups that are far apart mean nothing."
    )
    alt = f"Scatter of {several(len(shown), 'text')} by meaning, coloured by label ({tally})."
    return Figure(_map(points, shown, names), caption, alt, "")


def _shown(labels: Sequence[str | None]) -> list[str]:
    """The labels as the legend has them: the most frequent ones, and the others together."""
    known = [label for label in labels if label is not None]
    frequent = sorted(set(known), key=lambda label: (-known.count(label), label))[:MOST_LABELS]
    return [NONE if label is None else label if label in frequent else OTHER for label in labels]


def _map(points: Sequence[Sequence[float]], shown: Sequence[str], names: Sequence[str]) -> str:
    classes = sorted(set(shown), key=lambda label: (label in (NONE, OTHER), label))
    colours = {**colours_of(classes), **dict.fromkeys({NONE, OTHER} & set(classes), UNKNOWN)}
    shapes = cycle(_SHAPES)
    looks = {label: (colours[label], next(shapes)) for label in classes}
    drawing = Drawing(SIDE, SIDE)
    along, up = (
        Scale(min(numbers, default=0.0), max(numbers, default=1.0), SIDE - 2 * EDGE, up=bool(axis))
        for axis in (0, 1)
        for numbers in [[float(point[axis]) for point in points]]
    )
    for (x, y, *_), label, name in zip(points, shown, names, strict=True):
        colour, shape = looks[label]
        hover = f"{label}: {excerpt(name, 60)}"
        place = EDGE + along.at(float(x)), EDGE + up.at(float(y))
        drawing.symbol(*place, colour, shape=shape, area=42, opacity=0.7, hover=hover)
    drawing.legend({excerpt(label, 24): look for label, look in looks.items()})
    return drawing.svg()
