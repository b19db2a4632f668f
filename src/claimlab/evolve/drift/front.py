"""The Python twin of `claimlab evolve drift`.

drifted = cl.drift("walked", output="drift-report")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.guard import DATASET, refuse_taken
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.settings import each_of, one_of
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.auditor import Question
from claimlab.evolve.auditors.known.model import case_of as audit_case
from claimlab.evolve.auditors.known.model import judge_of as auditor_of
from claimlab.evolve.claims.model import Target
from claimlab.evolve.drift.attainment import independent_ends, last_hops
from claimlab.evolve.drift.fuse import Reading, case_of, judge_of
from claimlab.evolve.drift.hops import read_hops
from claimlab.evolve.drift.judged import (
    contexts,
    level_cases,
    level_judge,
    sample_hops,
    stated_cases,
    stated_judge,
)
from claimlab.evolve.drift.levels import LABELS, LEVELS, stages, wanted_levels
from claimlab.evolve.drift.measure import Drift, Judges, measure
from claimlab.evolve.drift.viewer import KIND, Society, contents, society_of
from claimlab.evolve.society.files import read_network
from claimlab.evolve.society.population import Population
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import Case, ModelJudge
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, read_prompts
from claimlab.pages.folder import fill


@repeatable("levels", writes="datasets")
def drift(
    data: Stored | Sequence[Source],
    *,
    output: str | Path | None = None,
    datasets: str | Path | None = None,
    levels: str | Sequence[str] = LEVELS,
    stage_label: str = "source",
    population: str | Path | None = None,
    network: str | Path | None = None,
    judge: str | Sequence[str] = (),
    reading: str = "paper",
    runs: int = 1,
    prompts: Given = (),
    sample: int = 200,
    auditor: str | None = None,
    auditor_data: str | Path | None = None,
    traces: int = 60,
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Drift:
    """Measure how far the claims of `data` drifted from their base; several runs are compared.

    With `output`, the report, its figures and a viewer of at most `traces` traces are written
    there; with `datasets`, the stages of the claims (`levels`) are, as datasets with the label of
    the claim or the judged verdict (`stage_label` "source", "verdict"). `judge` names model
    profiles that score FUSE-EVAL (in the `reading` "paper" or "released") on at most `sample` hops;
    `auditor` judges attainment independently ("rules", "classifier" with `auditor_data`, or
    "model", the first judge). `population` and `network` are files, for traces without them.
    """
    sources, judges = _several(data), each_of(judge)
    wanted, named = wanted_levels(levels), one_of(LABELS, stage_label, "stage_label")
    caps = _caps(judges, max_cost, max_calls, max_tokens)
    words = read_prompts(prompts, "evolve drift")
    known = Reading.named(
        reading
    )  # before a model is opened, which may take a while or not be there
    folders = [folder for source in sources for folder in folders_of(source)]
    if datasets is not None and len(sources) == 1:
        for name in wanted:
            refuse_taken(Path(datasets) / name, force=force, kind=DATASET, reads=folders)
    with Run(
        "evolve drift",
        None,
        output,
        kind=KIND,
        reads=folders,
        force=force,
        seed=seed,
        caps=caps,
        mode=mode,
        cache=cache,
        progress=progress,
    ) as run:
        opened = [Dataset.of(source, limit) for source in sources]
        groups, society = _people(population, network)
        providers = [open_provider(profile, calls=run.calls) for profile in judges]
        ends = (
            None
            if auditor is None
            else independent_ends(opened, auditor, auditor_data, judges, words, run)
        )
        panel = Judges(providers, known, runs, sample, words) if providers else None
        drifted = measure(
            opened, groups=groups, judges=panel, independent=ends, seed=seed, progress=progress
        )
        drifted.prompts = words.lineage(*_asked(judges, auditor))
        societies = _societies(opened, drifted, society)
        run.fill(
            lambda folder: fill(contents(drifted, societies, traces=traces, seed=seed), folder)
        )
    if datasets is not None:
        drifted.stages = _write_stages(opened, drifted, Path(datasets), wanted, force, named)
    return drifted


@same_arguments(drift)
def estimate_drift(call: Arguments) -> JsonObject:
    """What the judges of `drift` would cost with the same words; nothing is asked and nothing
    written.
    """
    judges, known = each_of(call.judge), Reading.named(call.reading)
    words = read_prompts(call.prompts, "evolve drift")
    opened = [Dataset.of(source, call.limit) for source in _several(call.data)]
    hops, parts = read_hops(opened), dict[str, Priced]()
    drawn = sample_hops(hops, call.sample, call.seed)
    sources = {k: v for dataset in opened for k, v in contexts(dataset).items()}
    with Run(
        "evolve drift", None, call.output, mode=call.mode, cache=call.cache, estimate=True
    ) as run:

        def part(name: str, judge: ModelJudge[Any], cases: list[Case]) -> None:
            profile = judge.provider.profile
            parts[name] = estimate_calls(
                judge.requests(cases), profile, recording=run.calls.existing()
            )

        models = [open_provider(profile, calls=run.calls) for profile in judges]
        pairs = list(drawn.select("base", "output").iter_rows())
        for number, model in enumerate(models, 1):
            scorer = judge_of(model, known, call.runs, words)
            part(
                f"judge {number}",
                scorer,
                [case_of("", base, now, known, scorer.prompt) for base, now in pairs],
            )
        if models:
            rows = list(drawn.select("record_id", "base", "output").iter_rows())
            levels, stated = level_judge(models[0], words), stated_judge(models[0], words)
            references = [(now, sources.get(i) or base) for i, base, now in rows]
            part("verdicts", levels, level_cases(references, levels.prompt))
            part(
                "coverage",
                stated,
                stated_cases(
                    [(now, sources[i]) for i, _, now in rows if i in sources], stated.prompt
                ),
            )
        if models and call.auditor == "model":
            ends = (
                last_hops(hops)
                .drop_nulls(["output", "dimension"])
                .select("output", "dimension", "target")
            )
            voter = auditor_of(models[0], words)
            part(
                "auditor",
                voter,
                [
                    audit_case(Question(o, Target.of(d, v), 0), voter.prompt)
                    for o, d, v in ends.rows()
                ],
            )
        return estimated(parts)


def _several(data: Stored | Sequence[Source]) -> list[Source]:
    return [data] if isinstance(data, Dataset | str | Path) else list(data)


def _caps(judges: Sequence[str], cost: float | None, calls: int | None, tokens: int | None) -> Caps:
    if not judges and any(cap is not None for cap in (cost, calls, tokens)):
        raise UsageError("A cap was set, but without a judge nothing is spent.", "Pass `judge`.")
    return Caps(cost, calls, tokens)


def _people(
    population: str | Path | None, network: str | Path | None
) -> tuple[dict[str, str], Society | None]:
    """The groups of the agents and the network to draw, from files, for traces that came without
    them.
    """
    if population is None:
        if network is not None:
            raise UsageError(
                "A network file names agents.", "Pass their file too, as `population`."
            )
        return {}, None
    people = Population.read(population)
    groups = dict(
        people.agents.select("id", people.agents["group"].cast(pl.String)).drop_nulls().iter_rows()
    )
    return groups, (
        None
        if network is None
        else Society(people.ids.to_list(), read_network(network, people), groups)
    )


def _asked(judges: Sequence[str], auditor: str | None) -> list[str]:
    """The names of the prompts that these judges are asked with."""
    return [
        *(("fuse-eval", "verdict-level", "coverage") if judges else ()),
        *(("auditor",) if auditor == "model" else ()),
    ]


def _societies(
    opened: Sequence[Dataset], drifted: Drift, default: Society | None
) -> Mapping[str, Society]:
    """The network of each run: as the run left it, else the one that was given."""
    runs = drifted.hops["run"].unique(maintain_order=True).to_list()
    known = {run: society_of(dataset) or default for run, dataset in zip(runs, opened, strict=True)}
    return {run: society for run, society in known.items() if society is not None}


def _write_stages(
    opened: Sequence[Dataset],
    drifted: Drift,
    folder: Path,
    wanted: Sequence[str],
    force: bool,
    label: str,
) -> dict[str, dict[str, int]]:
    """Each stage of each run as a dataset folder below `folder`; the run's name is in it when there
    are several.
    """
    counts = {}
    runs = drifted.hops["run"].unique(maintain_order=True).to_list()
    for dataset, run in zip(opened, runs, strict=True):
        mine = drifted.hops.filter(drifted.hops["run"] == run)
        for name, stage in stages(dataset, mine, wanted, drifted.prompts, label).items():
            target = folder / (name if len(opened) == 1 else f"{run.replace(': ', '-')}-{name}")
            refuse_taken(target, force=force, kind=DATASET)
            stage.write(target, force=force)
            counts[str(target)] = {"records": stage.records.height, **stage.lineage[-1].counts}
    return counts
