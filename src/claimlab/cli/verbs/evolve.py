"""`claimlab evolve`: claims pass through a simulated society, and every hop is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claimlab.cli.output import (
    ForceFlag,
    JsonFlag,
    LimitOption,
    SeedOption,
    calls_beside,
    echo,
    progress_bar,
    say,
    several,
    show_estimate,
    verb,
    written,
)
from claimlab.cli.verbs._evolve_drift import drift
from claimlab.cli.verbs._evolve_worth import worth

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset
    from claimlab.evolve.open import Run

app = verb(help="Claims in a simulated society: let them evolve, measure their drift, judge their check-worthiness.")


@app.callback()
def _commands() -> None:
    """A verb with sub-commands, also while it has only one."""


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder with the claims to start from.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the evolved claims and traces to.")],
    network: Annotated[
        str, typer.Option(help="'random', 'scale-free', 'clustered', 'dunbar', or a file (ARCHIVE#MEMBER).")
    ] = "random",
    population: Annotated[
        str | None, typer.Option(help="A file of agents (ARCHIVE#MEMBER), or how many to draw (90).")
    ] = None,
    mean_degree: Annotated[
        float | None, typer.Option(help="Ties of an agent; the same for all kinds if unset.")
    ] = None,
    mode: Annotated[
        str, typer.Option(help="'walk', 'cascade' (nothing steers) or 'intervened' (auditors do).")
    ] = "walk",
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps (30); of one round with --vote released (10).")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of a steered walk (1; released: 3).")] = None,
    within_group: Annotated[
        bool | None, typer.Option("--within-group/--across-groups", help="Stay in the group (clustered: yes).")
    ] = None,
    group: Annotated[str | None, typer.Option(help="Start and stay in this group of agents.")] = None,
    hubs: Annotated[
        bool, typer.Option("--hubs/--no-hubs", help="Hubs lend their opinion, where there are any.")
    ] = True,
    fan_out: Annotated[int | None, typer.Option(min=1, help="Cascades: how many an agent tells (2).")] = None,
    reach: Annotated[int | None, typer.Option(min=1, help="Cascades: agents reached, at most (30).")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Where to steer, such as style=colloquial; again for another; or 'all'.")
    ] = None,
    vote: Annotated[str | None, typer.Option(help="When auditors vote: 'paper' (default) or 'released'.")] = None,
    rewriter: Annotated[str, typer.Option(help="Who writes for the agents: 'rules', 'model' or 'replay'.")] = "rules",
    auditor: Annotated[
        str | None, typer.Option(help="Who judges: 'rules' (default), 'classifier', 'model' or 'replay'.")
    ] = None,
    auditors: Annotated[
        int | None, typer.Option(min=0, max=3, help="How many judge: 3 (default), 1, or 0 (one rewrite, no vote).")
    ] = None,
    auditor_data: Annotated[Path | None, typer.Option(help="Dataset that the classifier learns from.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Your own table of attributes and operators (TOML).")] = None,
    recording: Annotated[Path | None, typer.Option(help="Dataset with traces, for 'replay'.")] = None,
    profile: Annotated[str | None, typer.Option(help="Model profile of the agents; see: claimlab llm profiles")] = None,
    auditor_profile: Annotated[
        list[str] | None, typer.Option(help="Model profile of an auditor; again for the next (else the agents').")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the same endpoint.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of recorded calls (OUTPUT.cache).")] = None,
    cache_mode: Annotated[
        str, typer.Option(help="'record' (and resume), 'replay' (no network) or 'live' (no recording).")
    ] = "record",
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that this run may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls of models.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens of models.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what the run would cost, and stop.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=512, help="Claims that move at once.")] = 80,
    seed: SeedOption = 20,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Let claims pass from agent to agent and be rewritten; keep every hop. Stop, resume and replay."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.evolve.open import Run, plan_of, targets_of

    if not estimate:
        refuse_overwrite(output, force, reads=folder)
    steered = {"--vote": vote, "--rounds": rounds, "--auditor": auditor, "--auditors": auditors}
    _refuse_unheard(mode == "intervened", steered, "Say --mode intervened.")
    _refuse_unheard(mode == "cascade", {"--fan-out": fan_out, "--reach": reach}, "Say --mode cascade.")
    _refuse_unheard(
        "model" in (rewriter, auditor),
        {"--profile": profile, "--model": model},
        "Say --rewriter model, or --auditor model in an intervened run.",
    )
    _refuse_unheard(auditor == "model", {"--auditor-profile": auditor_profile}, "Say --auditor model.")
    _refuse_unheard(auditor == "classifier", {"--auditor-data": auditor_data}, "Say --auditor classifier.")
    _refuse_unheard("replay" in (rewriter, auditor), {"--recording": recording}, "Say --rewriter replay.")
    claims = Dataset.open(folder).limited(limit)
    calls = calls_beside(
        output, cache_mode, cache, (max_cost, max_calls, max_tokens), estimate=estimate, concurrency=concurrency
    )
    chosen = Run(
        network=network,
        population=population,
        mean_degree=mean_degree,
        within=within_group,
        group=group,
        plan=plan_of(mode, steps, rounds, vote or "paper", hubs, fan_out or 2, reach or 30),
        targets=targets_of(target or []),
        rewriter=rewriter,
        auditor=auditor or "rules",
        auditors=0 if mode != "intervened" else 3 if auditors is None else auditors,
        auditor_data=auditor_data,
        weights=weights,
        recording=recording,
        profile=profile,
        auditor_profiles=tuple(auditor_profile or ()),
        model=model,
        calls=calls,
        seed=seed,
    )
    if estimate:
        _estimate(claims, chosen, as_json)
    else:
        _run(claims, chosen, output, force=force, as_json=as_json)


def _refuse_unheard(heard: bool, options: Mapping[str, object], way: str) -> None:
    """An option that nobody would hear is a misunderstanding: a rule run must not pass for a model's."""
    from claimlab.core.errors import UsageError

    given = [name for name, value in options.items() if value is not None]
    if given and not heard:
        raise UsageError(f"Nobody in this run would use {' and '.join(given)}.", way)


def _run(claims: Dataset, chosen: Run, output: Path, *, force: bool, as_json: bool) -> None:
    from claimlab.core import sync
    from claimlab.evolve.run import forget

    try:
        with progress_bar() as progress:
            made = sync.run(chosen.start(claims, work=output, progress=progress))
    except KeyboardInterrupt:
        say("The claims that were finished are kept; the same command goes on from there.")
        raise
    made.write(output, force=force)
    forget(output)
    if chosen.calls.budget.ledger is not None:
        chosen.calls.budget.ledger.close(complete=True)
    counts = made.lineage[-1].counts
    written(made, as_json=as_json, more={"evolved": counts, "budget": chosen.calls.budget.summary()})
    if not as_json:
        _tell(counts)
    for note in made.notes[len(claims.notes) :]:
        say(f"Note: {note}")
    described = made.lineage[-1].parameters
    standings = [one.get("standing") for one in (described["rewriter"], *described["auditors"])]
    for standing in dict.fromkeys(s for s in standings if s):
        say(f"Note: some of this was made by a model that is {standing}.")


def _tell(counts: dict[str, int]) -> None:
    echo(f"  {several(counts['turns'], 'turn')} of agents, each kept in traces.parquet")
    for name, n in counts.items():
        kind, _, what = name.partition(": ")
        if kind in ("claims", "turns") and what:
            echo(f"  {n:>8,} {kind} {what}")
        elif what:
            say(f"{kind.capitalize()}: {what} ({n:,}).{_WAYS.get(name, '')}")


_WAYS = {"failures: language": " The rules know English only; other languages need --rewriter model."}


def _estimate(claims: Dataset, chosen: Run, as_json: bool) -> None:
    from claimlab.evolve.cost import estimate

    show_estimate(estimate(chosen, claims), as_json)


app.command()(drift)
app.command()(worth)
