"""The Python twin of `claimlab generate filter`.

filtered = cl.quality_filter("generated", output="good", report="quality")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced, costs_nothing
from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.guard import refuse_taken
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Engine,
    Force,
    Limit,
    ModelName,
    Option,
    OptionalFolder,
    Place,
    Profile,
    PromptFiles,
    Setting,
    divided,
)
from claimlab.core.record import to_side_table
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.types import JsonObject
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab_simulate.generate.filter.batch import Batch, read_batch
from claimlab_simulate.generate.filter.decisions import agreement, read_decisions
from claimlab_simulate.generate.filter.measure import FilterPlan, chosen_metrics, measure
from claimlab_simulate.generate.filter.panel import PROMPT, Panel
from claimlab_simulate.generate.filter.result import Filtered
from claimlab_simulate.generate.filter.scores import read_scores
from claimlab_simulate.generate.filter.thresholds import read_table
from claimlab_simulate.generate.filter.verdict import AGGREGATES, FAILED, UNDECIDED, verdicts
from claimlab_simulate.generate.filter.views import KIND, write_quality

STEP = "quality filter"


class Judging(BatchOptions, total=False):
    """What samples are measured by."""

    metrics: Annotated[
        Sequence[str],
        Option("A metric; may be repeated. By default all.", flag="--metric", default=()),
    ]
    thresholds: Annotated[Place | None, Setting("Your own thresholds (TOML), for what they name.")]
    scores: Annotated[
        Place | None,
        Setting("Table of figures from elsewhere: id, and a column for each metric (BERTScore)."),
    ]
    profile: Profile
    model: ModelName
    runs: Annotated[
        int, Setting("How often the model is asked about each sample.", least=1, default=1)
    ]
    reading: Annotated[
        str, Setting("Published thresholds for altered text: 'table' or 'text'.", default="table")
    ]
    prompts: PromptFiles


@repeatable("report", "decisions", recorded="claimlab.generate.filter.front.quality_filter")
def quality_filter(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    aggregate: Annotated[
        str, Setting("Join a dimension's metrics: 'all', 'vote' or 'average'.")
    ] = "all",
    *,
    output: OptionalFolder = None,
    seeds: Annotated[
        Source | None,
        Setting("Dataset that holds the sources, where this one does not.", kind=Path),
    ] = None,
    complete: Annotated[bool, Setting("Pass only samples with every metric measured.")] = False,
    decisions: Annotated[
        Place | None, Setting("Reviewed dataset or table, to compare with people.")
    ] = None,
    report: Annotated[
        Place | None, Option("Folder for a page with funnel, pass rates and examples.")
    ] = None,
    limit: Limit = None,
    force: Force = False,
    engine: Engine = None,
    **judging: Unpack[Judging],
) -> Filtered:
    """Filter generated text by quality: keep what passes, with the reason for everything else.

    Machine-made texts are judged (all, where a dataset has none); people's texts beside them stay.
    A sample passes only on what was measured. With `engine`, metrics are shared among processes or
    machines; the model is asked from here.
    """
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data, seeds))
    how = one_of(AGGREGATES, aggregate, "aggregate")
    decided = None if decisions is None else read_decisions(decisions)
    chosen, calls = divided(Judging, judging)
    with Run(
        "generate-filter",
        data,
        output,
        reads=folders_of(seeds),
        limit=limit,
        force=force,
        engine=engine,
        **calls,
    ) as run:
        plan = _plan(run.calls, chosen)
        sources = None if seeds is None else Dataset.of(seeds)
        material = read_batch(run.dataset, sources, plan.table)
        panel = plan.panel
        if run.estimate:
            run.estimated(cost(plan, material, run.calls))
        settings = {**plan.describe(), "aggregate": how, "complete": complete}
        origin = None if sources is None else sources.fingerprint()
        try:
            gates = measure(material, plan, run.journal(seeds=origin, **settings))
        finally:
            if panel is not None:
                sync.run(panel.provider.close())
        results = verdicts(material.texts, gates, how, complete=complete)
        agreed = [] if decided is None else agreement(material.texts, gates, decided)
        # the judge with its settings, and the caveat of its profile
        judge: JsonObject | None = None
        if panel is not None:
            judge = {**panel.parameters(), "standing": panel.provider.profile.standing}
        filtered = Filtered(run.dataset, material.texts, gates, results, agreed, judge)
        filtered = replace(filtered, dataset=_dataset(run.dataset, filtered, settings))
        run.finish(filtered.dataset)
    if report is not None:
        write_quality(filtered, Path(report), force=force)
    return filtered


def _plan(calls: Calls, chosen: Judging) -> FilterPlan:
    table = read_table(chosen["thresholds"])
    reading = one_of(table["judge"]["readings"], chosen["reading"], "reading")
    words, metrics = read_prompts(chosen["prompts"], "generate"), chosen_metrics(chosen["metrics"])
    scores = None if chosen["scores"] is None else read_scores(chosen["scores"])
    if chosen["profile"] is None:
        return FilterPlan(table, metrics, scores=scores)
    provider = open_provider(chosen["profile"], model=chosen["model"], calls=calls)
    features, runs = table["judge"]["features"], chosen["runs"]
    return FilterPlan(
        table, metrics, Panel(provider, words[PROMPT], features, runs, reading), scores
    )


def cost(plan: FilterPlan, batch: Batch, calls: Calls) -> dict[str, Priced]:
    """What the model would be asked."""
    if plan.panel is None:
        raise costs_nothing()
    profile, requests = plan.panel.provider.profile, plan.panel.requests(batch)
    estimate = estimate_calls(requests, profile, recording=calls.existing())
    return {profile.chosen_model(): estimate}


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
