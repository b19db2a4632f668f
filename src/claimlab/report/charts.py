"""Charts as SVG text, drawn by Altair and vl-convert: no browser, no script in the page, a few kilobytes each.

Text colour and background are left to the page, so that a chart reads in light and in dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

TRUE, FALSE, MIXED, UNKNOWN = "#3f7fbf", "#d1603d", "#b79a2e", "#8b95a1"
CLASS_COLOURS = {"true": TRUE, "false": FALSE, "mixed": MIXED, "unknown": UNKNOWN}
VERDICT_COLOURS = {"fail": "#c8453b", "warn": "#c98a1b", "pass": "#3b9a5f", "not-measured": "#8b95a1"}
WIDTH = 640


def to_svg(chart: Any) -> str:
    """The chart as one SVG element without a fixed background."""
    import vl_convert

    spec = chart.configure(
        background="transparent",
        font="Arial, 'Liberation Sans', sans-serif",  # as measured here; a wider font of the reader's takes the padding
        padding={"left": 24, "top": 5, "right": 12, "bottom": 5},
        axis={"gridColor": "#9aa4b033", "domainColor": "#9aa4b0", "tickColor": "#9aa4b0", "labelLimit": 220},
        view={"stroke": None},
    ).to_dict()
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg[svg.index("<svg") :]


def to_png(chart: Any, *, scale: float = 2.0) -> bytes:
    """The chart as PNG on white, for papers and slides."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(chart.configure(background="white").to_dict(), scale=scale)
    return png


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
    """A bar per category, in the order given; `colour` names the field that splits or tones the bars."""
    import altair as alt

    order = list(dict.fromkeys(str(r[category]) for r in rows))
    along = alt.Y(f"{category}:N", sort=order, title=None)
    across = alt.X(f"{value}:Q", title=title or value, stack=stack)
    encoding: dict[str, Any] = (
        {"y": along, "x": across}
        if horizontal
        else {
            "x": alt.X(f"{category}:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35)),
            "y": alt.Y(f"{value}:Q", title=title or value),
        }
    )
    if colour is not None:
        scale = alt.Scale(domain=list(colours), range=list(colours.values())) if colours else alt.Undefined
        encoding["color"] = alt.Color(f"{colour}:N", scale=scale, title=None, legend=alt.Legend(orient="top"))
    else:
        encoding["color"] = alt.value(TRUE)
    size = {"width": width} if horizontal else {"width": width, "height": 220}
    return alt.Chart(pl.DataFrame([dict(r) for r in rows])).mark_bar().encode(**encoding).properties(**size)


def histogram(values: pl.DataFrame, *, value: str, by: str, title: str, bins: int = 40, width: int = WIDTH) -> Any:
    """Counts per bin and class, computed here so that the page carries bins and not rows."""
    import altair as alt
    import numpy as np

    clean = values.select(value, by).drop_nulls()
    numbers = clean[value].cast(pl.Float64).to_numpy()
    low, high = (float(numbers.min()), float(numbers.max())) if clean.height else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    rows = []
    for name in sorted(clean[by].unique().to_list()):
        counts, _ = np.histogram(clean.filter(pl.col(by) == name)[value].cast(pl.Float64).to_numpy(), bins=edges)
        rows += [{"from": edges[i], "to": edges[i + 1], "n": int(c), by: name} for i, c in enumerate(counts) if c]
    colours = {k: v for k, v in CLASS_COLOURS.items() if k in {r[by] for r in rows}} or None
    scale = alt.Scale(domain=list(colours), range=list(colours.values())) if colours else alt.Undefined
    return (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar(opacity=0.6)
        .encode(
            x=alt.X("from:Q", title=title, bin="binned"),
            x2="to:Q",
            y=alt.Y("n:Q", title="records", stack=None),
            color=alt.Color(f"{by}:N", scale=scale, title=None, legend=alt.Legend(orient="top")),
        )
        .properties(width=width, height=180)
    )
