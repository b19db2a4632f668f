"""`claimlab evolve`: claims pass through a simulated society, and every hop is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.output import (
    echo,
    note,
    progress_bar,
    say,
    several,
    show_estimate,
    suggest,
    verb,
    wants_json,
    written,
)
from claimlab.cli.verbs._evolve_drift import drift
from claimlab.cli.verbs._evolve_seed import seed
from claimlab.cli.verbs._evolve_worth import worth

app = verb(
    help="Claims in a simulated society: let them evolve, measure drift and check-worthiness."
)


@app.callback()
def _commands() -> None:
    """A verb with sub-commands, also while it has only one."""


NetworkOption = Annotated[
    str,
    typer.Option(
        help=(
            "'random', 'scale-free', 'scale-free:hubs=3', 'clustered', 'dunbar', or a file"
            " (ARCHIVE#MEMBER)."
        )
    ),
]
PopulationOption = Annotated[
    str | None, typer.Option(help="A file of agents (ARCHIVE#MEMBER), or how many to draw (90).")
]
MeanDegreeOption = Annotated[
    float | None,
    typer.Option(help="Mean number of ties per agent; by default the same for every kind."),
]
KindOption = Annotated[
    str, typer.Option(help="'walk', 'cascade' (both without a target), or 'intervened' (auditors).")
]
StepsOption = Annotated[
    int | None, typer.Option(min=1, help="Steps (30); of one round with --vote released (10).")
]
WithinGroupOption = Annotated[
    bool | None,
    typer.Option("--within-group/--across-groups", help="Stay in the group (clustered: yes)."),
]
HubsOption = Annotated[
    bool, typer.Option("--hubs/--no-hubs", help="Hubs influence others, where there are any.")
]
ContextOption = Annotated[
    str | None,
    typer.Option(
        help=(
            "Which agents read the source of a claim: 'never' (walk, cascade), 'first' or 'always'."
        )
    ),
]
TargetOption = Annotated[
    list[str] | None,
    typer.Option(help="Target, such as style=colloquial; repeat for more; or 'all'."),
]
AuditorOption = Annotated[
    str | None,
    typer.Option(help="The auditor: 'rules' (default), 'classifier', 'model' or 'replay'."),
]
AuditorsOption = Annotated[
    int | None,
    typer.Option(
        min=0, max=3, help="Number of auditors: 3 (default), 1, or 0 (one rewrite, no vote)."
    ),
]
AuditorProfileOption = Annotated[
    list[str] | None,
    typer.Option(help="Model profile of an auditor; repeat for more; by default the agents'."),
]


@app.command()
def run(
    data: o.DatasetArgument,
    output: o.OutputOption,
    network: NetworkOption = "random",
    population: PopulationOption = None,
    mean_degree: MeanDegreeOption = None,
    kind: KindOption = "walk",
    steps: StepsOption = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds of a walk with a target (1; released: 3).")
    ] = None,
    within_group: WithinGroupOption = None,
    group: Annotated[
        str | None, typer.Option(help="Start and stay in this group of agents.")
    ] = None,
    hubs: HubsOption = True,
    fan_out: Annotated[
        int | None,
        typer.Option(min=1, help="Cascades: agents that each agent passes a claim to (2)."),
    ] = None,
    reach: Annotated[
        int | None, typer.Option(min=1, help="Cascades: most agents to reach (30).")
    ] = None,
    context: ContextOption = None,
    target: TargetOption = None,
    vote: Annotated[
        str | None, typer.Option(help="When auditors vote: 'paper' (default) or 'released'.")
    ] = None,
    rewriter: Annotated[
        str, typer.Option(help="How agents rewrite: 'null' (word noise), 'model' or 'replay'.")
    ] = "null",
    auditor: AuditorOption = None,
    auditors: AuditorsOption = None,
    auditor_data: Annotated[
        Path | None, typer.Option(help="Dataset that the classifier learns from.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Your own rates of noise and table of attributes (TOML).")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Dataset with traces, for 'replay'.")
    ] = None,
    profile: o.ProfileOption = None,
    auditor_profile: AuditorProfileOption = None,
    model: o.ModelOption = None,
    prompts: o.PromptOption = None,
    calls: o.Calls = o.CALLS,
    estimate: o.EstimateFlag = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=512, help="Claims to simulate at once.")
    ] = 80,
    seed: o.SeedOption = 20,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    engine: o.EngineOption = None,
) -> None:
    """Let claims pass from agent to agent and be rewritten; keep every hop. Stop, resume and
    replay.
    """
    words = o.arguments(locals())
    _refuse_kind(calls.mode)
    if estimate:
        from claimlab.evolve.front import estimate_evolve

        show_estimate(estimate_evolve(**words))
        return
    with progress_bar() as progress:
        from claimlab.evolve.front import evolve

        evolved = evolve(**words, progress=progress)
    _print(evolved)


def _refuse_kind(mode: str) -> None:
    from claimlab.core.errors import UsageError

    if mode in ("walk", "cascade", "intervened"):
        raise UsageError(
            f"--mode says how models are called; '{mode}' is a kind of run.", f"Use --kind {mode}."
        )


def _print(evolved: Any) -> None:
    counts, parameters = evolved.lineage[-1].counts, evolved.lineage[-1].parameters
    written(evolved, more={"evolved": counts, "budget": evolved.budget})
    if not wants_json():
        echo(f"  {several(counts['turns'], 'turn')} of agents, each kept in traces.parquet")
        for name, n in counts.items():
            kind, _, what = name.partition(": ")
            if kind in ("claims", "turns") and what:
                echo(f"  {n:>8,} {kind} {what}")
            elif what:
                say(f"{kind.capitalize()}: {what} ({n:,}).")
    note(evolved.remarks, "evolve")
    standings = [part.get("standing") for part in (parameters["rewriter"], *parameters["auditors"])]
    for standing in dict.fromkeys(s for s in standings if s):
        say(f"Note: the model that rewrote claims is {standing}.")
    suggest(f"claimlab evolve drift {evolved.path} -o {evolved.path}-drift")


app.command()(drift)
app.command()(worth)
app.command()(seed)
