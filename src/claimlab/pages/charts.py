"""Charts as SVG text, drawn by Altair and vl-convert: no browser, no script in the page, a few
kilobytes each.

Text colour and background are left to the page, so that a chart reads in light and in dark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal

import polars as pl

from claimlab.core.plain import plain_values
from claimlab.core.types import JsonObject

TRUE, FALSE, MIXED, UNKNOWN = "#3f7fbf", "#d1603d", "#b79a2e", "#8b95a1"
CLASS_COLOURS = {"true": TRUE, "false": FALSE, "mixed": MIXED, "unknown": UNKNOWN}
VERDICT_COLOURS = {
    "fail": "#c8453b",
    "warn": "#c98a1b",
    "inconclusive": "#7a6fb0",
    "pass": "#3b9a5f",
    "not-measured": "#8b95a1",
}
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


def to_svg(chart: Any, *, values: bool = True) -> str:
    """The chart as one SVG element without a fixed background; with `values`, each mark shows its
    value on hover."""
    import vl_convert

    spec = chart.configure(
        background="transparent",
        aria=values,
        font=FONT,
        padding={"left": 24, "top": 5, "right": 12, "bottom": 5},
        axis={
            "gridColor": "#9aa4b033",
            "domainColor": "#9aa4b0",
            "tickColor": "#9aa4b0",
            "labelLimit": 240,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
        legend={"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
        view={"stroke": None},
    ).to_dict(validate=False)
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


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    """An SVG of ours as PNG on white, for papers and slides."""
    import vl_convert

    end = svg.index(">") + 1
    png: bytes = vl_convert.svg_to_png(
        f'{svg[:end]}<rect width="100%" height="100%" fill="white"/>{svg[end:]}', scale
    )
    return png


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


def bars(
    rows: Sequence[Mapping[str, Any]],
    *,
    category: str,
    value: str,
    colour: str | None = None,
    colours: Mapping[str, str] | None = None,
    title: str = "",
    horizontal: bool = True,
    stack: Literal["zero", "normalize", "center"] | None = "zero",
    width: int = WIDTH,
) -> Any:
    """A bar per category, in the order given; `colour` names the field that splits or tones the
    bars.
    """
    import altair as alt

    order = list(dict.fromkeys(str(r[category]) for r in rows))
    along = alt.Y(f"{category}:N", sort=order, title=None)
    across = alt.X(f"{value}:Q", title=title or value, stack=stack)
    encoding: JsonObject = (
        {"y": along, "x": across}
        if horizontal
        else {
            "x": alt.X(f"{category}:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35)),
            "y": alt.Y(f"{value}:Q", title=title or value),
        }
    )
    if colour is not None:
        scale = (
            alt.Scale(domain=list(colours), range=list(colours.values()))
            if colours
            else alt.Undefined
        )
        encoding["color"] = alt.Color(
            f"{colour}:N", scale=scale, title=None, legend=alt.Legend(orient="top")
        )
    else:
        encoding["color"] = alt.ColorValue(TRUE)
    size = {"width": width} if horizontal else {"width": width, "height": 220}
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
) -> Any:
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
                "class:N",
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                title=None,
                legend=alt.Legend(orient="top"),
            ),
        )
        .properties(width=width, height=180)
    )
