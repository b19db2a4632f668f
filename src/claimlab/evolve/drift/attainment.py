"""Did intervened claims reach their target, and after how many steps?

The auditors who steer a claim also decide when it has arrived, so their own figure (`own`) flatters
the run. Where an independent judge is passed, its figure is given as well (`independent`): compare
settings by that one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.auditors.auditor import AUDITORS, Auditor, Question, Settings, Vote
from claimlab.evolve.auditors.known.classifier import fit_auditors
from claimlab.evolve.claims.model import Target
from claimlab.evolve.drift.hops import LEAST, read_hops
from claimlab.llm.prompts import Prompts

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
        .sort("dimension", "mean", "target", descending=[False, True, False])
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


# Attainment in the eyes of an auditor that took no part in a run.  A classifier is never asked
# about a claim that it has learned from: claims are dealt to folds, and the texts of a fold are
# judged by one that was fitted on the examples of all other claims. An example belongs to a claim
# by its `group`, or because it has the same text as the seed or the end of a trace.


FOLDS = 5
CLASSIFIER = "classifier"


def independent_ends(
    opened: Sequence[Dataset],
    auditor: str,
    data: str | Path | None,
    judges: Sequence[str],
    prompts: Prompts,
    run: Run,
) -> Ends | None:
    """The auditor's word on where the claims of `opened` ended; null where no trace had a
    target.
    """
    if auditor == "model" and not judges:
        raise UsageError("No model was named to audit.", "Pass `judge`; see: claimlab llm profiles")
    opens, hops = AUDITORS.get(auditor), read_hops(opened)
    goals = (
        last_hops(hops)
        .select("dimension", "target")
        .unique()
        .sort("dimension", "target")
        .drop_nulls()
    )
    targets = tuple(sorted({Target.of(d, v) for d, v in goals.iter_rows()}))
    if not targets:
        return None
    learned = None if data is None else Path(data)
    settings = Settings(
        data=learned, targets=targets, profiles=tuple(judges), calls=run.calls, prompts=prompts
    )
    if auditor == CLASSIFIER and learned is not None:
        return _by_folds(opened, hops, replace(settings, seed=run.seed or 0), run)
    (chosen,) = opens(settings, 1)
    return judge_ends(hops, chosen, progress=run.progress)


def _by_folds(opened: Sequence[Dataset], hops: pl.DataFrame, settings: Settings, run: Run) -> Ends:
    assert settings.data is not None
    examples = Dataset.open(settings.data)
    last = last_hops(hops)
    claims = _claims(opened)
    keys = [
        claims.get((r, i), base)
        for r, i, base in last.select("run", "record_id", "base").iter_rows()
    ]
    fold = pl.Series("fold", [stream_seed(0, key, "fold") % FOLDS for key in keys], dtype=pl.Int64)
    dealt = last.with_columns(fold, pl.Series("claim", keys, dtype=pl.String))
    ends: dict[tuple[str, str], bool | None] = {}
    for number in range(FOLDS):
        part = dealt.filter(pl.col("fold") == number)
        if not part.height:
            continue
        others = other_claims(
            examples, set(part["claim"]), {*part["base"], *part["output"].drop_nulls()}
        )
        goals = part.select("dimension", "target").unique().drop_nulls().iter_rows()
        dimensions = sorted({Target.of(dimension, value).dimension for dimension, value in goals})
        (judge,) = fit_auditors(others, dimensions, 1, settings.seed)
        ends |= judge_ends(part.drop("fold", "claim"), judge, progress=run.progress)
    return ends


def other_claims(examples: Dataset, claims: set[str], texts: set[str]) -> Dataset:
    """The examples that come from none of these claims: neither by their group, nor by their text
    or base text.
    """
    bases = [_base(meta) for meta in examples.records["meta"].to_list()]
    records = examples.records.with_columns(pl.Series("base", bases, dtype=pl.String))
    group = pl.coalesce("group", "id")
    own = (
        group.is_in(sorted(claims))
        | pl.col("text").is_in(sorted(texts))
        | pl.col("base").is_in(sorted(texts))
    )
    left = records.filter(~own.fill_null(False)).drop("base")
    return replace(examples, records=left, tables={}, path=None)


def _claims(opened: Sequence[Dataset]) -> Mapping[tuple[str, str], str]:
    """(run, record) to the claim that it came from."""
    runs = [read_hops([dataset])["run"][0] for dataset in opened]
    if len(set(runs)) < len(runs):
        runs = [f"{i + 1}: {run}" for i, run in enumerate(runs)]
    return {
        (run, record): group or record
        for run, dataset in zip(runs, opened, strict=True)
        for record, group in dataset.records.select("id", "group").iter_rows()
    }


def _base(meta: str | None) -> str | None:
    note = (json.loads(meta) if meta else {}).get("synthetic") or {}
    origin = note.get("origin") if isinstance(note, dict) else None
    base = origin.get("base_claim") if isinstance(origin, dict) else None
    return str(base) if base else None
