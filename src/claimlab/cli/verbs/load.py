"""`claimlab load`: a catalogued dataset, from the zip or folder its authors publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.complete import datasets
from claimlab.cli.output import note, progress_bar, say, suggest, verb, written

app = verb()


@app.command()
def load(
    name: Annotated[
        str,
        typer.Argument(
            help=(
                "Name in the catalogue, such as liar (see: claimlab catalog), or a folder of"
                " records."
            ),
            autocompletion=datasets,
        ),
    ],
    output: o.OutputOption,
    source: Annotated[
        Path | None,
        typer.Argument(
            help="The zip, folder or file as its authors publish it.", show_default=False
        ),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="A named view of the dataset; see: claimlab catalog show NAME"),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--map", help="A named verdict map of the dataset, such as a5 or cdl."),
    ] = None,
    unmapped: Annotated[
        str,
        typer.Option(help="Labels that the map does not know: 'error', or accept as 'unknown'."),
    ] = "error",
    download: Annotated[
        bool,
        typer.Option(
            "--download",
            help="Fetch the published file first, and keep it at SOURCE (by default in a cache).",
        ),
    ] = False,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Load a catalogued dataset from a zip or folder, or a folder that was exported or that Hugging
    Face's libraries saved, into a claimlab dataset folder."""
    words = o.arguments(locals())
    with progress_bar(not as_json, f"loading {name}") as progress:
        from claimlab.exchange.load import load as load_dataset

        dataset = load_dataset(**words, on_terms=say, progress=progress)
    note(dataset.notes, "load")
    written(dataset, as_json=as_json, more={"notes": dataset.notes})
    suggest(f"claimlab audit {output} -o REPORT", as_json=as_json)
