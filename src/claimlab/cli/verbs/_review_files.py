"""`claimlab review export` and `import`: a review as files, and decisions from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.options import (
    CALLS,
    Calls,
    ForceFlag,
    ModelOption,
    OutputOption,
    PromptOption,
    arguments,
)
from claimlab.cli.output import echo, emit, progress_bar, say, several, suggest, wants_json

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a review.")]


def export(
    folder: FolderArgument,
    output: OutputOption,
    to: Annotated[
        str,
        typer.Option(
            help=(
                "'csv', 'jsonl', 'html' (a page to work offline), 'label-studio', 'potato',"
                " 'doccano'."
            )
        ),
    ] = "csv",
    people: Annotated[
        list[str] | None, typer.Option("--annotator", help="Only this annotator; repeat.")
    ] = None,
    force: ForceFlag = False,
) -> None:
    """Write decisions as tables, pages to work offline, or the files of another tool."""
    from claimlab.review.files import review_export

    files = review_export(folder, output, to, people=people or [], force=force)
    if wants_json():
        emit({"output": str(output), "files": [str(file) for file in files]})
        return
    echo(f"Wrote {output}: {several(len(files), 'file')}.")
    suggest(f"claimlab review import {folder} FILE")


def ask(
    folder: FolderArgument,
    profile: Annotated[
        str, typer.Option("--profile", help="Model profile; see: claimlab llm profiles")
    ],
    model: ModelOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the annotator; the model's by default.")
    ] = None,
    prompts: PromptOption = None,
    calls: Calls = CALLS,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask about the first N items only.")
    ] = None,
) -> None:
    """Let a model annotate, as one more annotator that is marked and settles nothing."""
    words = arguments(locals(), "folder")
    from claimlab.review.asked import review_ask

    with progress_bar() as progress:
        answers = review_ask(folder, **words, progress=progress)
    if wants_json():
        emit(answers.to_json())
        return
    echo(f"Model {answers.headline()}.")
    if answers.standing:
        say(f"Note: {answers.name} is {answers.standing}.")
    suggest(f"claimlab review agreement {folder}")


def import_(
    folder: FolderArgument,
    source: Annotated[Path, typer.Argument(help="A file, an archive or a folder of decisions.")],
    annotator: Annotated[
        str | None, typer.Option(help="Who decided, where the file does not say.")
    ] = None,
) -> None:
    """Merge decisions from files: of claimlab, an offline page, Label Studio, Potato or doccano."""
    from claimlab.review.files import review_import

    imported = review_import(folder, source, annotator=annotator)
    if wants_json():
        emit(imported.to_json())
        return
    echo(f"Decisions: {imported.headline()}.")
    for row in imported.refused[:10]:
        say(f"Refused: item {row['item']} of {row['annotator']}: {row['why']}")
    suggest(f"claimlab review status {folder}")
