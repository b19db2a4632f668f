"""`claimlab review`: annotators decide what machines cannot, and the decisions are written back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.options import (
    DatasetArgument,
    ForceFlag,
    LimitOption,
    OutputOption,
    SeedOption,
    arguments,
)
from claimlab.cli.output import (
    echo,
    emit,
    note,
    progress_bar,
    say,
    several,
    show_blocks,
    suggest,
    suggest_serving,
    verb,
    wants_json,
    written,
)
from claimlab.cli.verbs._review_files import ask, export, import_
from claimlab.core.finding import KEPT
from claimlab.core.types import JsonObject

app = verb(
    help="Review records: create a review, see its progress and agreement, and apply the decisions."
)

ReviewArgument = Annotated[Path, typer.Argument(help="The folder of a review.")]
PeopleOption = Annotated[
    list[str] | None, typer.Option("--annotator", help="Name of an annotator; may be repeated.")
]


@app.command()
def tasks() -> None:
    """List the built-in tasks: what is asked, and what answers do."""
    from claimlab.pages.blocks import Table
    from claimlab.review.known import KNOWN

    if wants_json():
        emit({"tasks": [task.model_dump(mode="json") for task in KNOWN]})
        return
    rows = [(t.name, t.kind, t.question, ", ".join(c.value for c in t.choices)) for t in KNOWN]
    show_blocks([Table(("Task", "Kind", "Question", "Answers"), rows)])


@app.command()
def create(
    folder: DatasetArgument,
    output: OutputOption,
    task: Annotated[
        str, typer.Option(help="A built-in task (claimlab review tasks), or a TOML file.")
    ] = "label",
    doubtful: Annotated[
        bool, typer.Option("--doubtful", help="The records that cleaning marked as doubtful.")
    ] = False,
    audit: Annotated[Path | None, typer.Option(help="An audit's folder, with --finding.")] = None,
    finding: Annotated[
        str | None, typer.Option(help="The records of this finding: a check, or CHECK/FEATURE.")
    ] = None,
    predictions: Annotated[Path | None, typer.Option(help="A run: its predictions.")] = None,
    which: Annotated[
        str, typer.Option(help="Which predictions: 'wrong', 'uncertain' or 'all'.")
    ] = "wrong",
    pairs: Annotated[
        str | None, typer.Option(help="Pairs: 'conflicts' or 'near-duplicates'.")
    ] = None,
    records: Annotated[
        list[str] | None, typer.Option("--record", help="The record of this id; repeat.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only N of these, at random.")] = None,
    stratify: Annotated[
        str | None, typer.Option(help="Equal shares of each value of this column.")
    ] = None,
    people: PeopleOption = None,
    per_item: Annotated[
        int | None, typer.Option(min=1, help="Annotators of each item (the task's: 2).")
    ] = None,
    order: Annotated[str | None, typer.Option(help="'given', 'random' or 'uncertainty'.")] = None,
    adjudication: Annotated[
        str | None, typer.Option(help="'third', 'discussion' or 'majority'.")
    ] = None,
    guideline: Annotated[
        str | None, typer.Option(help="Instructions for annotators: a text, or a file.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Table of known answers: record_id, value.")
    ] = None,
    attention: Annotated[int, typer.Option(min=0, help="Attention checks among the items.")] = 0,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Records in a batch, for control by batches (100).")
    ] = None,
    inspect: Annotated[float, typer.Option(help="Share of each batch that is inspected.")] = 0.1,
    accept: Annotated[float, typer.Option(help="A batch above this accuracy is accepted.")] = 0.9,
    discard: Annotated[float, typer.Option(help="A batch below this accuracy is discarded.")] = 0.7,
    again: Annotated[
        Path | None, typer.Option(help="The review that returned batches, to inspect them again.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="postgresql:// URL; by default, a file in the folder.")
    ] = None,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
) -> None:
    """Create a review of doubtful records, a finding, predictions, pairs, a sample, or all
    records.
    """
    words = arguments(locals(), "folder", "people")
    if people:
        from claimlab.core.remote import refuse_remote

        refuse_remote(output, "a review with annotators")
    with progress_bar() as progress:
        from claimlab.review.create import review_create

        review = review_create(folder, **words, progress=progress)
    tokens = review.add_people(people) if people else {}
    if wants_json():
        emit(
            {
                "output": str(output),
                "task": review.task.name,
                "items": review.size,
                "tokens": tokens,
            }
        )
        return
    echo(f"Wrote {output}: {several(review.size, 'item')} for the task '{review.task.name}'.")
    if (total := review.project.origin.chosen.get("finding_records")) is not None:
        say(f"The finding points at {total:,} records; the audit keeps the first {KEPT:,} of them.")
    _say_tokens(tokens)
    suggest_serving(output)


@app.command()
def person(
    folder: ReviewArgument,
    name: Annotated[str, typer.Argument(help="Their name.")],
    role: Annotated[
        str, typer.Option(help="'annotator', 'adjudicator', 'owner' or 'model'.")
    ] = "annotator",
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Replace the token of an annotator.")
    ] = False,
) -> None:
    """Add an annotator to a review, and print the token."""
    from claimlab.review.review import Review

    review = Review.open(folder)
    token = review.new_token(name) if new_token else review.add_person(name, role)[1]
    if wants_json():
        emit({"name": name, "role": review.person(name).role, "token": token})
        return
    echo(f"{name} was added as {review.person(name).role}.")
    _say_tokens({name: token})


@app.command()
def status(folder: ReviewArgument) -> None:
    """Show the progress of a review: items by outcome, and the work of each annotator."""
    from claimlab.core.remote import to_read
    from claimlab.review.review import Review
    from claimlab.review.views import status_blocks

    progress = Review.open(to_read(folder)).progress()
    if wants_json():
        emit(progress.to_json())
        return
    show_blocks(status_blocks(progress))
    if not len(progress):
        suggest(f"claimlab review person {folder} NAME")
    else:
        suggest(
            f"claimlab review apply {folder} -o DIR"
            if progress.settled == progress.total
            else f"claimlab serve {folder}"
        )


@app.command()
def agreement(folder: ReviewArgument) -> None:
    """How well annotators agree: together and in pairs, before and after discussion, with
    intervals.
    """
    from claimlab.core.remote import to_read
    from claimlab.review.review import Review
    from claimlab.review.views import agreement_blocks

    figures = Review.open(to_read(folder)).agreement()
    if wants_json():
        emit(figures.to_json())
        return
    show_blocks(agreement_blocks(figures))


@app.command()
def batches(folder: ReviewArgument) -> None:
    """The state of every batch: accepted, returned, discarded or pending."""
    from claimlab.core.remote import to_read
    from claimlab.review.review import Review
    from claimlab.review.views import batch_blocks

    table = Review.open(to_read(folder)).batches()
    if wants_json():
        emit(table.to_json())
        return
    show_blocks(batch_blocks(table))
    if table.summary()["returned"]:
        suggest(f"claimlab review create RELABELLED -o REVIEW --again {folder}")


@app.command()
def apply(
    folder: ReviewArgument,
    output: OutputOption,
    data: Annotated[
        Path | None, typer.Option(help="The dataset of the review, if it is not next to it.")
    ] = None,
    force: ForceFlag = False,
) -> None:
    """Write the decisions back: a new dataset with labels corrected, records removed, and every
    vote kept.
    """
    from claimlab.review.apply import review_apply

    dataset = review_apply(folder, output, data, force=force)
    counts: JsonObject = dataset.lineage[-1].counts
    if not wants_json():
        changed = ", ".join(
            f"{counts[name]:,} {name}" for name in ("relabelled", "dropped", "returned", "doubtful")
        )
        echo(f"{several(counts['decisions'], 'decision')}: {changed}.")
        note(
            dataset.notes[-1:] if "was applied with" in "".join(dataset.notes[-1:]) else [],
            "review",
        )
    written(dataset)
    suggest(f"claimlab audit {output} -o REPORT")


app.command()(ask)
app.command()(export)
app.command("import")(import_)


def _say_tokens(tokens: dict[str, str]) -> None:
    if tokens:
        echo("Tokens are shown this once; only their hashes are stored:")
        for name, token in tokens.items():
            echo(f"  {name}  {token}")
    else:
        say("Add annotators with: claimlab review person FOLDER NAME")
