"""`claimlab engine`: a worker for a run whose work is shared, and how far such a run is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import complain, echo, emit, progress_bar, several, show_blocks, verb

app = verb()

RunArgument = Annotated[
    Path, typer.Argument(help="The output folder of the run, as its command names it.")
]


@app.command()
def work(
    run: RunArgument,
    shard: Annotated[
        int | None,
        typer.Option(
            "--shard",
            min=0,
            help="Which shard; default SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX.",
        ),
    ] = None,
    of: Annotated[
        int | None,
        typer.Option(
            "--of",
            min=1,
            help="Number of workers: do every such shard of all stages, to the end of the run.",
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, help="How often a shard that fails is tried again.")
    ] = 2,
    secret: Annotated[
        Path | None,
        typer.Option(
            "--secret",
            help="File with the secret of the run; default CLAIMLAB_ENGINE_SECRET, or your own.",
        ),
    ] = None,
    as_json: o.JsonFlag = False,
) -> None:
    """Do one shard, or one share, of a run that was started with --engine shared; exit 1 where a
    shard failed.
    """
    from claimlab.core.engine.shared import engine_work

    with progress_bar() as progress:
        result = engine_work(
            run, shard=shard, of=of, retries=retries, secret=secret, progress=progress
        )
    if as_json:
        emit(asdict(result))
    else:
        echo(f"{several(result.done, 'shard')} done.")
    for name, error in result.failures.items():
        complain(f"Failed: {name}: {error}")
    if result.failures:
        raise typer.Exit(1)


@app.command()
def status(run: RunArgument, as_json: o.JsonFlag = False) -> None:
    """Show how far a run is: its stages, their shards, and the last error."""
    from claimlab.core.engine.shared import engine_status

    result = engine_status(run)
    if as_json:
        emit(result.to_json())
        return
    from claimlab.pages.blocks import Table

    if result.stages:
        rows = [
            (
                one["stage"],
                f"{one['done']} of {one['shards']}",
                str(one["failed"]),
                one["error"] or "",
            )
            for one in result.stages
        ]
        show_blocks([Table(("stage", "done", "failed", "last error"), rows)])
    echo(result.headline())
