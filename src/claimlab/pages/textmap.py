"""A map of texts: a dot for each, coloured and shaped by its label, so that it reads without
colours too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.core.words import several
from claimlab.pages.blocks import Figure
from claimlab.pages.charts import UNKNOWN, colours_of, to_svg
from claimlab.pages.excerpt import excerpt

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
    file: str = "",
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
    return Figure(to_svg(_chart(points, shown, names)), caption, alt, file)


def _shown(labels: Sequence[str | None]) -> list[str]:
    """The labels as the legend has them: the most frequent ones, and the others together."""
    known = [label for label in labels if label is not None]
    frequent = sorted(set(known), key=lambda label: (-known.count(label), label))[:MOST_LABELS]
    return [NONE if label is None else label if label in frequent else OTHER for label in labels]


def _chart(points: Sequence[Sequence[float]], shown: Sequence[str], names: Sequence[str]) -> Any:
    import altair as alt
    import polars as pl

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
