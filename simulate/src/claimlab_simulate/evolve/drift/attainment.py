"""Did intervened claims reach their target, and after how many steps?

The auditors who steer a claim also decide when it has arrived, so their own figure (`own`) flatters
the run. Where an independent judge is passed, its figure is given as well (`independent`): compare
settings by that one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.stats.interval import wilson
from claimlab_simulate.evolve.auditor import Auditor, Question
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.drift.hops import FEWEST_TRACES
from claimlab_simulate.evolve.drift.noise import NOISE

SETTINGS = {0: "direct", 1: "one auditor", 3: "three auditors"}
UNSTATED = "not stated"
INDEPENDENT, NULL_MODEL = "independent", "null model"
MARGIN = 0.05
# (run, trace id) -> whether the target was reached; runs over the same claims share their trace ids
Ends = Mapping[tuple[str, str], bool | None]


def last_hops(hops: pl.DataFrame) -> pl.DataFrame:
    """The last hop of each trace that had a target."""
    return hops.filter((pl.col("hop") == pl.col("hops")) & pl.col("target").is_not_null())


def setting(auditors: int | None) -> str:
    return UNSTATED if auditors is None else SETTINGS.get(auditors, f"{auditors} auditors")


def attainment(
    hops: pl.DataFrame, independent: Ends | None = None, noise: Ends | None = None
) -> pl.DataFrame:
    """Per setting and dimension: traces, how many were judged, how many attained, the share with
    its interval.

    `judge` is "own" (the run's last vote), "independent" (`independent`: its word on each trace;
    null: no answer), or "null model" (`noise`: its word on the base after as many words changed at
    random: what a target is reached by without aiming). A trace without a vote is not counted as
    missed: it is in `unjudged`. A seed
    that passed as it was is not attained by anybody: it is in `untouched`, and not in the share.
    """
    last = last_hops(hops).with_columns(
        setting=pl.col("auditors").map_elements(setting, return_dtype=pl.String, skip_nulls=False)
    )
    parts = [_tally(last, "own")]
    for judge, ends, text in (
        (INDEPENDENT, independent, "output"),
        (NULL_MODEL, noise, NOISE),
    ):
        if ends is not None:
            votes = [ends.get(key) for key in last.select("run", "trace_id").iter_rows()]
            passed = pl.Series("passed", votes, dtype=pl.Boolean)
            parts.append(_tally(last.with_columns(passed, output=pl.col(text)), judge))
    return pl.concat(parts)


def _tally(last: pl.DataFrame, judge: str) -> pl.DataFrame:
    passed, moved = pl.col("passed"), pl.col("output") != pl.col("base")
    counted = (
        last.group_by("setting", "dimension")
        .agg(
            traces=pl.len(),
            judged=passed.count(),
            attained=(passed & moved).sum().cast(pl.Int64),
            untouched=(passed & ~moved).sum().cast(pl.Int64),
        )
        .sort("setting", "dimension")
    )
    tried = (pl.col("judged") - pl.col("untouched")).cast(pl.Int64)
    intervals = [wilson(*pair) or (None, None) for pair in counted.select("attained", tried).rows()]
    ends = pl.DataFrame(intervals, schema=dict.fromkeys(("low", "high"), pl.Float64), orient="row")
    return counted.with_columns(
        judge=pl.lit(judge),
        unjudged=pl.col("traces") - pl.col("judged"),
        share=pl.when(tried > 0).then(pl.col("attained") / tried),
    ).hstack(ends)


def one_against_three(table: pl.DataFrame) -> pl.DataFrame:
    """Per judge and dimension: do three auditors do better than one? The difference with its 95%
    interval (Newcombe).

    "one does as well" means that the interval ends below MARGIN; "not decided" that it leaves room
    for both.
    """
    measured = table.filter((pl.col("judge") != NULL_MODEL) & pl.col("low").is_not_null()).select(
        "setting",
        "judge",
        "dimension",
        "share",
        "low",
        "high",
        pl.col("judged") - pl.col("untouched"),
    )
    one, three = (measured.filter(pl.col("setting") == SETTINGS[n]).drop("setting") for n in (1, 3))
    rows = []
    both = one.join(three, on=["judge", "dimension"]).sort("judge", "dimension")
    for judge, dimension, share, low, high, tried, better, least, most, others in both.iter_rows():
        gain = better - share
        ends = (
            gain - math.hypot(better - least, high - share),
            gain + math.hypot(most - better, share - low),
        )
        verdict = "not decided"
        if min(tried, others) < FEWEST_TRACES:
            ends, verdict = (None, None), "too few traces"
        elif ends[0] > 0:
            verdict = "three do better"
        elif ends[1] < MARGIN:
            verdict = "one does as well"
        rows.append((judge, dimension, share, better, gain, *ends, verdict))
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
            traces=pl.len(),
            mean=pl.col("hops").mean(),
            most=pl.col("hops").max(),
            at_once=(pl.col("hops") == 1).mean(),
            untouched=(pl.col("output") == pl.col("base")).sum().cast(pl.Int64),
        )
        .sort("dimension", "mean", "target", descending=[False, True, False])
    )


def hardest(steps: pl.DataFrame) -> pl.DataFrame:
    """The value of each dimension that took the most hops on average (the paper's figure 4)."""
    return steps.group_by("dimension", maintain_order=True).first().sort("mean")


def judge_ends(hops: pl.DataFrame, auditor: Auditor) -> Ends:
    """The auditor's word on the last text of each trace; null where it could not be had."""
    return sync.run(_judge(hops, auditor))


async def _judge(hops: pl.DataFrame, auditor: Auditor) -> Ends:
    last = last_hops(hops).drop_nulls(["output", "base", "dimension"])
    questions = [
        Question(text, Target.of(*goal), seed=0, origin=base)
        for text, base, *goal in last.select("output", "base", "dimension", "target").iter_rows()
    ]
    try:
        votes = await all_of(questions, auditor.judge, label="Judging where claims ended")
    finally:
        await auditor.close()
    traces = last.select("run", "trace_id").rows()
    return {trace: vote.passed for trace, vote in zip(traces, votes, strict=True)}
