"""The reliability curve: how often answers are right, against how sure their maker was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from claimlab.pages.charts import TRUE


def reliability(points: Sequence[tuple[int, float, float]], *, width: int = 300) -> Any:
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
    ).properties(width=width, height=width * 0.8)
