"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.complete import formats
from claimlab.cli.output import echo, emit, listing, note, progress_bar, several, suggest, verb

app = verb()


def _list_formats(as_json: bool) -> None:
    from claimlab.exchange.format import FORMATS

    listing(
        "formats",
        {n: one.summary for n, one in FORMATS.all().items()},
        as_json=as_json,
        verb="export",
    )


FormatsOption = Annotated[bool, o.listing_option("--formats", "the formats", _list_formats)]


@app.command()
def export(
    folder: o.DatasetArgument,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help=f"A format: {', '.join(formats(''))}; see --formats.",
            autocompletion=formats,
        ),
    ],
    output: o.OutputOption,
    bom: Annotated[
        bool, typer.Option("--bom", help="Start CSV files with a mark by which Excel knows UTF-8.")
    ] = False,
    task: Annotated[
        str, typer.Option(help="What inspect and lm-eval ask: a task or any column.")
    ] = "veracity",
    split: Annotated[
        str | None,
        typer.Option(help="The split they ask about; 'test' where there is one, by default."),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(help="A saved audit of the dataset: hf and croissant list what it found."),
    ] = None,
    limit: o.LimitOption = None,
    _list: FormatsOption = False,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Export a dataset in the format that another tool reads."""
    words = o.arguments(locals(), "folder")
    from claimlab.exchange.export import export as export_dataset

    with progress_bar(not as_json) as progress:
        done = export_dataset(folder, **words, progress=progress)
    note(done.notes, "export")
    if as_json:
        emit(done.to_json())
        return
    echo(f"Wrote {output} as {to}: {done.summary} ({several(len(done.files), 'file')}).")
    suggest(done.then.format(output))
