"""`claimlab evolve drift`: what happened to claims on their way, measured and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    emit,
    note,
    page,
    progress_bar,
    refuse_nothing_to_open,
    show_estimate,
    suggest,
    wants_json,
)

if TYPE_CHECKING:
    from claimlab.evolve.drift.measure import Drift


StagesOption = Annotated[
    Path | None, typer.Option("--datasets", help="Folder for the stages of the claims as datasets.")
]
StageLabelOption = Annotated[
    str,
    typer.Option(help="Label of the stages: that of the claim ('source') or the judged 'verdict'."),
]


def drift(
    data: Annotated[
        list[Path], o.folders_argument("Dataset folders with traces; several are compared.")
    ],
    output: o.OptionalOutput = None,
    datasets: StagesOption = None,
    levels: Annotated[
        str, typer.Option(help="Which stages --datasets writes.")
    ] = "seed,middle,evolved",
    stage_label: StageLabelOption = "source",
    population: Annotated[
        Path | None,
        typer.Option(help="File of the agents, if the traces have none (for their groups)."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(help="File of the network, if the traces have none (for the viewer)."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="Model profile that scores FUSE-EVAL; may be repeated."),
    ] = None,
    reading: Annotated[
        str, typer.Option(help="FUSE-EVAL as in the 'paper' or as 'released'.")
    ] = "paper",
    runs: Annotated[
        int, typer.Option(min=1, help="How often each judge is asked; agreement needs 2.")
    ] = 1,
    sample: Annotated[int, typer.Option(min=1, help="Number of hops that the judges score.")] = 200,
    auditor: Annotated[
        str | None,
        typer.Option(
            help="Independent judge of attainment: rules, classifier, or model (the first --judge)."
        ),
    ] = None,
    auditor_data: Annotated[
        Path | None, typer.Option(help="Dataset that the classifier auditor learns from.")
    ] = None,
    traces: Annotated[int, typer.Option(min=0, help="Traces in the viewer; 0 leaves it out.")] = 60,
    prompts: o.PromptOption = None,
    calls: o.Calls = o.CALLS,
    estimate: o.EstimateFlag = False,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    open_page: o.OpenFlag = False,
) -> None:
    """Measure how far claims drifted from their base: curves, verdicts, targets, producers,
    coverage.
    """
    words = o.arguments(locals())
    from claimlab.evolve.drift.front import drift as measure
    from claimlab.evolve.drift.front import estimate_drift

    if estimate:
        show_estimate(estimate_drift(**words))
        return
    refuse_nothing_to_open(open_page, output)
    with progress_bar() as progress:
        drifted = measure(**words, progress=progress)
    if wants_json():
        emit({"output": output and str(output), **drifted.to_json(), "datasets": drifted.stages})
    else:
        _print(drifted)
    if output is not None:
        page(output / "index.html", open_page=open_page)
    suggest(
        (
            f"claimlab evolve worth {data[0]} -o DIR"
            if output
            else "the same with -o DIR for a report"
        ),
    )


def _print(drifted: Drift) -> None:
    from claimlab.evolve.drift.attainment import one_against_three

    counts = drifted.counts
    echo(f"{counts['traces']:,} traces, {counts['hops']:,} hops, {counts['failed_hops']:,} failed.")
    several_values = {
        by for by in ("run", "topology") if sum(key == by for key, _ in drifted.curves) > 1
    }
    for (by, value), curve in drifted.curves.items():
        if by == "all" or by in several_values:
            name = "all traces" if by == "all" else f"{by} {value}"
            shape = (
                "slopes not known"
                if curve.ratio is None
                else f"the final slope is {100 * curve.ratio:.0f}% of the initial one"
            )
            end = "–" if curve.end is None else f"{curve.end:.3f}"
            echo(f"  {name}: drift-lite {end} at the end; {shape}")
    unrelated = drifted.curves["all", ""].unrelated
    if unrelated is not None:
        echo(f"  two unrelated claims: {unrelated:.3f}")
    for row in drifted.attainment.iter_rows(named=True):
        if row["share"] is not None:
            same = f", {row['untouched']:,} passed untouched" if row["untouched"] else ""
            echo(
                f"  {row['dimension']} ({row['setting']}, {row['judge']}):"
                f" {100 * row['share']:.1f}% attained{same}"
            )
    for row in one_against_three(drifted.attainment).iter_rows(named=True):
        echo(f"  {row['dimension']} ({row['judge']}), three auditors against one: {row['verdict']}")
    if drifted.fuse_means is not None and drifted.fuse is not None:
        last = drifted.fuse_means.filter(drifted.fuse_means["step"].is_null())
        for row in last.filter(last["by"].is_in(["all", "topology", "home"])).iter_rows(named=True):
            name = "all judged traces" if row["by"] == "all" else f"{row['by']} {row['value']}"
            total, scale = row["total_deviation"], drifted.fuse.reading.scale
            echo(
                f"  FUSE-EVAL, {name} ({row['traces']:,}): {total:.2f} on {scale} at the last"
                " judged hop"
            )
    note(drifted.notes, "evolve drift")
    for folder, stage in drifted.stages.items():
        echo(f"  Wrote {folder}: {stage['records']:,} records")
