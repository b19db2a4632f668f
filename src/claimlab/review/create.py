"""Make a review: choose records, say what is asked, and write the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import one_of
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.review.batches import divide, divide_again, inspected
from claimlab.review.choose import Wanted, choose
from claimlab.review.items import build
from claimlab.review.known import task_named
from claimlab.review.project import DATABASE, KIND, STORE, Origin, Project, write
from claimlab.review.review import Review
from claimlab.review.store import check_url
from claimlab.review.task import ADJUDICATIONS, ORDERS, Batches, Task


@repeatable()
def review_create(
    data: Source,
    output: str | Path,
    *,
    task: Task | str | Path = "label",
    doubtful: bool = False,
    audit: str | Path | None = None,
    finding: str | None = None,
    predictions: Source | None = None,
    which: str = "wrong",
    pairs: str | None = None,
    records: Sequence[str] | None = None,
    sample: int | None = None,
    stratify: str | None = None,
    people: Sequence[str] = (),
    per_item: int | None = None,
    order: str | None = None,
    adjudication: str | None = None,
    guideline: str | Path | None = None,
    gold: Mapping[str, Any] | str | Path | None = None,
    attention: int = 0,
    batch: int | None = None,
    inspect: float = 0.1,
    accept: float = 0.9,
    discard: float = 0.7,
    again: str | Path | None = None,
    store: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Review:
    """Make a review of records of `data` in the folder `output`, and open it.

    `task` is the name of a built-in task, a TOML file or a `Task`. Records are the `doubtful` ones,
    those that a `finding` of an `audit` points at, the wrong, uncertain or all `predictions` of a
    run (`which`), `pairs` of near-duplicates or conflicts, the ones named in `records` (of
    predictions or pairs, only theirs), or all; of these a `sample` at random, stratified by a
    column. `people` are annotators; `gold` maps records to known answers (or is a table: record_id,
    value), `attention` is the number of attention checks. `store` is a `postgresql://` URL; without
    it, decisions are in the folder.

    With `batch`, records are divided into batches of that size, the share `inspect` of each is
    reviewed, and a batch is accepted above the accuracy `accept`, discarded below `discard`, and
    else returned; `again` is the review that returned them, after they were labelled again.
    """
    wanted = Wanted(doubtful, audit, finding, predictions, which, pairs, records, sample, stratify)
    wanted.check()
    settings = _settings(batch, inspect, accept, discard, again)
    chosen = task_named(
        task,
        per_item=per_item,
        order=order and one_of(ORDERS, order, "order"),
        guideline=_text(guideline),
        adjudication=adjudication and one_of(ADJUDICATIONS, adjudication, "adjudication"),
        batches=settings,
    )
    if store is not None:
        check_url(store)
    reads, place = folders_of(predictions, audit, again), STORE if store is None else DATABASE
    with Run("review", data, output, kind=KIND, reads=reads, force=force, seed=seed) as run:
        progress("review: choose records", 0, None)
        part = _drawn(run.dataset.limited(limit), wanted, settings, again, seed)
        origin = Origin(
            dataset=run.dataset.name,
            fingerprint=run.dataset.fingerprint(),
            records=len(run.dataset),
            chosen=wanted.parameters(),
        )
        project = Project(task=chosen, seed=seed, origin=origin, store=place)
        more: JsonObject = {
            "gold": _answers(gold),
            "attention": attention,
            "batches": part.batch,
            "seed": seed,
        }
        items = build(run.dataset, part.rows, chosen, **more)
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


def _drawn(
    dataset: Dataset, wanted: Wanted, settings: Batches | None, again: str | Path | None, seed: int
) -> Drawn:
    rows = choose(dataset, wanted, seed)
    if settings is None:
        return Drawn(rows)
    if wanted.sample is not None or wanted.pairs is not None:
        raise UsageError(
            "Batches take every record, and draw what is inspected themselves.",
            "Pass `batch` alone.",
        )
    if again is not None:
        earlier = Review.open(again)
        members = divide_again(dataset.records, earlier.batches())
        earlier.close()
    else:
        members = divide(rows.select("id"), settings)
    batch = inspected(members, settings, seed)
    return Drawn(rows.filter(pl.col("id").is_in(list(batch))), members, batch)


def _settings(
    batch: int | None, inspect: float, accept: float, discard: float, again: str | Path | None
) -> Batches | None:
    earlier = None if again is None else Review.open(again).task.batches
    if again is not None and earlier is None:
        raise UsageError(
            f"'{again}' is not a review by batches.", "Pass the review that returned batches."
        )
    if batch is None:
        return earlier
    try:
        return Batches(size=batch, share=inspect, accept=accept, discard=discard)
    except ValueError:
        problem = (
            f"Batches of {batch}, {inspect} inspected, accepted above {accept}, discarded below"
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
