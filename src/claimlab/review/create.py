"""Make a review: choose records, say what is asked, and write the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import (
    OUTPUT,
    Argument,
    Force,
    Limit,
    Option,
    Place,
    Seed,
    Setting,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.review.batches import divide, divide_again, inspected
from claimlab.review.choose import Choice, build, check_choice, choose, chosen_by
from claimlab.review.project import DATABASE, KIND, STORE, Origin, Project, write
from claimlab.review.review import Review
from claimlab.review.store import check_url
from claimlab.review.task import ADJUDICATIONS, BATCHES, ORDERS, Batches, Task, task_named


@repeatable()
def review_create(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    output: Annotated[Place, OUTPUT],
    *,
    task: Annotated[
        Task | str | Path, Option("A built-in task (claimlab review tasks), or a TOML file.")
    ] = "label",
    people: Annotated[
        Sequence[str], Option("Name of an annotator; may be repeated.", flag="--annotator")
    ] = (),
    per_item: Annotated[
        int | None, Option("Annotators of each item (the task's: 2).", least=1)
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
    limit: Limit = None,
    force: Force = False,
    progress: Progress = silent,
    **choice: Unpack[Choice],
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
        part = _drawn(run.dataset.limited(limit), choice, control, seed)
        origin = Origin(
            dataset=run.dataset.name,
            fingerprint=run.dataset.fingerprint(),
            records=len(run.dataset),
            chosen=chosen_by(choice),
        )
        place = STORE if store is None else DATABASE
        project = Project(task=question, seed=seed, origin=origin, store=place)
        items = build(
            run.dataset,
            part.rows,
            question,
            gold=_answers(gold),
            attention=attention,
            batches=part.batch,
            seed=seed,
        )
        run.fill(lambda folder: write(folder, project, items, part.members))
    review = Review.open(output, store=store)
    if people:
        review.add_people(people)
    return review


@dataclass(frozen=True)
class Drawn:
    """The rows to review; with batches, which batch each record is in, and the batch of each
    row.
    """

    rows: pl.DataFrame
    members: pl.DataFrame | None = None
    batch: dict[str, int] | None = None


def _drawn(dataset: Dataset, choice: Choice, control: Batches | None, seed: int) -> Drawn:
    rows = choose(dataset, choice, seed)
    if control is None:
        return Drawn(rows)
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
    batch = inspected(members, control, seed)
    return Drawn(rows.filter(pl.col("id").is_in(list(batch))), members, batch)


def _control(choice: Choice) -> Batches | None:
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
            return Path(guideline).read_text(encoding="utf-8")
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
