"""`claimlab evolve drift`: what happened to claims on their way, measured and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, echo, emit, progress_bar, say

if TYPE_CHECKING:
    from claimlab.core.calls.calls import Calls
    from claimlab.core.dataset import Dataset
    from claimlab.core.progress import Progress
    from claimlab.evolve.drift.attainment import Ends
    from claimlab.evolve.drift.measure import Drift, Judges
    from claimlab.evolve.drift.views.viewer import Society


def drift(
    folders: Annotated[list[Path], typer.Argument(help="Dataset folders with traces; several are compared.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the report, the figures and the trace viewer.")
    ] = None,
    datasets: Annotated[
        Path | None, typer.Option("--datasets", help="Folder for the stages of the claims as datasets.")
    ] = None,
    levels: Annotated[str, typer.Option(help="Which stages --datasets writes.")] = "seed,middle,evolved",
    population: Annotated[
        Path | None, typer.Option(help="File of the agents, where the traces came without one (tells their groups).")
    ] = None,
    network: Annotated[
        Path | None, typer.Option(help="File of the network, where the traces came without one (for the viewer).")
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="Model profile that scores FUSE-EVAL; may be repeated.")
    ] = None,
    reading: Annotated[str, typer.Option(help="FUSE-EVAL as in the 'paper' or as 'released'.")] = "paper",
    runs: Annotated[int, typer.Option(min=1, help="How often each judge is asked; 2 or more show its agreement.")] = 1,
    sample: Annotated[int, typer.Option(min=1, help="Hops that the judges are asked about.")] = 200,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that the judges may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that the judges may make at most.")] = None,
    auditor: Annotated[
        str | None,
        typer.Option(help="Who judges attainment independently: rules, classifier, or model (the first --judge)."),
    ] = None,
    auditor_data: Annotated[Path | None, typer.Option(help="Dataset that the classifier auditor learns from.")] = None,
    traces: Annotated[int, typer.Option(min=0, help="Traces in the viewer; 0 leaves it out.")] = 60,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Measure how far claims drifted from their base: curves, verdicts, targets, producers, coverage."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.core.guard import refuse_taken
    from claimlab.evolve.drift.levels import wanted_levels
    from claimlab.evolve.drift.measure import measure
    from claimlab.evolve.drift.write import KIND, write_drift

    if output is not None:
        refuse_taken(output, force=force, kind=KIND, reads=folders)
    wanted = wanted_levels(levels)
    if datasets is not None and len(folders) == 1:
        for name in wanted:
            refuse_overwrite(datasets / name, force, reads=folders[0])
    opened = [Dataset.open(folder).limited(limit) for folder in folders]
    groups, given = _people(population, network)
    with progress_bar() as progress:
        calls = _calls(judge, max_cost, max_calls)
        judges = _judges(judge, reading, runs, sample, calls)
        independent = _independent(opened, auditor, auditor_data, judge, calls, progress)
        found = measure(opened, groups=groups, judges=judges, independent=independent, seed=seed, progress=progress)
    if output is not None:
        write_drift(found, output, _societies(opened, found, given), traces=traces, seed=seed, force=force)
        say(f"Report: {output / 'index.html'}")
    written = _stages(opened, found, datasets, wanted, force) if datasets is not None else {}
    if as_json:
        emit({"output": None if output is None else str(output), **found.to_json(), "datasets": written})
    else:
        _print(found, written)


def _people(population: Path | None, network: Path | None) -> tuple[dict[str, str], Society | None]:
    """The groups of the agents and the network to draw, from files, for traces that came without them."""
    from claimlab.core.errors import UsageError
    from claimlab.evolve.drift.views.viewer import Society
    from claimlab.evolve.society.files import read_network
    from claimlab.evolve.society.population import Population

    if population is None:
        if network is not None:
            raise UsageError("A network file names agents.", "Give their file too, with --population.")
        return {}, None
    people = Population.read(population)
    told = people.agents.select("id", people.agents["group"].cast(str)).drop_nulls()
    groups = dict(told.iter_rows())
    return groups, None if network is None else Society(people.ids.to_list(), read_network(network, people), groups)


def _societies(opened: list[Dataset], found: Drift, given: Society | None) -> dict[str, Society]:
    """The network of each run: as the run left it, else the one that was given."""
    from claimlab.evolve.drift.write import society_of

    runs = found.hops["run"].unique(maintain_order=True).to_list()
    known = {run: society_of(dataset) or given for run, dataset in zip(runs, opened, strict=True)}
    return {run: society for run, society in known.items() if society is not None}


def _calls(profiles: list[str] | None, money: float | None, calls: int | None) -> Calls:
    """One budget for the judges and for a model that audits."""
    from claimlab.core.budget import Budget
    from claimlab.core.calls.calls import Calls
    from claimlab.core.errors import UsageError
    from claimlab.core.places import cache_folder

    if not profiles and (money is not None or calls is not None):
        raise UsageError("A cap was set, but without a judge nothing is spent.", "Add --judge PROFILE.")
    return Calls(cache=cache_folder(), budget=Budget(money=money, calls=calls))


def _judges(profiles: list[str] | None, reading: str, runs: int, sample: int, calls: Calls) -> Judges | None:
    from claimlab.evolve.drift.fuse import Reading
    from claimlab.evolve.drift.measure import Judges

    if not profiles:
        return None
    from claimlab.llm.open import open_provider

    named = Reading.named(reading)  # before a model is opened, which may take a while or not be there
    providers = [open_provider(profile, calls=calls) for profile in profiles]
    return Judges(providers, named, runs, sample)


def _independent(
    opened: list[Dataset],
    auditor: str | None,
    data: Path | None,
    profiles: list[str] | None,
    calls: Calls,
    progress: Progress,
) -> Ends | None:
    from claimlab.core.errors import UsageError

    if auditor is None:
        return None
    if auditor == "model" and not profiles:
        raise UsageError("No model was named to audit.", "Add --judge PROFILE; see: claimlab llm profiles")
    from claimlab.evolve.auditors.auditor import AUDITORS, Settings
    from claimlab.evolve.drift.attainment import last_hops
    from claimlab.evolve.drift.audited import judge_ends
    from claimlab.evolve.drift.hops import read_hops
    from claimlab.evolve.target import Target

    opens = AUDITORS.get(auditor)
    hops = read_hops(opened)
    goals = last_hops(hops).select("dimension", "target").unique().sort("dimension", "target").drop_nulls()
    targets = tuple(sorted({Target.of(d, v) for d, v in goals.iter_rows()}))
    if not targets:
        return None
    settings = Settings(data=data, targets=targets, profiles=tuple(profiles or ()), calls=calls)
    (one,) = opens(settings, 1)
    return judge_ends(hops, one, progress=progress)


def _stages(
    opened: list[Dataset], found: Drift, folder: Path, wanted: list[str], force: bool
) -> dict[str, dict[str, int]]:
    """Each stage of each run as a dataset folder below `folder`; the run's name is in it when there are several."""
    from claimlab.core.dataset import refuse_overwrite
    from claimlab.evolve.drift.levels import stages

    out = {}
    runs = found.hops["run"].unique(maintain_order=True).to_list()
    for dataset, run in zip(opened, runs, strict=True):
        for name, made in stages(dataset, found.hops.filter(found.hops["run"] == run), wanted).items():
            target = folder / (name if len(opened) == 1 else f"{run.replace(': ', '-')}-{name}")
            refuse_overwrite(target, force)
            made.write(target, force=force)
            out[str(target)] = {"records": made.records.height, **made.lineage[-1].counts}
    return out


def _print(found: Drift, written: dict[str, dict[str, int]]) -> None:
    counts = found.counts
    echo(f"{counts['traces']:,} traces, {counts['hops']:,} hops, {counts['failed_hops']:,} failed.")
    for (by, value), one in found.curves.items():
        if by in ("all", "run", "topology"):
            name = "all traces" if by == "all" else f"{by} {value}"
            shape = "slopes not known" if one.ratio is None else f"late slope {one.ratio:.2f} of the early one"
            end = "–" if one.end is None else f"{one.end:.3f}"
            echo(f"  {name}: drift-lite {end} at the end; {shape}")
    far = found.curves["all", ""].unrelated
    if far is not None:
        echo(f"  two unrelated claims: {far:.3f}")
    for row in found.attainment.iter_rows(named=True):
        if row["share"] is not None:
            echo(f"  {row['dimension']} ({row['setting']}, {row['judge']}): {100 * row['share']:.1f} % attained")
    for note in found.notes:
        say(f"Note: {note}")
    for folder, told in written.items():
        echo(f"  Wrote {folder}: {told['records']:,} records")
