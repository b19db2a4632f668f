"""Did intervened claims reach their target, and after how many steps?

The auditors who steer a claim also decide when it has arrived, so their own figure (`own`) flatters
the run. Where an independent judge is passed, its figure is given as well (`independent`): compare
settings by that one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.run import Run
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.auditors.known.classifier import fit_auditors
from claimlab.evolve.claims.model import Target
from claimlab.evolve.contracts import AUDITORS, ActorSettings, Auditor, Question
from claimlab.evolve.drift.hops import LEAST
from claimlab.evolve.drift.noise import NOISE
from claimlab.llm.prompts import Prompts

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
    known = table.filter((pl.col("judge") != NULL_MODEL) & pl.col("low").is_not_null()).select(
        "setting",
        "judge",
        "dimension",
        "share",
        "low",
        "high",
        pl.col("judged") - pl.col("untouched"),
    )
    one, three = (known.filter(pl.col("setting") == SETTINGS[n]).drop("setting") for n in (1, 3))
    rows = []
    both = one.join(three, on=["judge", "dimension"]).sort("judge", "dimension")
    for judge, dimension, share, low, high, tried, better, least, most, others in both.iter_rows():
        gain = better - share
        ends = (
            gain - math.hypot(better - least, high - share),
            gain + math.hypot(most - better, share - low),
        )
        verdict = "not decided"
        if min(tried, others) < LEAST:
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


# Attainment in the eyes of an auditor that took no part in a run.  A classifier is never asked
# about a claim that it has learned from: claims are dealt to folds, and the texts of a fold are
# judged by one that was fitted on the examples of all other claims. An example belongs to a claim
# by its `group`, or because it has the same text as the seed or the end of a trace.


FOLDS = 5
CLASSIFIER = "classifier"


def independent_ends(
    hops: pl.DataFrame,
    opened: Sequence[Dataset],
    auditor: str | None,
    data: str | Path | None,
    judges: Sequence[str],
    prompts: Prompts,
    run: Run,
) -> tuple[Ends | None, Ends | None]:
    """The auditor's word on where the claims of `opened` ended, and on where the null model would
    have taken them (a model is not asked about that); null without an auditor or a target. `hops`
    have the texts of both.
    """
    if auditor is None:
        return None, None
    if auditor == "model" and not judges:
        raise UsageError("No model was named to audit.", "Pass `judge`; see: claimlab llm profiles")
    targets = _targets(last_hops(hops))
    if not targets:
        return None, None
    settings = ActorSettings(
        data=data, targets=targets, profiles=tuple(judges), calls=run.calls, prompts=prompts
    )
    if auditor == CLASSIFIER and data is not None:
        return _by_folds(opened, hops, replace(settings, seed=run.seed or 0))
    (chosen,) = AUDITORS.get(auditor)(settings, 1)
    return judge_ends(hops, chosen), None if auditor == "model" else _noise_ends(hops, chosen)


def _noise_ends(hops: pl.DataFrame, auditor: Auditor) -> Ends:
    return judge_ends(hops.with_columns(output=pl.col(NOISE)), auditor)


def _by_folds(
    opened: Sequence[Dataset], hops: pl.DataFrame, settings: ActorSettings
) -> tuple[Ends, Ends]:
    assert settings.data is not None
    examples = Dataset.open(settings.data)
    last = last_hops(hops)
    runs = hops["run"].unique(maintain_order=True)
    claims = pl.concat(
        dataset.records.select(
            pl.lit(run).alias("run"), record_id="id", claim=pl.coalesce("group", "id")
        )
        for run, dataset in zip(runs, opened, strict=True)
    )
    dealt = last.join(
        claims, on=["run", "record_id"], how="left", maintain_order="left"
    ).with_columns(pl.coalesce("claim", "base"))
    folds = [stream_seed(0, claim, "fold") % FOLDS for claim in dealt["claim"]]
    dealt = dealt.with_columns(fold=pl.Series(folds, dtype=pl.Int64))
    ends: dict[tuple[str, str], bool | None] = {}
    noise = ends.copy()
    for part in dealt.partition_by("fold"):
        texts = {text for name in ("base", "output", NOISE) for text in part[name].drop_nulls()}
        others = other_claims(examples, set(part["claim"]), texts)
        dimensions = sorted({target.dimension for target in _targets(part)})
        (judge,) = fit_auditors(others, dimensions, 1, settings.seed)
        ends |= judge_ends(part, judge)
        noise |= _noise_ends(part, judge)
    return ends, noise


def other_claims(examples: Dataset, claims: set[str], texts: set[str]) -> Dataset:
    """The examples that come from none of these claims: neither by their group, nor by their text
    or base text.
    """
    own_texts = [
        pl.col("text"),
        pl.col("meta").str.json_path_match("$.synthetic.origin.base_claim"),
    ]
    own = pl.coalesce("group", "id").is_in(sorted(claims))
    for text in own_texts:
        own |= text.is_in(sorted(texts)).fill_null(False)
    left = examples.records.filter(~own)
    return replace(examples, records=left, tables={}, path=None)


def _targets(last: pl.DataFrame) -> tuple[Target, ...]:
    goals = last.select("dimension", "target").unique().drop_nulls()
    return tuple(sorted({Target.of(*goal) for goal in goals.iter_rows()}))
