"""Did intervened claims reach their target, and after how many steps?

The auditors who steer a claim also decide when it has arrived, so their own figure (`own`) flatters
the run. Where an independent judge is passed, its figure is given as well (`independent`): compare
settings by that one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.interval import wilson
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote
from claimlab.evolve.claims.model import Target
from claimlab.evolve.drift.grouping import LEAST

SETTINGS = {0: "direct", 1: "one auditor", 3: "three auditors"}
UNSTATED = "not stated"
MARGIN = 0.05
# (run, trace id) -> whether the target was reached; runs over the same claims share their trace ids
Ends = Mapping[tuple[str, str], bool | None]


def last_hops(hops: pl.DataFrame) -> pl.DataFrame:
    """The last hop of each trace that had a target."""
    return hops.filter((pl.col("hop") == pl.col("hops")) & pl.col("target").is_not_null())


def setting(auditors: int | None) -> str:
    return UNSTATED if auditors is None else SETTINGS.get(auditors, f"{auditors} auditors")


def attainment(hops: pl.DataFrame, independent: Ends | None = None) -> pl.DataFrame:
    """Per setting and dimension: traces, how many were judged, how many attained, the share with
    its interval.

    `judge` is "own" (the run's last vote) or "independent" (`independent`: its word on each trace;
    null: no answer). A trace without a vote is not counted as missed: it is in `unjudged`. A seed
    that passed as it was is not attained by anybody: it is in `untouched`, and not in the share.
    """
    last = last_hops(hops).with_columns(
        pl.col("auditors")
        .map_elements(setting, return_dtype=pl.String, skip_nulls=False)
        .alias("setting")
    )
    parts = [_tally(last, "own")]
    if independent is not None:
        words = pl.Series(
            "passed",
            [independent.get(key) for key in last.select("run", "trace_id").iter_rows()],
            dtype=pl.Boolean,
        )
        parts.append(_tally(last.with_columns(words), "independent"))
    return pl.concat(parts)


def _tally(last: pl.DataFrame, judge: str) -> pl.DataFrame:
    counted = (
        last.group_by("setting", "dimension")
        .agg(
            pl.len().alias("traces"),
            pl.col("passed").count().alias("judged"),
            (pl.col("passed") & (pl.col("output") != pl.col("base")))
            .sum()
            .cast(pl.Int64)
            .alias("attained"),
            (pl.col("passed") & (pl.col("output") == pl.col("base")))
            .sum()
            .cast(pl.Int64)
            .alias("untouched"),
        )
        .sort("setting", "dimension")
    )
    tried = pl.col("judged") - pl.col("untouched")
    intervals = [
        wilson(a, n) for a, n in counted.select("attained", tried.cast(pl.Int64)).iter_rows()
    ]
    return counted.with_columns(
        pl.lit(judge).alias("judge"),
        (pl.col("traces") - pl.col("judged")).alias("unjudged"),
        pl.when(tried > 0).then(pl.col("attained") / tried).alias("share"),
        pl.Series("low", [i and i[0] for i in intervals], dtype=pl.Float64),
        pl.Series("high", [i and i[1] for i in intervals], dtype=pl.Float64),
    )


def one_against_three(table: pl.DataFrame) -> pl.DataFrame:
    """Per judge and dimension: do three auditors do better than one? The difference with its 95%
    interval (Newcombe).

    "one does as well" means that the interval ends below MARGIN; "not decided" that it leaves room
    for both.
    """
    rows = []
    for judge, dimension in (
        table.select("judge", "dimension").unique().sort("judge", "dimension").iter_rows()
    ):
        part = table.filter((pl.col("judge") == judge) & (pl.col("dimension") == dimension))
        known = {
            row["setting"]: row for row in part.iter_rows(named=True) if row["low"] is not None
        }
        one, three = known.get(SETTINGS[1]), known.get(SETTINGS[3])
        if one is None or three is None:
            continue
        gain = three["share"] - one["share"]
        low = gain - math.hypot(three["share"] - three["low"], one["high"] - one["share"])
        high = gain + math.hypot(three["high"] - three["share"], one["share"] - one["low"])
        few = min(r["judged"] - r["untouched"] for r in (one, three)) < LEAST
        verdict = (
            "too few traces"
            if few
            else (
                "three do better"
                if low > 0
                else "one does as well"
                if high < MARGIN
                else "not decided"
            )
        )
        rows.append(
            (
                judge,
                dimension,
                one["share"],
                three["share"],
                gain,
                None if few else low,
                None if few else high,
                verdict,
            )
        )
    names = ("judge", "dimension", "one", "three", "gain", "low", "high", "verdict")
    kinds = dict(zip(names, (pl.String, pl.String, *[pl.Float64] * 5, pl.String), strict=True))
    return pl.DataFrame(rows, schema=kinds, orient="row")


def steps_to_target(hops: pl.DataFrame) -> pl.DataFrame:
    """Per dimension and value, over traces that attained it: mean and most hops, and the share that
    took one.
    """
    arrivals = last_hops(hops).filter(pl.col("passed"))
    return (
        arrivals.group_by("dimension", "target")
        .agg(
            pl.len().alias("traces"),
            pl.col("hops").mean().alias("mean"),
            pl.col("hops").max().alias("most"),
            (pl.col("hops") == 1).mean().alias("at_once"),
            (pl.col("output") == pl.col("base")).sum().cast(pl.Int64).alias("untouched"),
        )
        .sort("dimension", "mean", descending=[False, True])
    )


def hardest(steps: pl.DataFrame) -> pl.DataFrame:
    """The value of each dimension that took the most hops on average (the paper's figure 4)."""
    return steps.group_by("dimension", maintain_order=True).first().sort("mean")


def judge_ends(hops: pl.DataFrame, auditor: Auditor, *, progress: Progress = silent) -> Ends:
    """The auditor's word on the last text of each trace; null where it could not be had."""
    return sync.run(_judge(hops, auditor, progress))


async def _judge(hops: pl.DataFrame, auditor: Auditor, progress: Progress) -> Ends:
    last = last_hops(hops).drop_nulls(["output", "base", "dimension"])
    rows = list(last.select("run", "trace_id", "output", "base", "dimension", "target").iter_rows())

    async def judge(row: tuple[Any, ...]) -> Vote:
        _, _, text, base, dimension, value = row
        return await auditor.judge(Question(text, Target.of(dimension, value), seed=0, origin=base))

    try:
        votes = await all_of(rows, judge, progress=progress, label="Judging where claims ended")
    finally:
        await auditor.close()
    return {(row[0], row[1]): vote.passed for row, vote in zip(rows, votes, strict=True)}
