"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, echo, emit, progress_bar, say, verb

app = verb()


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder.")],
    to: Annotated[str, typer.Option("--to", help="hf, croissant, csv, jsonl or claimreview.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the export to.")],
    bom: Annotated[bool, typer.Option("--bom", help="Start CSV files with a mark by which Excel knows UTF-8.")] = False,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Export a dataset for Hugging Face, Croissant, spreadsheets, JSON Lines or ClaimReview."""
    from claimlab.core.dataset import Dataset
    from claimlab.exchange.export import export as export_dataset
    from claimlab.exchange.export import refuse_taken
    from claimlab.exchange.format import FORMATS, Settings

    FORMATS.get(to)
    refuse_taken(output, force)
    dataset = Dataset.open(folder)
    with progress_bar(not as_json) as progress:
        done = export_dataset(
            dataset, to, output, settings=Settings(bom=bom), limit=limit, force=force, progress=progress
        )
    for note in done.notes:
        say(f"Note: {note}")
    if as_json:
        emit(done.to_json())
        return
    echo(f"Wrote {output} as {to}: {done.headline} ({len(done.files)} file(s)).")
