"""`claimlab rerun`: make a folder again from what it says of its making, and compare the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import echo, emit, note, progress_bar, suggest, verb, wants_json

app = verb()

InputsOption = Annotated[
    list[Path] | None,
    typer.Option("--inputs", help="Folder that holds what was read, under any name; repeatable."),
]


@app.command()
def rerun(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder that claimlab wrote: a dataset, a report, an export, a study."
        ),
    ],
    inputs: InputsOption = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="The recorded answers of models and searches; by default FOLDER.cache."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the repeated folder here.")
    ] = None,
    force: o.ForceFlag = False,
) -> None:
    """Repeat any folder from what it says of its making, and say whether the bytes are the same;
    exit 3 where they are not. Inputs are found by their digests; nothing is asked of a model or a
    search."""
    with progress_bar() as progress:
        from claimlab.study.rerun import rerun as repeat

        result = repeat(
            folder, inputs=inputs or (), cache=cache, output=output, force=force, progress=progress
        )
    if wants_json():
        emit(
            {
                "folder": str(folder),
                "same": result.same,
                "files": result.files,
                "differences": result.differences,
            }
        )
    else:
        for name, difference in result.differences.items():
            echo(f"- {name}: {difference}")
        echo(result.headline())
    note(result.notes, "rerun")
    if not result.same:
        raise typer.Exit(3)
    suggest(f"claimlab show {folder}")
