"""`claimlab review export` and `import`: a review as files, and decisions from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.options import ForceFlag, JsonFlag, OutputOption
from claimlab.cli.output import echo, emit, say, several, suggest

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a review.")]


def export(
    folder: FolderArgument,
    output: OutputOption,
    to: Annotated[
        str, typer.Option(help="'csv', 'jsonl', 'html' (a page to work offline), 'label-studio', 'potato', 'doccano'.")
    ] = "csv",
    people: Annotated[list[str] | None, typer.Option("--annotator", help="Only this annotator; repeat.")] = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Write decisions as tables, pages to work offline, or the files of another tool."""
    from claimlab.review.files import review_export

    files = review_export(folder, output, to, people=people or [], force=force)
    if as_json:
        emit({"output": str(output), "files": [str(file) for file in files]})
        return
    echo(f"Wrote {output}: {several(len(files), 'file')}.")
    suggest(f"claimlab review import {folder} FILE")


def import_(
    folder: FolderArgument,
    source: Annotated[Path, typer.Argument(help="A file, an archive or a folder of decisions.")],
    annotator: Annotated[str | None, typer.Option(help="Who decided, where the file does not say.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Merge decisions from files: of claimlab, an offline page, Label Studio, Potato or doccano."""
    from claimlab.review.files import review_import

    found = review_import(folder, source, annotator=annotator)
    if as_json:
        emit(found.to_json())
        return
    echo(f"Decisions: {found.headline()}.")
    for row in found.refused[:10]:
        say(f"Refused: item {row['item']} of {row['annotator']}: {row['why']}")
    suggest(f"claimlab review status {folder}")
