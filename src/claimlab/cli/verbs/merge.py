"""`claimlab merge`: several datasets as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import note, progress_bar, suggest, verb, written

app = verb()


@app.command()
def merge(
    folders: Annotated[
        list[Path], o.folders_argument("The claimlab dataset folders to join, two or more.")
    ],
    output: o.OutputOption,
    name: Annotated[
        str | None, typer.Option(help="Name of the new dataset.  [the names joined by +]")
    ] = None,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Join datasets: ids kept apart, the origin of each record noted, near-duplicates between them
    counted.
    """
    from claimlab.exchange.merge import merge as run_merge

    with progress_bar() as progress:
        merged = run_merge(folders, output=output, name=name, force=force, progress=progress)
    if not as_json:
        note(merged.notes, "merge")
    written(merged, as_json=as_json)
    suggest(f"claimlab split {output} -o SPLIT --by near-duplicates", as_json=as_json)
