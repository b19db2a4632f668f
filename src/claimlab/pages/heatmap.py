"""A grid of shaded cells with their numbers: which two things go together, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.pages.charts import TRUE

CELL = 46  # pixels
LEAST = 300  # pixels wide: a page would enlarge a smaller figure


def heatmap(
    cells: Sequence[Mapping[str, Any]],
    *,
    row: str,
    column: str,
    value: str,
    title: str,
    order: Sequence[str],
    columns: Sequence[str] | None = None,
    number: str = ",.0f",
) -> Any:
    """`cells` name their row and column; missing cells stay empty, which is not the same as
    zero.
    """
    import altair as alt

    across = list(columns or order)
    schema = {row: pl.String, column: pl.String, value: pl.Float64}
    data = pl.DataFrame([{k: c[k] for k in schema} for c in cells], schema=schema)
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
    return alt.layer(base.mark_rect(color=TRUE).encode(**at, opacity=shade), text).properties(
        width=max(CELL * len(across), LEAST), height=0.7 * CELL * len(order)
    )
