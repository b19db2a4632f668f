"""`claimlab review`: annotators decide what machines cannot, and the decisions are written back."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import (
    echo,
    emit,
    is_read,
    note,
    say,
    several,
    show_blocks,
    suggest,
    suggest_serving,
    wants_json,
    written,
)
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import RECORDS_KEPT
from claimlab.core.options import Argument, Option
from claimlab.core.remote import refuse_remote, to_read
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import Block, Column, Columns, Table
from claimlab.review.asked import Asked
from claimlab.review.estimate import Estimates
from claimlab.review.merge import Imported
from claimlab.review.review import Review
from claimlab.review.task import BUILT_IN_TASKS, ReviewTask
from claimlab.review.views import agreement_blocks, batch_blocks, estimate_blocks, status_blocks

app = verb(
    help="Review records: create a review, see its progress and agreement, and apply the decisions."
)

TASK: Columns[ReviewTask] = (
    Column("Task", "name"),
    Column("Kind"),
    Column("Question"),
    Column("Answers", lambda task: ", ".join(choice.value for choice in task.choices)),
)
HERE = "http://127.0.0.1:8765"  # only this machine reaches it, so a telephone cannot

ReviewFolder = Annotated[Path, Argument("The folder of a review.")]


@app.of(None)
def tasks() -> None:
    """List the built-in tasks: what is asked, and what answers do."""
    if wants_json():
        emit({"tasks": [task.model_dump(mode="json") for task in BUILT_IN_TASKS]})
        return
    show_blocks([Table.of(TASK, BUILT_IN_TASKS)])


@app.of(cl.review_create)
def create(call: Call[Review]) -> None:
    people: Sequence[str] = call["people"]
    if people:
        refuse_remote(call.output, "a review with annotators")
    review = call(people=())  # they are added here: their tokens are known only now
    tokens = review.add_people(people) if people else {}
    if wants_json():
        emit(
            {
                "output": str(call.output),
                "task": review.task.name,
                "items": review.size,
                "tokens": tokens,
                "links": _links(call.output, tokens),
            }
        )
        return
    items = several(review.size, "item")
    echo(f"Wrote {call.output}: {items} for the task '{review.task.name}'.")
    if (total := review.project.origin.chosen.get("finding_records")) is not None:
        say(
            f"The finding points at {total:,} records;"
            f" the audit keeps the first {RECORDS_KEPT:,} of them."
        )
    if tokens:
        _say_links(call.output, tokens)
        other = f"claimlab review person {call.output} NAME --new-token --address URL"
        say(f"For annotators on other machines: {other}")
    else:
        say(f"Add annotators with: claimlab review person {call.output} NAME")
    suggest_serving(call.output)


@app.of(None)
def person(
    folder: ReviewFolder,
    name: Annotated[str, Argument("Their name.")],
    role: Annotated[str, Option("'annotator', 'adjudicator', 'owner' or 'model'.")] = "annotator",
    new_token: Annotated[bool, Option("Replace the token of an annotator.")] = False,
    address: Annotated[
        str, Option("Where annotators reach `claimlab serve`; in a terminal also as a QR code.")
    ] = HERE,
) -> None:
    """Add an annotator to a review, and print the link that signs in."""
    if not address.startswith(("http://", "https://")):
        raise UsageError(
            f"'{address}' does not look like a web address.", "Start it with http:// or https://."
        )
    review = Review.open(folder)
    token = review.new_token(name) if new_token else review.add_person(name, role)[1]
    role = review.person(name).role
    link = _links(folder, {name: token}, address)[name]
    if wants_json():
        emit({"name": name, "role": role, "token": token, "link": link})
        return
    echo(f"{name} was added as {role}.")
    _say_links(folder, {name: token}, address)
    if address != HERE and is_read():
        import segno

        drawing = io.StringIO()
        segno.make(link).terminal(drawing, compact=True)
        echo(drawing.getvalue().rstrip("\n"), styled=True)


@app.of(None)
def status(folder: ReviewFolder) -> None:
    """Show the progress of a review: items by outcome, the work of each annotator, and the shares
    of all records so far.
    """
    review = Review.open(to_read(folder))
    progress = review.progress()
    shares = _shares(review)
    extra = {} if shares is None else {"estimate": shares.to_json()}
    more = [] if shares is None else estimate_blocks(shares)
    _show({**progress.to_json(), **extra}, [*status_blocks(progress), *more])
    if not len(progress):
        suggest(f"claimlab review person {folder} NAME")
    elif progress.settled == progress.total:
        suggest(f"claimlab review apply {folder} -o DIR")
    else:
        suggest(f"claimlab serve {folder}")


def _shares(review: Review) -> Estimates | None:
    """The shares so far; null without enough decisions, and where `review estimate` would say that
    there are none."""
    try:
        shares = cl.estimate(review)
    except ClaimlabError:
        return None
    return shares if shares.measured else None


@app.of(None)
def agreement(folder: ReviewFolder) -> None:
    """How well annotators agree: together and in pairs, before and after discussion, with
    intervals.
    """
    figures = Review.open(to_read(folder)).agreement()
    _show(figures.to_json(), agreement_blocks(figures))


@app.of(None)
def batches(folder: ReviewFolder) -> None:
    """The state of every batch: accepted, returned, discarded or pending."""
    table = Review.open(to_read(folder)).batches()
    _show(table.to_json(), batch_blocks(table))
    if table.summary()["returned"]:
        suggest(f"claimlab review create RELABELLED -o REVIEW --set again={folder}")


@app.of(cl.estimate)
def estimate(call: Call[Estimates]) -> None:
    estimates = call()
    _show(estimates.to_json(), estimate_blocks(estimates))


@app.of(cl.review_apply)
def apply(call: Call[Dataset]) -> None:
    dataset = call()
    if not wants_json():
        counts = dataset.lineage[-1].counts
        changed = ", ".join(
            f"{counts[name]:,} {name}" for name in ("relabelled", "dropped", "returned", "doubtful")
        )
        echo(f"{several(counts['decisions'], 'decision')}: {changed}.")
        note(
            [remark for remark in dataset.notes[-1:] if "was applied with" in remark],
            "review",
        )
    written(dataset)
    suggest(f"claimlab audit {call.output} -o REPORT")


@app.of(cl.review_ask)
def ask(call: Call[Asked]) -> None:
    answers = call()
    if wants_json():
        emit(answers.to_json())
        return
    echo(f"Model {answers.headline()}.")
    if answers.standing:
        say(f"Note: {answers.name} is {answers.standing}.")
    suggest(f"claimlab review agreement {call['review']}")


@app.of(cl.review_export)
def export(call: Call[list[Path]]) -> None:
    files = call()
    if wants_json():
        emit({"output": str(call.output), "files": [str(file) for file in files]})
        return
    echo(f"Wrote {call.output}: {several(len(files), 'file')}.")
    suggest(f"claimlab review import {call['review']} FILE")


@app.of(cl.review_import, "import")
def import_(call: Call[Imported]) -> None:
    imported = call()
    if wants_json():
        emit(imported.to_json())
        return
    echo(f"Decisions: {imported.headline()}.")
    for row in imported.refused[:10]:
        say(f"Refused: item {row['item']} of {row['annotator']}: {row['why']}")
    suggest(f"claimlab review status {call['review']}")


def _show(result: JsonObject, blocks: Sequence[Block]) -> None:
    if wants_json():
        emit(result)
    else:
        show_blocks(blocks)


def _links(folder: Path, tokens: Mapping[str, str], address: str = HERE) -> dict[str, str]:
    place = f"{address.rstrip('/')}/reviews/{quote(folder.name)}"
    return {name: f"{place}/sign-in#token={token}" for name, token in tokens.items()}


def _say_links(folder: Path, tokens: Mapping[str, str], address: str = HERE) -> None:
    """The links that sign in. A review keeps only hashes, and they cannot be printed later."""
    echo(f"Links that sign in, while `claimlab serve {folder.parent}` runs; shown this once:")
    for name, link in _links(folder, tokens, address).items():
        echo(f"  {name}  {link}")
