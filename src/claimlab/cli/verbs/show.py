"""`claimlab show`: what a folder holds, where it came from, and whether it is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli import options as o
from claimlab.cli.output import emit, say, show_blocks, suggest, verb

app = verb()
_NEXT = {
    "dataset": "claimlab audit {} -o REPORT",
    "run": "claimlab evaluate {} -o REPORT",
    "export": "claimlab import {} -o DIR",
    "set of splits": "claimlab show {}/NAME",
}


@app.command()
def show(
    folder: Annotated[
        Path, typer.Argument(help="A folder that claimlab wrote: a dataset, a run, a report.")
    ],
    limit: Annotated[int, typer.Option("--limit", min=0, help="Show the first N records.")] = 5,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Only records like veracity=false or text~word. Repeatable."),
    ] = None,
    id: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            help="The whole record of this id, with its evidence and annotations. Repeatable.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="Count the values of one column.")
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Of a run: only the records that it got wrong.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compare every file with its stored sha256; exit with 1 if one differs.",
        ),
    ] = False,
    accept_edits: Annotated[
        str | None,
        typer.Option(
            "--accept-edits",
            metavar="WHY",
            help="Keep edited tables, and record why in the lineage.",
        ),
    ] = None,
    as_json: o.JsonFlag = False,
) -> None:
    """Show what a folder holds: counts, labels, splits, side tables, lineage, notes and the first
    records.
    """
    from claimlab.pages.show import blocks
    from claimlab.pages.show import show as show_folder

    shown = show_folder(
        folder,
        limit=limit,
        where=where or (),
        id=id or (),
        column=column,
        wrong=wrong,
        verify=verify,
        accept_edits=accept_edits,
    )
    if as_json:
        emit({**shown.to_json(), **({"verified": True} if verify else {})})
        return
    show_blocks(blocks(shown))
    if verify:
        say(f"Every file of '{folder}' is as it was written.")
    suggest(_NEXT.get(shown.kind, "open {}/index.html").format(folder))
