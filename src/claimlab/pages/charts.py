"""Charts as SVG text, drawn by Altair and vl-convert: no browser, no script in the page, a few
kilobytes each.

Text colour and background are left to the page, so that a chart reads in light and in dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from html import escape
from textwrap import wrap
from typing import Any, Literal, TypeAlias

import polars as pl

from claimlab.core import packaged
from claimlab.core.plain import plain, plain_values
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import Figure, Table, cell, excerpt

TRUE, FALSE, MIXED, UNKNOWN = "#3f7fbf", "#d1603d", "#b79a2e", "#8b95a1"
CLASS_COLOURS = {"true": TRUE, "false": FALSE, "mixed": MIXED, "unknown": UNKNOWN}
VERDICT_COLOURS = {
    "fail": "#c8453b",
    "warn": "#c98a1b",
    "inconclusive": "#7a6fb0",
    "pass": "#3b9a5f",
    "not-measured": "#8b95a1",
}
Chart: TypeAlias = Any  # of Altair, which has no types of its own
_MORE_COLOURS = ("#7a5ea8", "#2f9c95", "#c25b8f", "#7f8f3a", "#a0653a", "#5a6ea0")
WIDTH = 640
EPOCH = date(1970, 1, 1).toordinal()
FONT = (  # as measured here; a wider font of the reader's takes the padding
    "Arial, 'Liberation Sans', sans-serif"
)
_DEFAULTS = re.compile(
    r' (?:role|aria-[a-z]+|pointer-events|font-family|xmlns:xlink)="[^"]*"| opacity="1"|'
    r' class="mark-[^"]*"'
)

_MARK = re.compile(
    r'<(path|line|rect)((?: [^<>]*?)?) aria-label="([^"]*)" role="graphics-symbol"([^<>]*?)/>'
)


def to_svg(chart: Chart, *, values: bool = True) -> str:
    """The chart as one SVG element without a fixed background; with `values`, each mark shows its
    value on hover."""
    import vl_convert

    theme = packaged.toml("claimlab.pages", "theme.toml")
    spec = chart.to_dict(validate=False)  # Altair's check would take a fifth of the whole time
    look = spec["config"]
    look |= {"aria": values, "font": FONT, **theme, "view": {**look["view"], "stroke": None}}
    svg: str = vl_convert.vegalite_to_svg(
        plain_values(spec)
    )  # a control character in a label would end the process
    return slim(_MARK.sub(_pointed_at, svg[svg.index("<svg") :]))


def _pointed_at(mark: re.Match[str]) -> str:
    """A mark with its values as a title, which browsers show on hover. Readers of the page have its
    words instead.
    """
    name, before, label, after = mark.groups()
    return f"<{name}{before}{after}><title>{label.replace('::', ':')}</title></{name}>"


def slim(svg: str) -> str:
    """The same figure in a third of the bytes: tenths of a pixel, one font, nothing empty. Text is
    left as it is.
    """
    without = re.sub(
        r'<path class="(?:back|fore)ground"[^<>]*(?:d=""|d="M0,0h0v0h0Z")[^<>]*/>', "", svg
    )
    lean = re.sub(
        r"<[^<>]*>",
        lambda tag: re.sub(r"-?(?<!\d)\d+\.\d\d+", _tenth, _DEFAULTS.sub("", tag.group())),
        without,
    )
    return lean.replace("<svg ", f'<svg font-family="{FONT}" ', 1)


def _tenth(number: re.Match[str]) -> str:
    return f"{float(number.group()):.1f}".removesuffix(".0")


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
    """An SVG of ours as PNG on white, for papers and slides."""
    import vl_convert

    end = svg.index(">") + 1
    png: bytes = vl_convert.svg_to_png(
        f'{svg[:end]}<rect width="100%" height="100%" fill="white"/>{svg[end:]}', 2.0
    )
    return png


def colours_of(classes: Iterable[str]) -> dict[str, str]:
    """A colour for each class: the verdicts keep theirs, others take what is left in their
    order.
    """
    spare = iter(_MORE_COLOURS * 50)
    return {c: CLASS_COLOURS.get(c) or next(spare) for c in classes}


def colour_scale(colours: Mapping[str, str]) -> Chart:
    import altair as alt

    return alt.Scale(domain=list(colours), range=list(colours.values()))


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, repeats numbered: a chart draws equal names on one line."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def bars(
    rows: Sequence[Mapping[str, object]],
    *,
    category: str,
    value: str,
    colour: str | None = None,
    colours: Mapping[str, str] | None = None,
    title: str = "",
    horizontal: bool = True,
    stack: Literal["zero", "normalize", "center"] | None = "zero",
    width: int = WIDTH,
) -> Chart:
    """A bar per category, in the order given; `colour` names the field that splits or tones the
    bars.
    """
    import altair as alt

    order = list(dict.fromkeys(str(r[category]) for r in rows))
    along = alt.Y(f"{category}:N", sort=order, title=None)
    across = alt.X(f"{value}:Q", title=title or value, stack=stack)
    encoding: JsonObject = {"y": along, "x": across}
    size: JsonObject = {"width": width}
    if not horizontal:
        below = alt.X(f"{category}:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35))
        encoding = {"x": below, "y": alt.Y(f"{value}:Q", title=title or value)}
        size["height"] = 220
    if colour is not None:
        scale = colour_scale(colours) if colours else alt.Undefined
        encoding["color"] = alt.Color(
            f"{colour}:N", scale=scale, title=None, legend=alt.Legend(orient="top")
        )
    else:
        encoding["color"] = alt.ColorValue(TRUE)
    return (
        alt.Chart(pl.DataFrame([dict(r) for r in rows]))
        .mark_bar()
        .encode(**encoding)
        .properties(**size)
    )


def histogram(
    edges: Sequence[float],
    counts: Mapping[str, Sequence[int]],
    *,
    title: str,
    dates: bool = False,
    width: int = WIDTH,
) -> Chart:
    """Counts per bin and class, already counted, so that the page carries bins and not rows.

    `edges` has one number more than each list of counts; with `dates` they are days since 1970.
    """
    import altair as alt

    at = [86_400_000 * e for e in edges] if dates else list(edges)
    ends = [str(date.fromordinal(EPOCH + int(e))) for e in edges] if dates else []
    rows = [
        {
            "from": at[i],
            "to": at[i + 1],
            "n": n,
            "class": name,
            "shown": (
                f"{title}: {ends[i]} to {ends[i + 1]}; records: {n}; class: {name}" if dates else ""
            ),
        }
        for name, column in counts.items()
        for i, n in enumerate(column)
        if n
    ]
    colours = colours_of(counts)
    kind = "T" if dates else "Q"
    axis = alt.Axis(labelSeparation=8, labelOverlap="parity")  # long numbers would touch each other
    # In UTC, and what is shown on hover in our words: dates in the time of the machine would differ
    # between machines.
    scale = alt.Scale(type="utc", nice=False) if dates else alt.Scale(nice=False)
    x = alt.X(f"from:{kind}", title=title, scale=scale, axis=axis)
    across: JsonObject = {"x": x, "x2": alt.X2("to")}
    if dates:
        across["description"] = alt.Description("shown:N")
    schema = {
        "from": pl.Float64,
        "to": pl.Float64,
        "n": pl.Int64,
        "class": pl.String,
        "shown": pl.String,
    }
    return (
        alt.Chart(pl.DataFrame(rows, schema=schema))
        .mark_bar(opacity=0.6)
        .encode(
            **across,
            y=alt.Y("n:Q", title="records", stack=None),
            y2=alt.Y2Datum(0),
            color=alt.Color(
                "class:N", scale=colour_scale(colours), title=None, legend=alt.Legend(orient="top")
            ),
        )
        .properties(width=width, height=180)
    )


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
) -> Chart:
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


def _colour(rows: Sequence[Dot]) -> Chart:
    """By verdict, or one colour where there are none."""
    import altair as alt

    tones = [t for t in VERDICT_COLOURS if any(r.tone == t for r in rows)]
    if not tones:
        return alt.ColorValue(TRUE)
    scale = colour_scale({tone: VERDICT_COLOURS[tone] for tone in tones})
    return alt.Color("tone:N", scale=scale, title=None, legend=alt.Legend(orient="top"))


def _intervals(rows: Sequence[Dot]) -> Chart:
    import altair as alt

    spans = [
        (r.name, 100 * r.interval[0], 100 * r.interval[1], r.tone)
        for r in rows
        if r.interval is not None
    ]
    types = {"name": pl.String, "low": pl.Float64, "high": pl.Float64, "tone": pl.String}
    return alt.Chart(pl.DataFrame(spans, schema=types, orient="row"))


def _baselines(rows: Sequence[Dot], x: Chart, y: Chart) -> list[Chart]:
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
        scale=colour_scale({kind: shapes[kind] for kind in kinds}),
        title="bounds:" if set(kinds) <= set(BOUNDS) else "baselines:",
        legend=alt.Legend(orient="top", direction="horizontal"),
    )
    style: JsonObject = {"size": 45, "color": "#8b95a1", "filled": False, "strokeWidth": 1.5}
    return [alt.Chart(pl.DataFrame(marks)).mark_point(**style).encode(y=y, x=x, shape=shape)]


HEIGHT = 260


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
    levels: Mapping[str, float] | None = None,
    width: int = WIDTH,
) -> Chart:
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
            scale=colour_scale(colours),
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


def reliability(points: Sequence[tuple[int, float, float]]) -> Chart:
    """A dot per bin (n, mean confidence, share right), larger with more records; on the dashed line
    sure is right.
    """
    import altair as alt

    scale = alt.Scale(domain=[0, 100])
    frame = pl.DataFrame(
        [{"n": n, "sure": 100 * sure, "right": 100 * right} for n, sure, right in points],
        schema={"n": pl.Int64, "sure": pl.Float64, "right": pl.Float64},
    )
    x = alt.X("sure:Q", title="confidence (%)", scale=scale, axis=alt.Axis(tickCount=5))
    y = alt.Y("right:Q", title="correct (%)", scale=scale, axis=alt.Axis(tickCount=5))
    even = alt.Chart(pl.DataFrame({"sure": [0, 100], "right": [0, 100]}))
    return alt.layer(
        even.mark_line(strokeDash=[5, 4], color="#8b95a1", strokeWidth=1.5).encode(x=x, y=y),
        alt.Chart(frame).mark_line(color=TRUE, strokeWidth=2, opacity=0.6).encode(x=x, y=y),
        alt.Chart(frame)
        .mark_point(filled=True, color=TRUE, opacity=1)
        .encode(x=x, y=y, size=alt.Size("n:Q", scale=alt.Scale(range=[30, 260]), legend=None)),
    ).properties(width=300, height=240)


CELL = 46  # pixels
LEAST = 300  # pixels wide: a page would enlarge a smaller figure


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
) -> Chart:
    """`cells` name their row and column; missing cells stay empty, which is not the same as
    zero. What a cell has under "hover" is shown when it is pointed at, instead of its values.
    """
    import altair as alt

    across = list(columns or order)
    schema = {row: pl.String, column: pl.String, value: pl.Float64, "hover": pl.String}
    data = pl.DataFrame([{k: c.get(k) for k in schema} for c in cells], schema=schema)
    highest = data[value].max()
    most = float(highest) if isinstance(highest, float) and highest > 0 else 1.0
    at = {
        "x": alt.X(
            f"{column}:N",
            sort=across,
            title=None,
            axis=alt.Axis(labelAngle=-40),
            scale=alt.Scale(domain=across),
        ),
        "y": alt.Y(f"{row}:N", sort=list(order), title=None, scale=alt.Scale(domain=list(order))),
    }
    # Shaded by how much of the page shines through, in tenths as `slim` rounds: the page's ink
    # reads on it, light or dark.
    shade = alt.Opacity(
        f"{value}:Q", scale=alt.Scale(domain=[0, most], range=[0.1, 0.7]), legend=None
    )
    base = alt.Chart(data, title=alt.Title(title, fontSize=12, fontWeight="normal", anchor="end"))
    text = base.mark_text(fontSize=11).encode(**at, text=alt.Text(f"{value}:Q", format=number))
    hover = {"description": "hover:N"} if any("hover" in c for c in cells) else {}
    rectangles = base.mark_rect(color=TRUE).encode(**at, **hover, opacity=shade)
    return alt.layer(rectangles, text).properties(
        width=max(CELL * len(across), LEAST), height=0.7 * CELL * len(order)
    )


SIDE = 440  # pixels
MOST_LABELS = 6  # with a colour each; the rest are "other"
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
NONE, OTHER = "no label", "other"


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
    return Figure(to_svg(_chart(points, shown, names)), caption, alt, "")


def _shown(labels: Sequence[str | None]) -> list[str]:
    """The labels as the legend has them: the most frequent ones, and the others together."""
    known = [label for label in labels if label is not None]
    frequent = sorted(set(known), key=lambda label: (-known.count(label), label))[:MOST_LABELS]
    return [NONE if label is None else label if label in frequent else OTHER for label in labels]


def _chart(points: Sequence[Sequence[float]], shown: Sequence[str], names: Sequence[str]) -> Chart:
    import altair as alt

    classes = sorted(set(shown), key=lambda label: (label in (NONE, OTHER), label))
    colours = {**colours_of(classes), **dict.fromkeys({NONE, OTHER} & set(classes), UNKNOWN)}
    table = pl.DataFrame(
        {
            "x": [float(p[0]) for p in points],
            "y": [float(p[1]) for p in points],
            "label": [excerpt(label, 24) for label in shown],
            "about": [
                f"{label}: {excerpt(name, 60)}" for label, name in zip(shown, names, strict=True)
            ],
        }
    )
    domain = [excerpt(label, 24) for label in classes]
    hidden = alt.Axis(labels=False, ticks=False, grid=False, title=None, domain=False)
    scale = alt.Scale(zero=False, nice=False, padding=8)
    return (
        alt.Chart(table)
        .mark_point(filled=True, size=42, opacity=0.7)
        .encode(
            x=alt.X("x:Q", scale=scale, axis=hidden),
            y=alt.Y("y:Q", scale=scale, axis=hidden),
            color=alt.Color(
                "label:N",
                scale=alt.Scale(domain=domain, range=list(colours.values())),
                legend=alt.Legend(orient="top", title=None, columns=3),
            ),
            shape=alt.Shape(
                "label:N", scale=alt.Scale(domain=domain, range=list(_SHAPES[: len(domain)]))
            ),
            description=alt.Description("about:N"),
        )
        .properties(width=SIDE, height=SIDE)
    )
