"""Make a review: its records are chosen, its items built, and its folder is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import (
    OUTPUT,
    Argument,
    Force,
    Option,
    Place,
    Seed,
    Setting,
)
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.review.batches import divide, divide_again, inspected
from claimlab.review.items import build
from claimlab.review.project import DATABASE, KIND, STORE, Origin, Project, write
from claimlab.review.review import Review
from claimlab.review.sampling import sampled
from claimlab.review.selection import (
    SelectionOptions,
    check_choice,
    choose,
    chosen_by,
    counted,
)
from claimlab.review.store import check_url
from claimlab.review.task import (
    ADJUDICATIONS,
    BATCHES,
    ORDERS,
    Batches,
    ReviewTask,
    task_named,
)


@repeatable()
def review_create(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    output: Annotated[Place, OUTPUT],
    *,
    task: Annotated[
        ReviewTask | str | Path, Option("A built-in task (claimlab review tasks), or a TOML file.")
    ] = "label",
    people: Annotated[
        Sequence[str], Option("Name of an annotator; may be repeated.", flag="--annotator")
    ] = (),
    per_item: Annotated[
        int | None, Setting("Annotators of each item (the task's: 2).", least=1)
    ] = None,
    order: Annotated[str | None, Setting("'given', 'random' or 'uncertainty'.")] = None,
    adjudication: Annotated[str | None, Setting("'third', 'discussion' or 'majority'.")] = None,
    guideline: Annotated[
        Place | None, Setting("Instructions for annotators: a text, or a file.", kind=str)
    ] = None,
    gold: Annotated[
        Mapping[str, Any] | Place | None, Setting("Table of known answers: record_id, value.")
    ] = None,
    attention: Annotated[int, Setting("Attention checks among the items.", least=0)] = 0,
    store: Annotated[
        str | None, Setting("postgresql:// URL; by default, a file in the folder.")
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    **choice: Unpack[SelectionOptions],
) -> Review:
    """Create a review of doubtful records, a finding, predictions, pairs, a sample, or all
    records.

    At most one of `doubtful`, `audit` (with `finding`), `predictions`, `pairs` and `records`
    chooses; of predictions or pairs, `records` keeps only theirs. `gold` maps records to known
    answers, or is a table of them. With `batch`, records are divided into batches of that size, the
    share `inspect` of each is reviewed, and a batch that is neither accepted nor discarded is
    returned, to be labelled `again`.
    """
    check_choice(choice)
    control = _control(choice)
    question = task_named(
        task,
        per_item=per_item,
        order=order and one_of(ORDERS, order, "order"),
        guideline=_text(guideline),
        adjudication=adjudication and one_of(ADJUDICATIONS, adjudication, "adjudication"),
        batches=control,
    )
    if store is not None:
        check_url(store)
    reads = folders_of(choice.get("predictions"), choice.get("audit"), choice.get("again"))
    with Run("review", data, output, kind=KIND, reads=reads, force=force, seed=seed) as run:
        progress("review: choose records", 0, None)
        rows, population, members = _drawn(run.dataset, choice, control, seed)
        origin = Origin(
            dataset=run.dataset.name,
            fingerprint=run.dataset.fingerprint(),
            records=len(run.dataset),
            chosen=chosen_by(choice),
            population=tuple(population),
        )
        place = STORE if store is None else DATABASE
        project = Project(task=question, seed=seed, origin=origin, store=place)
        answers = _answers(gold)
        items = build(run.dataset, rows, question, gold=answers, attention=attention, seed=seed)
        run.fill(lambda folder: write(folder, project, items, members))
    review = Review.open(output, store=store)
    if people:
        review.add_people(people)
    return review


def _drawn(
    dataset: Dataset, choice: SelectionOptions, control: Batches | None, seed: int
) -> tuple[pl.DataFrame, list[JsonObject], pl.DataFrame | None]:
    """The rows to review, what they are drawn from, and the batch of each record where there are
    batches.
    """
    rows = choose(dataset, choice)
    population = counted(dataset, rows)
    if control is None:
        return sampled(dataset, rows, choice, seed), population, None
    if choice.get("sample") is not None or choice.get("pairs") is not None:
        raise UsageError(
            "Batches take every record, and draw what is inspected themselves.",
            "Pass `batch` alone.",
        )
    again = choice.get("again")
    if again is not None:
        earlier = Review.open(again)
        members = divide_again(dataset.records, earlier.batches())
        earlier.close()
    else:
        members = divide(rows.select("id"), control)
    drawn = inspected(members, control, seed).rename({"record_id": "id"})
    columns = rows.drop("batch").join(drawn, on="id", maintain_order="left")
    return columns.select(rows.columns), population, members


def _control(choice: SelectionOptions) -> Batches | None:
    """The rules of batches: as given, else those of the review that returned them."""
    again, size = choice.get("again"), choice.get("batch")
    earlier = None if again is None else Review.open(again).task.batches
    if again is not None and earlier is None:
        raise UsageError(
            f"'{again}' is not a review by batches.", "Pass the review that returned batches."
        )
    if size is None:
        return earlier
    inspect = choice.get("inspect", BATCHES.share)
    accept, discard = choice.get("accept", BATCHES.accept), choice.get("discard", BATCHES.discard)
    try:
        return Batches(size=size, share=inspect, accept=accept, discard=discard)
    except ValueError:
        problem = (
            f"Batches of {size}, {inspect} inspected, accepted above {accept}, discarded below"
            f" {discard}?"
        )
        raise UsageError(
            problem, "Pass shares from 0 to 1, with `discard` at most `accept`."
        ) from None


def _text(guideline: str | Path | None) -> str | None:
    """The guideline: words, or a file that holds them."""
    if guideline is None:
        return None
    if isinstance(guideline, Path) or guideline.endswith((".md", ".txt")):
        try:
            return Path(guideline).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise DataError(
                f"The guideline '{guideline}' cannot be read: {error}.", "Check the file."
            ) from None
    return guideline


def _answers(gold: Mapping[str, Any] | str | Path | None) -> JsonObject:
    if gold is None or isinstance(gold, Mapping):
        return dict(gold or {})
    table = user_table(Path(gold), "record_id", "value")
    if not {"record_id", "value"} <= set(table.columns):
        raise DataError(
            f"'{gold}' has the columns {', '.join(table.columns)}.", "It needs record_id and value."
        )
    return dict(table.select("record_id", "value").drop_nulls().iter_rows())
