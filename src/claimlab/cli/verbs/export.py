"""`claimlab export`: a dataset in the shape that another tool reads."""

from __future__ import annotations

from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import echo, emit, note, progress_bar, suggest, verb

app = verb()
_NEXT = {
    "hf": "hf upload NAME {} --repo-type dataset",
    "claimreview": "publish the JSON-LD files in {}",
}


@app.command()
def export(
    folder: o.DatasetArgument,
    to: Annotated[str, typer.Option("--to", help="hf, croissant, csv, jsonl or claimreview.")],
    output: o.OutputOption,
    bom: Annotated[bool, typer.Option("--bom", help="Start CSV files with a mark by which Excel knows UTF-8.")] = False,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Export a dataset for Hugging Face, Croissant, spreadsheets, JSON Lines or ClaimReview."""
    from claimlab.exchange.export import export as export_dataset

    with progress_bar(not as_json) as progress:
        done = export_dataset(folder, to, output, bom=bom, limit=limit, force=force, progress=progress)
    note(done.notes, "export")
    if as_json:
        emit(done.to_json())
        return
    echo(f"Wrote {output} as {to}: {done.headline} ({len(done.files)} file(s)).")
    suggest(_NEXT.get(to, "claimlab import {} -o DIR").format(output))
