"""The Python twin of `claimlab generate filter`.

filtered = cl.quality_filter("generated", output="good", report="quality")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from claimlab.core import sync
from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import estimated
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.errors import UsageError
from claimlab.core.guard import refuse_taken
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.record import to_side_table
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.core.types import JsonObject
from claimlab.generate.filter.agreement import agreement, read_decisions
from claimlab.generate.filter.decide import AGGREGATES, FAILED, UNDECIDED, Gate, verdicts
from claimlab.generate.filter.judge import PROMPT, Panel, features_of
from claimlab.generate.filter.live import Live
from claimlab.generate.filter.measure import Plan, chosen_metrics, measure, read_table
from claimlab.generate.filter.result import Filtered
from claimlab.generate.filter.texts import Batch, read_batch
from claimlab.generate.filter.views import KIND, write_quality
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, read_prompts

STEP = "quality filter"


@repeatable("report", "decisions", writes="live")
def quality_filter(
    data: Source,
    aggregate: str = "all",
    *,
    output: str | Path | None = None,
    seeds: Source | None = None,
    metrics: Sequence[str] = (),
    thresholds: str | Path | None = None,
    complete: bool = False,
    profile: str | None = None,
    model: str | None = None,
    runs: int = 1,
    reading: str = "table",
    prompts: Given = (),
    decisions: str | Path | None = None,
    report: str | Path | None = None,
    live: str | Path | None = None,
    cache: str | Path | None = None,
    mode: str = "record",
    batch: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    progress: Progress = silent,
) -> Filtered:
    """Judge generated samples by metrics and, with `profile`, by a model; keep those that pass.

    Machine-made texts are judged (all, where a dataset has none); people's texts beside them stay.
    `seeds` is the dataset that the sources are in, where `data` does not hold them. `metrics` are
    names (all by default), `thresholds` a TOML file that replaces some of the packaged ones.
    `aggregate` joins the metrics of a dimension: "all", "vote" or "average". A sample passes only
    on what was measured; with `complete`, only if all of it was. `reading` chooses between the two
    published thresholds for altered text ("table", "text"). `decisions` are those of annotators, to
    compare with: a dataset that `review_apply` wrote, or a table. `live` is a page to watch while
    it runs. With `engine`, metrics are shared among processes or machines; the model is asked from
    here.
    """
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data, seeds))
    how = one_of(AGGREGATES, aggregate, "aggregate")
    decided = None if decisions is None else read_decisions(decisions)
    caps = Caps(max_cost, max_calls, max_tokens)
    with Run(
        "generate-filter",
        data,
        output,
        reads=folders_of(seeds),
        limit=limit,
        force=force,
        caps=caps,
        mode=mode,
        cache=cache,
        batch=batch,
        engine=engine,
        progress=progress,
    ) as run:
        plan = _plan(run.calls, thresholds, metrics, profile, model, runs, reading, prompts)
        settings = {**plan.describe(), "aggregate": how, "complete": complete}
        material = read_batch(run.dataset, None if seeds is None else Dataset.of(seeds), plan.table)
        shown = Live(None if live is None else Path(live), _names(plan), force=force)
        gates = _measured(
            material, plan, run.journal(seeds=_digest(seeds), **settings), progress, shown
        )
        results = verdicts(material.texts, gates, how, complete=complete)
        agreed = [] if decided is None else agreement(material.texts, gates, decided)
        filtered = Filtered(run.dataset, material.texts, gates, results, agreed, _about(plan))
        filtered = replace(filtered, dataset=_dataset(run.dataset, filtered, settings))
        run.finish(filtered.dataset)
    if report is not None:
        write_quality(filtered, Path(report), force=force)
    return filtered


@same_arguments(quality_filter)
def estimate_quality_filter(call: Arguments) -> JsonObject:
    """What the judge of `quality_filter` with the same arguments would cost; nothing is asked and
    nothing written.
    """
    how = {"limit": call.limit, "mode": call.mode, "cache": call.cache}
    with Run("generate-filter", call.data, call.output, **how, estimate=True) as run:
        plan = _plan(
            run.calls,
            call.thresholds,
            call.metrics,
            call.profile,
            call.model,
            call.runs,
            call.reading,
            call.prompts,
        )
        if plan.panel is None:
            raise UsageError("No model is asked: it costs nothing.", "Leave out `estimate`.")
        seeds = None if call.seeds is None else Dataset.of(call.seeds)
        material = read_batch(run.dataset, seeds, plan.table)
        endpoint = plan.panel.provider.profile
        requests = estimate_calls(
            plan.panel.requests(material), endpoint, recording=run.calls.existing()
        )
        return estimated({endpoint.chosen_model(): requests})


def _plan(
    calls: Calls,
    thresholds: str | Path | None,
    metrics: Sequence[str],
    profile: str | None,
    model: str | None,
    runs: int,
    reading: str,
    prompts: Given,
) -> Plan:
    table = read_table(thresholds)
    how = one_of(table["judge"]["readings"], reading, "reading")
    words = read_prompts(prompts, "generate")
    if profile is None:
        return Plan(table, chosen_metrics(metrics))
    provider = open_provider(profile, model=model, calls=calls)
    return Plan(
        table,
        chosen_metrics(metrics),
        Panel(provider, words[PROMPT], features_of(table), runs, how),
    )


def _measured(
    batch: Batch, plan: Plan, journal: Journal, progress: Progress, live: Live
) -> list[Gate]:
    try:
        return measure(batch, plan, journal, progress, live)
    finally:
        if plan.panel is not None:
            sync.run(plan.panel.provider.close())


def _names(plan: Plan) -> list[str]:
    return [*plan.metrics, *(["judge"] if plan.panel is not None else [])]


def _digest(seeds: Source | None) -> str | None:
    return None if seeds is None else Dataset.of(seeds).fingerprint()


def _about(plan: Plan) -> JsonObject | None:
    """The judge with its settings, and the caveat of its profile."""
    if plan.panel is None:
        return None
    return {
        **plan.panel.judge(translated=True).parameters(),
        "standing": plan.panel.provider.profile.standing,
    }


def _dataset(dataset: Dataset, filtered: Filtered, settings: JsonObject) -> Dataset:
    """The records of samples that passed, with people's texts; the others in `dropped` and
    `doubtful`, with reasons.
    """
    left = {v.sample: v for v in filtered.verdicts if v.verdict in (FAILED, UNDECIDED)}
    why = {t.id: left[t.sample] for t in filtered.texts if t.sample in left}
    records = dataset.records.filter(~pl.col("id").is_in(list(why)))
    tables = belonging(dataset.tables, records["id"])
    for name, verdict in (("dropped", FAILED), ("doubtful", UNDECIDED)):
        reasons = {i: "; ".join(v.reasons) for i, v in why.items() if v.verdict == verdict}
        rows = dataset.records.filter(pl.col("id").is_in(list(reasons)))
        if rows.height:
            reason = pl.col("id").replace_strict(reasons, return_dtype=pl.String).alias("reason")
            new = to_side_table(name, rows.with_columns(pl.lit(STEP).alias("step"), reason))
            tables[name] = (
                pl.concat([tables[name], new], how="diagonal_relaxed") if name in tables else new
            )
    tables |= {"samples": filtered.table, "quality": filtered.readings()}
    counts = {"in": len(dataset), "records": records.height}
    counts |= {f"samples {name}": filtered.count(name) for name in ("passed", FAILED, UNDECIDED)}
    step = Lineage(
        step=STEP, parameters=settings, inputs={"records": dataset.digest()}, counts=counts
    )
    return dataset.derive(
        records, step, {name: table for name, table in tables.items() if table.height}
    )
