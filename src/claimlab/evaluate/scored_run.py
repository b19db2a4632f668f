"""A run with the true labels: the records to predict, the answer to each, and the settings of the
run.

A run is a folder that `claimlab detect` wrote, or a table of predictions (id, label, score) made
elsewhere together with the dataset it is about. Every labelled record counts, whether it has an
answer or not, and none has two.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.labels import fold
from claimlab.core.options import Setting
from claimlab.core.record import to_side_table
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject
from claimlab.core.units import Units
from claimlab.core.words import several
from claimlab.detect.own_words import ABSTAINED_AS, ABSTENTIONS, speller
from claimlab.detect.strict.asked import asked_part
from claimlab.detect.strict.read import read_strictly
from claimlab.evaluate.answers import Answers, answers
from claimlab.evaluate.direction import assumed_class, reversed_scores
from claimlab.evaluate.traits import Values, trait
from claimlab.tasks import Task, open_task, own_task
from claimlab.text.roles import roles_in
from claimlab.text.unit import Unit, held_out, unit_names

if TYPE_CHECKING:
    from claimlab.core.run import Stored


@dataclass(frozen=True)
class RunOrigin:
    """What the lineage records about a run; all null for predictions made elsewhere."""

    detector: str | None = None
    settings: JsonObject = field(default_factory=dict)
    seed: int | None = None
    divided_by: str | None = None  # how the data was split: "random", "time", "source", ...
    notes: tuple[str, ...] = ()
    division: str | None = None  # the split by its full name: "source:leave-out=Herald"
    unit: str | None = None  # the column that the split held out; null: none
    # verdicts of judges on its rationales, if it has their annotations
    judged: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class ScoredRun:
    """`table` has one row per labelled record to be answered: the record's columns, `truth`,
    `said`, `abstained`, `scores` and `rationale`."""

    name: str
    dataset: str
    digest: str
    task: Task
    split: str | None
    table: pl.DataFrame
    classes: tuple[str, ...]
    unlabelled: int  # records of the part without a usable label
    # Of bundles from before answers were read strictly: predictions for records that the dataset
    # does not hold, beyond the first for one record, and labelled records that were left out.
    strangers: int = 0
    repeated: int = 0
    untouched: int = 0
    about: RunOrigin = field(default_factory=RunOrigin)
    annotations: pl.DataFrame | None = None  # of the dataset, where it has any
    question: str | None = None  # what the user must say before the scores are read
    unit: Unit = field(default_factory=Unit)  # what varies independently
    # macro-F1 of the whole procedure, training included, on shuffled labels; null: the answers are
    # of models that no label of these records has taught
    null: Floats | None = field(default=None, compare=False)

    @property
    def answered(self) -> int:
        return int(self.table["said"].is_not_null().sum())

    @property
    def hits(self) -> int:
        return int((self.table["said"] == self.table["truth"]).fill_null(False).sum())

    @cached_property
    def answers(self) -> Answers:
        """An abstention is an answer that is none of the classes; only a missing answer is a
        failure.
        """
        made = answers(
            self.table["truth"],
            self.table.select(pl.coalesce("said", "abstained")).to_series(),
            groups=self.clusters,
            scores=self.table["scores"],
            order=self.task.classes,
            positive=self.task.positive,
        )
        return made if self.question is None else replace(made, unscored=self.question)

    def trait(self, name: str) -> Values:
        """The values of a trait of the scored records (see `traits`), read once."""
        if name not in self._traits:
            self._traits[name] = trait(self.table, name)
        return self._traits[name]

    @cached_property
    def _traits(self) -> dict[str, Values]:
        return {}

    @cached_property
    def redrawn(self) -> dict[int, tuple[Floats, float]]:
        """Resamples that were made of this run, by what they were made of."""
        return {}

    @cached_property
    def clusters(self) -> pl.Series:
        """What is resampled whole, named alike in every run on these records."""
        return unit_names(self.table, self.unit)

    @cached_property
    def units(self) -> Units:
        """What varies independently among these records."""
        units = Units(self.unit.column, self.answers.cluster)
        return units if units.count < self.table.height else Units.records(self.table.height)

    @cached_property
    def roles(self) -> dict[str, Ints]:
        """The columns that say who or what each record comes from, as codes."""
        return {name: codes_of(values) for name, values in roles_in(self.table).items()}


Runs = Sequence[ScoredRun]
OwnTask = Annotated[
    str | None, Setting("A task or any column; by default the one that the run was made for.")
]


class ScoringOptions(TypedDict, total=False):
    """What else is known of predictions: the `split` that they are about (null: the records that
    have one), how they were made, and the digest of the dataset that the records are part of."""

    split: str | None
    about: RunOrigin | None
    digest: str | None


def task_of(run: Dataset) -> str:
    """The task that the run was made for, by its lineage."""
    detect = last_step(run.lineage, "detect")
    return own_task(run, None if detect is None else detect.parameters.get("task"))


def last_step(lineage: Sequence[Lineage], name: str) -> Lineage | None:
    return next((step for step in reversed(lineage) if step.step == name), None)


def each_run(
    name: str,
    predictions: pl.DataFrame,
    dataset: Dataset,
    task: Task,
    **more: Unpack[ScoringOptions],
) -> list[ScoredRun]:
    """One run for each value of the column `run`."""
    if not predictions.height:
        raise DataError(
            f"The run '{name}' holds no prediction.",
            "Run the detector again, or leave the run out.",
        )
    names = predictions["run"].fill_null("").unique().sort().to_list()
    out = []
    for run in names:
        predictions_of_run = predictions.filter(pl.col("run").fill_null("") == run)
        title = name if len(names) == 1 else f"{name}: {run or 'without a name'}"
        out.append(score(title, predictions_of_run, dataset, task, **more))
    return out


def score(
    name: str,
    predictions: pl.DataFrame,
    dataset: Dataset,
    task: Task,
    **more: Unpack[ScoringOptions],
) -> ScoredRun:
    """Join the true labels with the predictions. Except for spelling ("FALSE " is false), answers
    are not changed.
    """
    split, about = more.get("split"), more.get("about") or RunOrigin()
    part = dataset.records.with_columns(truth=task.labels(dataset.records))
    wanted = _asked(part, task, split, name, predictions)
    part = part if wanted is None else part.filter(split=wanted)
    if not part.height and split is not None:
        raise DataError(
            f"'{dataset.name}' has no records in the split '{split}'.",
            "Check the name of the split.",
        )
    refuse_loose(name, predictions, dataset)
    labelled = part.drop_nulls("truth")
    classes = tuple(labelled["truth"].unique().sort().to_list())
    table = labelled.join(
        _spelled(predictions, classes), on="id", how="left", maintain_order="left"
    )
    run = ScoredRun(
        name=name,
        dataset=dataset.name,
        digest=more.get("digest") or dataset.digest(),
        task=task,
        split=split,
        table=table,
        classes=classes,
        unlabelled=int(part["truth"].null_count()),
        about=about,
        unit=Unit(about.unit) if about.unit else Unit(),
        annotations=dataset.tables.get("annotations"),
    )
    return _asking(run, assumed_class(predictions["meta"]))


def _asking(run: ScoredRun, assumed: str | None) -> ScoredRun:
    """The run without its scores where these may be of the other class."""
    if assumed is None or not run.table.height:
        return run
    question = reversed_scores(replace(run).answers, assumed)
    if question is None:
        return run
    unread = run.table.with_columns(scores=pl.lit(None, pl.String))
    return replace(run, table=unread, question=question)


def _asked(
    records: pl.DataFrame, task: Task, split: str | None, run: str, predictions: pl.DataFrame
) -> str | None:
    """The split that counts. Where none is named and training records are among these, it is the
    test; a run that answers others, too, must say which part of it is meant."""
    if split is not None or not (records["split"] == "train").any():
        return split
    part = asked_part(records, task)
    if part is None:
        return None
    others = records.filter(pl.col("split").ne_missing(part))
    if n := predictions.filter(pl.col("record_id").is_in(others["id"].implode())).height:
        raise DataError(
            f"The run '{run}' has {several(n, 'prediction')} for records that are not in the split"
            f" '{part}'.",
            f"Pass `split='{part}'`: the others are left out.",
        )
    return part


def refuse_loose(run: str, predictions: pl.DataFrame, dataset: Dataset) -> None:
    """An error where a record has two predictions of a run, or one of them is for no record."""
    ids = predictions["record_id"]
    strange = ids.filter(~ids.is_in(dataset.records["id"].implode()).fill_null(value=False))
    twice = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
    wrong = [
        f"{several(len(examples), *what)} (such as {', '.join(map(repr, examples.head(3)))})"
        for examples, what in (
            (twice, ("record has several predictions", "records have several predictions")),
            (strange, ("prediction is for no record", "predictions are for no record")),
        )
        if len(examples)
    ]
    if wrong:
        raise DataError(
            f"The run '{run}' is not scored: {'; '.join(wrong)}.",
            "Make it again: each record has one prediction.",
        )


def about_of(lineage: Sequence[Lineage], notes: tuple[str, ...] = ()) -> RunOrigin:
    """Detector, settings, seed, and how the data was divided, from the last steps of each kind."""
    detect, split = (last_step(lineage, name) for name in ("detect", "split"))
    by = split.parameters.get("by") if split is not None else None
    divided = ", ".join(map(str, by)) if isinstance(by, list) else by
    division = str(split.parameters.get("name", divided)) if split is not None else None
    unit = held_out(split.parameters) if split is not None else None
    if detect is None:
        return RunOrigin(divided_by=divided, notes=notes, division=division, unit=unit)
    parameters = dict(detect.parameters)
    detector, _, settings = (
        parameters.pop(name, None) for name in ("detector", "task", "settings")
    )
    return RunOrigin(
        detector, {**(settings or {}), **parameters}, detect.seed, divided, notes, division, unit
    )


def _spelled(predictions: pl.DataFrame, classes: tuple[str, ...]) -> pl.DataFrame:
    """Answers by record id, spelled like the classes; an answer that declines to choose a class is
    `abstained`.
    """
    spell, exact = speller(classes), set(classes)
    words = predictions["label"].str.strip_chars()
    spelling = {w: spell(w) for w in words.drop_nulls().unique()}
    spelling = {w: name if name in exact else w.lower() for w, name in spelling.items()}
    kinds = {
        w: None if name in exact else ABSTAINED_AS.get(fold(w)) for w, name in spelling.items()
    }
    labels = words.replace_strict(spelling, default=None, return_dtype=pl.String)
    by_word = words.replace_strict(kinds, default=None, return_dtype=pl.String)
    meta = predictions["meta"].cast(pl.String)
    withheld = meta.set(~meta.str.contains('"abstained"', literal=True).fill_null(False), None)
    stated = {text: json.loads(text).get("abstained") for text in withheld.drop_nulls().unique()}
    known_kinds = {text: kind if kind in ABSTENTIONS else None for text, kind in stated.items()}
    by_meta = withheld.replace_strict(known_kinds, default=None, return_dtype=pl.String)
    verdict = labels.is_in(classes).fill_null(False)
    return pl.DataFrame(
        {
            "id": predictions["record_id"],
            "said": labels,
            "abstained": by_meta.fill_null(by_word).set(verdict, None),
            "scores": predictions["scores"],
            "rationale": predictions["rationale"],
            "cost": predictions["cost"],
            "seconds": predictions["seconds"],
        }
    )


def predictions_in(run: Dataset, name: str) -> pl.DataFrame:
    """The table of predictions of a run folder."""
    if "predictions" not in run.tables:
        raise DataError(
            f"'{run.path or name}' is not a run: it has no table of predictions.",
            "Make a run with: claimlab detect DATA -o RUN",
        )
    return to_side_table("predictions", run.tables["predictions"])


def open_runs(
    run: Stored,
    *,
    task: str | None = None,
    split: str | None = None,
    name: str | None = None,
) -> list[ScoredRun]:
    """The runs in a run folder (one for each value of the column `run`), scored by the task that
    they were made for.
    """
    from claimlab.evaluate.judge.people import judged_in

    folder = Dataset.of(run)
    own_name = name or (folder.name if folder.path is None else folder.path.name)
    predictions = predictions_in(folder, own_name)
    about = about_of(folder.lineage, tuple(folder.notes))
    chosen = open_task(task or task_of(folder), folder.records)
    about = replace(about, judged=judged_in(folder, chosen))
    return each_run(own_name, predictions, folder, chosen, split=split, about=about)


def open_foreign(
    file: Path, data: Dataset, *, task: str | None = None, split: str | None = None
) -> list[ScoredRun]:
    """The run in `file` on the records of `data`, read strictly."""
    from claimlab.detect.outside import run_name

    opened = open_task(own_task(data, task), data.records)
    strict = read_strictly(data, file, opened, split)
    return each_run(
        run_name(strict.predictions, file),
        strict.predictions,
        replace(data, records=strict.records),
        opened,
        split=strict.part,
        about=RunOrigin(notes=tuple(strict.notes), unit=about_of(data.lineage).unit),
        digest=data.digest(),
    )
