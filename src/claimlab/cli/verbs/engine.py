"""`claimlab engine`: a worker for a run whose work is shared, and how far such a run is."""

from __future__ import annotations

from dataclasses import asdict

import typer

from claimlab.cli.command import Call, verb
from claimlab.cli.output import complain, echo, emit, several, show_blocks, wants_json
from claimlab.core.engine.work import EngineStatus, Worked, engine_status, engine_work
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Column, Columns, Table

app = verb()

STAGE: Columns[JsonObject] = (
    Column("stage"),
    Column("done", lambda stage: f"{stage['done']} of {stage['shards']}"),
    Column("failed", format=str),
    Column("last error", "error", missing=""),
)


@app.of(engine_work)
def work(call: Call[Worked]) -> None:
    """Do one shard, or one share, of a run that was started with --engine shared; exit 1 where a
    shard failed.
    """
    result = call()
    if wants_json():
        emit(asdict(result))
    else:
        echo(f"{several(result.done, 'shard')} done.")
    for name, error in result.failures.items():
        complain(f"Failed: {name}: {error}")
    if result.failures:
        raise typer.Exit(1)


@app.of(engine_status)
def status(call: Call[EngineStatus]) -> None:
    """Show how far a run is: its stages, their shards, and the last error."""
    result = call()
    if wants_json():
        emit(result.to_json())
        return
    if result.stages:
        show_blocks([Table.of(STAGE, result.stages)])
    echo(result.headline())
