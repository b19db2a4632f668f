"""`claimlab rerun`: make a folder again from what it says of its making, and compare the bytes."""

from __future__ import annotations

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, emit, note, suggest, wants_json
from claimlab.study.rerun import Rerun

app = verb()


@app.of(cl.rerun, can_ask=False)
def rerun(call: Call[Rerun]) -> None:
    """Repeat any folder from what it says of its making, and say whether the bytes are the same;
    exit 3 where they are not. Inputs are found by their digests; nothing is asked of a model or a
    search."""
    result, folder = call(), call["folder"]
    if wants_json():
        content = {"same": result.same, "files": result.files, "differences": result.differences}
        emit({"folder": str(folder), **content})
    else:
        for name, difference in result.differences.items():
            echo(f"- {name}: {difference}")
        echo(result.headline())
    note(result.notes, "rerun")
    if not result.same:
        raise typer.Exit(3)
    suggest(f"claimlab show {folder}")
