"""The Python twin of `claimlab evolve drift`.

drifted = cl.drift("walked", output="drift-report")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.guard import DATASET, refuse_taken
from claimlab.core.options import (
    Argument,
    CallOptions,
    Force,
    Limit,
    Option,
    OptionalFolder,
    Place,
    PromptFiles,
    Seed,
    Setting,
    divided,
    is_capped,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.settings import each_of, one_of
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
from claimlab.llm.prompts import read_prompts
from claimlab.pages.folder import fill


class Measuring(CallOptions, total=False):
    """Who judges how far claims drifted, and on how many hops."""

    judge: Annotated[
        str | Sequence[str],
        Option("Model profile that scores FUSE-EVAL; may be repeated.", default=()),
    ]
    reading: Annotated[
        str, Setting("FUSE-EVAL as in the 'paper' or as 'released'.", default="paper")
    ]
    runs: Annotated[
        int, Setting("How often each judge is asked; agreement needs 2.", least=1, default=1)
    ]
    sample: Annotated[int, Setting("Number of hops that the judges score.", least=1, default=200)]
    auditor: Annotated[
        str | None,
        Option("Independent judge of attainment: rules, classifier, or model (the first `judge`)."),
    ]
    auditor_data: Annotated[
        Place | None, Setting("Dataset that the classifier auditor learns from.")
    ]
    prompts: PromptFiles


@repeatable("levels", writes="datasets")
def drift(
    data: Annotated[
        Stored | Sequence[Source],
        Argument("Dataset folders with traces; several are compared.", kind=Path),
    ],
    *,
    output: OptionalFolder = None,
    datasets: Annotated[
        Place | None, Option("Folder for the stages of the claims as datasets.")
    ] = None,
    levels: Annotated[str | Sequence[str], Setting("Which stages `datasets` writes.")] = LEVELS,
    stage_label: Annotated[
        str, Setting("Label of the stages: that of the claim ('source') or the judged 'verdict'.")
    ] = "source",
    population: Annotated[
        Place | None, Setting("File of the agents, if the traces have none (for their groups).")
    ] = None,
    network: Annotated[
        Place | None, Setting("File of the network, if the traces have none (for the viewer).")
    ] = None,
    traces: Annotated[int, Setting("Traces in the viewer; 0 leaves it out.", least=0)] = 60,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    progress: Progress = silent,
    **measuring: Unpack[Measuring],
) -> Drift:
    """Measure how far claims drifted from their base: curves, verdicts, targets, producers,
    coverage.

    With `output`, the report, its figures and the viewer are written there.
    """
    chosen, calls = divided(Measuring, measuring)
    sources, judges, auditor = _several(data), each_of(chosen["judge"]), chosen["auditor"]
    wanted, named = wanted_levels(levels), one_of(LABELS, stage_label, "stage_label")
    if not judges and is_capped(calls):
        raise UsageError("A cap was set, but without a judge nothing is spent.", "Pass `judge`.")
    words = read_prompts(chosen["prompts"], "evolve drift")
    reading = Reading.named(chosen["reading"])  # before a model is opened, which may take a while
    folders = folders_of(*sources)
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
        progress=progress,
        **calls,
    ) as run:
        opened = [Dataset.of(source, limit) for source in sources]
        groups, society = _people(population, network)
        providers = [open_provider(profile, calls=run.calls) for profile in judges]
        panel = Judges(providers, reading, chosen["runs"], chosen["sample"], words)
        if run.estimate:
            run.estimated(cost(opened, panel, auditor, run))
        ends = None
        if auditor is not None:
            learned = chosen["auditor_data"]
            ends = independent_ends(opened, auditor, learned, judges, words, run)
        drifted = measure(
            opened,
            groups=groups,
            judges=panel if providers else None,
            independent=ends,
            seed=seed,
            progress=progress,
        )
        drifted.prompts = words.lineage(*_asked(judges, auditor))
        societies = _societies(opened, drifted, society)
        run.fill(
            lambda folder: fill(contents(drifted, societies, traces=traces, seed=seed), folder)
        )
    if datasets is not None:
        drifted.stages = _write_stages(opened, drifted, Path(datasets), wanted, force, named)
    return drifted


def cost(
    opened: Sequence[Dataset], panel: Judges, auditor: str | None, run: Run
) -> dict[str, Priced]:
    """What the judges would be asked."""
    hops, parts = read_hops(opened), dict[str, Priced]()
    words, recording = panel.prompts, run.calls.existing()

    def add(name: str, judge: ModelJudge[Any], cases: list[Case]) -> None:
        requests = judge.requests(cases)
        parts[name] = estimate_calls(requests, judge.provider.profile, recording=recording)

    drawn = sample_hops(hops, panel.sample, run.seed or 0)
    rows = drawn.select("record_id", "base", "output").rows()
    for number, model in enumerate(panel.providers, 1):
        scorer = judge_of(model, panel.reading, panel.runs, words)
        cases = [case_of("", base, now, panel.reading, scorer.prompt) for _, base, now in rows]
        add(f"judge {number}", scorer, cases)
    if not panel.providers:
        return parts
    first, sources = panel.providers[0], dict[str, str]()
    for dataset in opened:
        sources |= contexts(dataset)
    levels, stated = level_judge(first, words), stated_judge(first, words)
    references = [(now, sources.get(i) or base) for i, base, now in rows]
    add("verdicts", levels, level_cases(references, levels.prompt))
    known = [(now, sources[i]) for i, _, now in rows if i in sources]
    add("coverage", stated, stated_cases(known, stated.prompt))
    if auditor == "model":
        ends = last_hops(hops).drop_nulls(["output", "dimension"])
        voter = auditor_of(first, words)
        questions = (
            Question(text, Target.of(dimension, value), 0)
            for text, dimension, value in ends.select("output", "dimension", "target").rows()
        )
        add("auditor", voter, [audit_case(one, voter.prompt) for one in questions])
    return parts


def _several(data: Stored | Sequence[Source]) -> list[Source]:
    return [data] if isinstance(data, Dataset | str | Path) else list(data)


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
