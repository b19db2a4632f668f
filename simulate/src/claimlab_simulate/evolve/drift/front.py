"""The Python twin of `claimlab evolve drift`.

drifted = cl.drift("walked", output="drift-report")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.choices import each_of, one_of
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
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab.pages.folder import fill
from claimlab_simulate.evolve.auditor import Question
from claimlab_simulate.evolve.auditors.known.model import case_of as audit_case
from claimlab_simulate.evolve.auditors.known.model import judge_of as auditor_of
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.drift.attainment import last_hops
from claimlab_simulate.evolve.drift.coverage import contexts
from claimlab_simulate.evolve.drift.fuse import FuseReading
from claimlab_simulate.evolve.drift.hops import read_hops
from claimlab_simulate.evolve.drift.independent import independent_ends
from claimlab_simulate.evolve.drift.judged import Inquiry, Judges
from claimlab_simulate.evolve.drift.measure import measure
from claimlab_simulate.evolve.drift.result import Drift
from claimlab_simulate.evolve.drift.sample import which_hops
from claimlab_simulate.evolve.drift.stages import LABELS, LEVELS, stages, wanted_levels
from claimlab_simulate.evolve.drift.viewer import KIND, ViewedSociety, contents, society_of
from claimlab_simulate.evolve.society.network_files import read_network
from claimlab_simulate.evolve.society.population import Population


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
    hops: Annotated[
        str,
        Setting(
            "Which hops of a trace they score: 'last', 'all', 'every:N' or 'spread'.",
            default="spread",
        ),
    ]
    auditor: Annotated[
        str | None,
        Setting(
            "Independent judge of attainment: rules, classifier, or model (the first `judge`)."
        ),
    ]
    auditor_data: Annotated[
        Place | None, Setting("Dataset that the classifier auditor learns from.")
    ]
    prompts: PromptFiles


@repeatable("levels", writes="datasets", recorded="claimlab.evolve.drift.front.drift")
def drift(  # noqa: PLR0913
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
        Place | None, Setting("File of the agents (ARCHIVE#MEMBER), if the traces have none.")
    ] = None,
    network: Annotated[
        Place | None, Setting("File of the network (ARCHIVE#MEMBER), if the traces have none.")
    ] = None,
    traces: Annotated[int, Setting("Traces in the viewer; 0 leaves it out.", least=0)] = 60,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    **measuring: Unpack[Measuring],
) -> Drift:
    """Measure how far claims drifted from their base: curves, verdicts, targets, producers,
    coverage.

    With `output`, the report, its figures and the viewer are written there.
    """
    chosen, calls = divided(Measuring, measuring)
    sources = [data] if isinstance(data, Dataset | str | Path) else list(data)
    judges, auditor = each_of(chosen["judge"]), chosen["auditor"]
    wanted, named = wanted_levels(levels), one_of(LABELS, stage_label, "stage_label")
    if not judges and is_capped(calls):
        raise UsageError("A cap was set, but without a judge nothing is spent.", "Pass `judge`.")
    words = read_prompts(chosen["prompts"], "evolve drift")
    # before a model is opened, which may take a while
    reading, which = FuseReading.named(chosen["reading"]), chosen["hops"]
    which_hops(which)
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
        **calls,
    ) as run:
        opened = [Dataset.of(source, limit) for source in sources]
        groups, society = _people(population, network, opened)
        providers = [open_provider(profile, calls=run.calls) for profile in judges]
        panel = Judges(providers, reading, chosen["runs"], chosen["sample"], words, which)
        if run.estimate:
            run.estimated(cost(opened, panel, auditor, run))
        drifted = measure(
            opened,
            groups=groups,
            judges=panel if providers else None,
            independent=lambda hops: independent_ends(
                hops, opened, auditor, chosen["auditor_data"], judges, words, run
            ),
            seed=seed,
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
    if not panel.providers:
        return {}
    hops = read_hops(opened)
    sources = {record: text for dataset in opened for record, text in contexts(dataset).items()}
    questions = panel.questions(panel.drawn(hops, run.seed or 0), sources)
    if auditor == "model":
        ends = last_hops(hops).drop_nulls(["output", "dimension"])
        voter = auditor_of(panel.providers[0], panel.prompts)
        cases = [
            audit_case(Question(text, Target.of(dimension, value), 0), voter.prompt)
            for text, dimension, value in ends.select("output", "dimension", "target").rows()
        ]
        questions["auditor"] = Inquiry(voter, cases)
    recording = run.calls.existing()
    return {
        name: estimate_calls(judge.requests(cases), judge.provider.profile, recording=recording)
        for name, (judge, cases) in questions.items()
    }


def _asked(judges: Sequence[str], auditor: str | None) -> list[str]:
    """The names of the prompts that these judges are asked with."""
    names = ["fuse-eval", "verdict-level", "coverage"] if judges else []
    return [*names, "auditor"] if auditor == "model" else names


def _people(
    population: str | Path | None, network: str | Path | None, opened: Sequence[Dataset]
) -> tuple[dict[str, str], ViewedSociety | None]:
    """The groups of the agents and the network to draw, from files (or ARCHIVE#MEMBER), for traces
    that came without them; a network alone is of the agents that a run left.
    """
    if population is None and network is None:
        return {}, None
    if population is not None:
        people = Population.read(population)
    else:
        tables = [run.tables["agents"] for run in opened if "agents" in run.tables]
        if not tables:
            raise UsageError(
                "A network file names agents, and these traces came without theirs.",
                "Pass their file too, as `population`.",
            )
        people = Population.of(tables[0])
    groups = dict(
        people.agents.select("id", people.agents["group"].cast(pl.String)).drop_nulls().iter_rows()
    )
    if network is None:
        return groups, None
    return groups, ViewedSociety(people.ids.to_list(), read_network(network, people), groups)


def _societies(
    opened: Sequence[Dataset], drifted: Drift, default: ViewedSociety | None
) -> Mapping[str, ViewedSociety]:
    """The network of each run: as the run left it, else the one that was given."""
    runs = drifted.hops["run"].unique(maintain_order=True).to_list()
    societies = {
        run: society_of(dataset) or default for run, dataset in zip(runs, opened, strict=True)
    }
    return {run: society for run, society in societies.items() if society is not None}


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
        hops = drifted.hops.filter(drifted.hops["run"] == run)
        for name, stage in stages(dataset, hops, wanted, drifted.prompts, label).items():
            target = folder / (name if len(opened) == 1 else f"{run.replace(': ', '-')}-{name}")
            refuse_taken(target, force=force, kind=DATASET)
            stage.write(target, force=force)
            counts[str(target)] = {"records": stage.records.height, **stage.lineage[-1].counts}
    return counts
