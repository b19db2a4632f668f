"""A chart of spans of time: one bar from first to last day per name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import polars as pl

from claimlab.pages.charts import TRUE, WIDTH


def spans(rows: Sequence[tuple[str, date, date]], *, width: int = WIDTH) -> Any:
    """`rows` of (name, first day, last day), drawn in their order; a span of one day is still
    seen.
    """
    import altair as alt

    data = pl.DataFrame(
        {
            "name": [name for name, _, _ in rows],
            "from": [start.isoformat() for _, start, _ in rows],
            "to": [(end + timedelta(days=1)).isoformat() for _, _, end in rows],
            "shown": [f"{name}: {start} to {end}" for name, start, end in rows],
        }
    )
    years = alt.Axis(format="%Y", orient="top")
    return (
        alt.Chart(data)
        .mark_bar(color=TRUE, stroke=TRUE, strokeWidth=1.5, height=8)
        .encode(
            y=alt.Y("name:N", sort=None, title=None),
            x=alt.X("from:T", title=None, axis=years, scale=alt.Scale(type="utc")),
            x2=alt.X2("to:T"),
            description=alt.Description("shown:N"),
        )
        .properties(width=width, height={"step": 15})
    )
