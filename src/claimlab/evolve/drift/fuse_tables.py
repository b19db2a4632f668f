"""FUSE-EVAL in tables: every score by hop and judge, and its means by step, network, group and
topic.

The means have a row for each group and step (null: the last judged hop of each trace): its traces,
the mean of each dimension and of the total, and the 95% interval of the total over traces. An
interval needs 20 traces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.core.stats.interval import unit_interval
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.fuse import TOTAL, Judged
from claimlab.evolve.drift.grouping import LEAST, grouped

BY = ("all", "topology", "home", "topic", "run")
KEY = ("run", "trace_id", "hop", "depth", "topic", "topology", "home")


def scores(judged: Judged, hops: pl.DataFrame) -> pl.DataFrame:
    """One row per judged hop, judge and repeat: the six dimensions and the total, null where no
    answer was read.
    """
    where = hops.select("pair", *KEY)
    repeats = judged.table.rename({"run": "repeat"})
    names = ("judge", "repeat", *judged.reading.dimensions, TOTAL)
    return (
        where.join(repeats, on="pair", how="left")
        .sort("pair", "judge", "repeat")
        .select(*KEY, *names)
    )


def means(hops: pl.DataFrame, dimensions: Sequence[str], seed: int = 0) -> pl.DataFrame:
    """By network, group, topic and run: the means at each judged step, and at the last judged hop
    of each trace.
    """
    known = (
        hops.drop_nulls(TOTAL).sort("run", "trace_id", "hop").with_columns(pl.lit("").alias("all"))
    )
    rows: list[JsonObject] = []
    for by in BY:
        parts = grouped(known, by)
        for value in parts[by].unique().sort().to_list():
            part = parts.filter(pl.col(by) == value)
            for step in part["depth"].unique().sort().to_list():
                rows.append(
                    _row(by, value, step, part.filter(pl.col("depth") == step), dimensions, seed)
                )
            last = part.group_by("run", "trace_id", maintain_order=True).last()
            rows.append(_row(by, value, None, last, dimensions, seed))
    numbers = dict.fromkeys((*dimensions, TOTAL, "low", "high"), pl.Float64)
    return pl.DataFrame(
        rows,
        schema={
            "by": pl.String,
            "value": pl.String,
            "step": pl.Int32,
            "traces": pl.Int64,
            **numbers,
        },
    )


def _row(
    by: str, value: str, step: int | None, part: pl.DataFrame, dimensions: Sequence[str], seed: int
) -> JsonObject:
    # In a cascade a trace may have several texts at one depth: a trace counts once.
    traces = part.group_by("run", "trace_id", maintain_order=True).agg(
        pl.col(*dimensions, TOTAL).mean()
    )
    totals = traces[TOTAL].to_numpy()
    interval = (
        unit_interval(len(totals), lambda at: float(totals[at].mean()), seed=seed)
        if len(totals) >= LEAST
        else None
    )
    mean = {name: float(np.mean(traces[name].to_numpy())) for name in (*dimensions, TOTAL)}
    low, high = interval or (None, None)
    return {
        "by": by,
        "value": value,
        "step": step,
        "traces": len(totals),
        **mean,
        "low": low,
        "high": high,
    }
