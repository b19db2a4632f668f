"""`claimlab evolve`: claims pass through a simulated society, and every hop is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, verb
from claimlab.cli.verbs._evolve_drift import drift
from claimlab.cli.verbs._evolve_worth import worth

app = verb(help="Claims in a simulated society: let them evolve, measure their drift, judge their check-worthiness.")


@app.callback()
def _commands() -> None:
    """A verb with sub-commands, also while it has only one."""


@app.command()
def run(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder with the claims to start from.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the evolved claims and traces to.")],
    seed: SeedOption = 20,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Let claims pass from agent to agent and be rewritten; keep every hop."""


app.command()(drift)
app.command()(worth)
