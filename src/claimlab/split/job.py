"""One split in the making: a dataset made ready, a strategy and what was asked of it in; the
checked split out.

Which rows validation changed: a corrected label may be trained on, but is not what was
published.

Two datasets as one folder: this one is train, the other is test; the column `dataset` says
which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.columns import matching
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.shown import Shown
from claimlab.core.stats.scores import Flags
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.split.check import Checked, check, leaking_rows
from claimlab.split.hold_out import HoldOut
from claimlab.split.strategy import (
    SPLITTERS,
    STRATA,
    UNCELLED,
    Impossible,
    Material,
    Parts,
    Request,
    Strategy,
    Stratum,
    drawn_per_cell,
    named,
    numbered,
)
from claimlab.tasks import open_task, own_task

STEP = "split"
NOTE = "Split: "
ALWAYS = frozenset({"shares", "seed", "small_test"})  # what every strategy is asked for
LOGGED = ("seed", "lists", "shares")  # elsewhere in the lineage, or a path


@dataclass(frozen=True, repr=False)
class Split(Shown):
    """The dataset with its new split, what the strategy promised of it, and what the check
    found.
    """

    dataset: Dataset
    parts: Parts
    checked: Checked
    all: tuple[Split, ...] = ()  # the split of every value, where all of them were asked for
    impossible: tuple[Failed, ...] = ()  # the values for which there is none

    @property
    def name(self) -> str:
        return self.parts.name

    @property
    def table(self) -> pl.DataFrame:
        """Which record is on which side; null is on none."""
        return self.dataset.records.select("id", "split")

    def headline(self) -> str:
        sides = ", ".join(f"{side} {n:,}" for side, n in self.checked.sides().items())
        return f"of '{self.dataset.name}' by {self.name}: {sides}"

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the dataset with its split."""
        self.dataset.write(folder, force=force)

    def notes(self) -> list[str]:
        return [*self.parts.notes, *self.checked.notes]

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "held_out": list(self.parts.held_out),
            "left_out": self.parts.left_out,
            **self.checked.to_json(),
            "notes": self.notes(),
        }


@dataclass(frozen=True, repr=False)
class Failed(Shown):
    """One of several splits that could not be made, and why."""

    value: str
    why: str

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"value": [self.value], "why": [self.why]})

    def headline(self) -> str:
        return f"'{self.value}': {self.why}"


@dataclass(frozen=True)
class Choices:
    """What is asked of every strategy alike, beside the request to the one that was chosen.

    `changed_in_test=False` keeps rows that validation changed out of dev and test; `drop_leaks`
    takes rows out of train and dev whose text is, nearly or exactly, on a later side too;
    `external` is the dataset to test on. `train_where` and `test_where` name columns and the values
    that rows of train and dev, or of test, must have.
    """

    task: str | None = None
    stratify: tuple[Stratum, ...] = STRATA
    changed_in_test: bool = True
    drop_leaks: bool = False
    external: Dataset | None = None
    train_where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    test_where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def parameters(self) -> JsonObject:
        return {
            "task": self.task,
            "stratify": list(self.stratify),
            "changed_in_test": self.changed_in_test,
            "drop_leaks": self.drop_leaks,
            **{
                name: {column: list(values) for column, values in where.items()}
                for name in ("train_where", "test_where")
                if (where := getattr(self, name))
            },
        }


@dataclass(frozen=True)
class Job:
    """A dataset made ready, and what every split of it shares."""

    dataset: Dataset
    material: Material
    strategy: Strategy
    request: Request
    inputs: dict[str, str]
    choices: Choices


def prepare(
    dataset: Dataset,
    by: str,
    request: Request = Request(),  # noqa: B008 - frozen
    choices: Choices = Choices(),  # noqa: B008 - frozen
) -> Job:
    """Everything before the split itself."""
    strategy = SPLITTERS.get(by)
    refuse_unused(strategy, request)
    inputs = {dataset.name: dataset.digest()}
    choices = replace(choices, task=own_task(dataset, choices.task))
    theirs: Flags | None = None
    external = choices.external
    if external is not None:
        if by != "external":
            raise UsageError("Another dataset was given as test.", 'Split with `by="external"`.')
        if not external.records.height:
            raise Impossible(
                f"'{external.name}' has no records.", "Give a test dataset that holds some."
            )
        inputs[external.name if external.name != dataset.name else f"{external.name} (test)"] = (
            external.digest()
        )
        dataset, theirs = join(dataset, external)
    question = open_task(str(choices.task), dataset.records)
    ids = set[str]().union(*changed_ids(dataset.tables).values())
    material = Material(
        records=dataset.records,
        labels=question.labels(dataset.records),
        classes=question.classes_in(dataset.records),
        tables=dataset.tables,
        strata=choices.stratify,
        only_train=(
            None if choices.changed_in_test else dataset.records["id"].is_in(list(ids)).to_numpy()
        ),
        external=theirs,
    )
    return Job(dataset, material, strategy, request, inputs, choices)


def make_all(job: Job) -> Iterator[Split | Failed]:
    """One split for each value that the strategy could hold out (or train on); those that cannot be
    made say why.
    """
    if not isinstance(job.strategy, HoldOut):
        name = job.strategy.name
        raise UsageError(
            f"The strategy '{name}' holds no values out, so there is one split only.",
            "Make that one.",
        )
    if job.request.hold_out or job.request.train_on:
        raise UsageError(
            "One split for each value takes every value in turn.",
            "Leave out `hold_out` and `train_on`.",
        )
    trains = job.request.mode == "train-on-one"
    for value in job.strategy.values(job.material, job.request):
        one = (value,)
        request = (
            replace(job.request, train_on=one) if trains else replace(job.request, hold_out=one)
        )
        try:
            yield make(replace(job, request=request))
        except Impossible as error:
            yield Failed(value, error.problem)


def refuse_unused(strategy: Strategy, request: Request) -> None:
    """An option that a strategy does not read would be ignored in silence: refuse it instead."""
    for name, _ in changed(request):
        if name not in strategy.takes | ALWAYS:
            raise UsageError(
                f"The strategy '{strategy.name}' does not take `{name}`.",
                "Leave it out, or use another strategy.",
            )


def changed(request: Request) -> list[tuple[str, object]]:
    """The options that are not as they are by default."""
    plain = vars(Request())
    return [(name, value) for name, value in vars(request).items() if value != plain[name]]


def make(job: Job) -> Split:
    """One split: assigned, subsampled if requested, checked, and written into the dataset with its
    lineage.
    """
    if not job.material.n:
        raise Impossible(
            f"'{job.dataset.name}' has no records.", "Split a dataset that holds some."
        )
    parts = job.strategy.split(job.material, job.request)
    parts = _where(job, _without_changed(job, parts))
    if job.choices.drop_leaks:
        leaking = leaking_rows(job.material, parts.side)
        parts = _without(parts, leaking, "its text is also in a later part")
    if job.request.small_test is not None and job.strategy.name != "balanced":
        parts = _small(job.material, parts, job.request)
    checked = check(job.material, parts)
    return Split(_dataset(job, parts, checked), parts, checked)


def _without_changed(job: Job, parts: Parts) -> Parts:
    """Rows that may only train, where the strategy could not put them there: they are not used."""
    material = job.material
    if material.only_train is None:
        return parts
    wrong = material.only_train & (numbered(parts.side) > 0)
    note = in_words(changed_ids(job.dataset.tables), set(material.records["id"]))
    rest = _without(parts, wrong, "changed by validation, so not used for testing")
    return replace(rest, notes=(*parts.notes, note))


def _where(job: Job, parts: Parts) -> Parts:
    """Only the rows that were asked for on each side; the others are not used."""
    conditions = (
        (job.choices.train_where, ("train", "dev"), "training"),
        (job.choices.test_where, ("test",), "testing"),
    )
    for where, sides, words in conditions:
        mine = parts.side.is_in(sides).fill_null(False).to_numpy()
        wrong = mine & ~matching(job.dataset.records, where).to_numpy()
        if mine.any() and (wrong == mine).all():
            raise Impossible(
                f"No row for {words} meets the condition.", "Correct `train_where` or `test_where`."
            )
        parts = _without(parts, wrong, f"not asked for in {words}")
    return parts


def _small(material: Material, parts: Parts, request: Request) -> Parts:
    """Test reduced to this many rows per class and language; the others are not used."""
    most = request.small_test
    assert most is not None
    test = (parts.side == "test").fill_null(False).to_numpy()
    chosen, notes = drawn_per_cell(material, test, material.bound(("group",)), most, request.seed)
    if not chosen.any() and test.any():
        raise Impossible(
            f"{UNCELLED.format('test row')}.",
            "Leave out `small_test`, or give the rows a language.",
        )
    rest = _without(parts, test & ~chosen, "beyond the small test")
    return replace(rest, name=f"{parts.name}:small-test={most}", notes=(*parts.notes, *notes))


def _without(parts: Parts, rows: Flags, why: str) -> Parts:
    """`rows` on no side any more, for a reason."""
    side = numbered(parts.side)
    n = int((rows & (side >= 0)).sum())
    side[rows] = -1
    return replace(parts, side=named(side), left_out={**parts.left_out, why: n})


def _dataset(job: Job, parts: Parts, checked: Checked) -> Dataset:
    options = {name: value for name, value in changed(job.request) if name not in LOGGED}
    step = Lineage(
        step=STEP,
        parameters={
            "name": parts.name,
            "by": job.strategy.name,
            **job.choices.parameters(),
            "shares": str(job.request.shares),
            "held_out": list(parts.held_out),
            **{name: _plain(value) for name, value in options.items()},
        },
        seed=job.request.seed,
        inputs=job.inputs,
        counts={"before": job.material.n, **checked.counts()},
    )
    done = job.dataset.derive(job.dataset.records.with_columns(split=parts.side), step)
    left = [f"{several(n, 'row')} unused: {why}." for why, n in parts.left_out.items()]
    notes = [NOTE + note for note in [f"{parts.name}.", *left, *parts.notes, *checked.notes]]
    # A new split replaces the old one's notes.
    done.notes = [*(note for note in done.notes if not note.startswith(NOTE)), *notes]
    return done


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int) else str(value)


ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are
BY_PEOPLE = "decisions"  # the step that applies what people decided


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> dict[str, set[str]]:
    """By what was changed, the ids that the log of changes names; and those that were once
    doubtful.

    A text that a rule rewrote (links stripped, letters repaired) says what it said: such rules
    treat all rows alike.
    """
    ids = {}
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        by_rule = pl.col("step") != BY_PEOPLE if "step" in changes.columns else pl.lit(False)
        telling = ~pl.col("column").is_in(ORDERING) & ~((pl.col("column") == "text") & by_rule)
        each = changes.filter(telling).group_by("column", maintain_order=True).agg("id")
        ids = {str(column): set(records) for column, records in each.iter_rows()}
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns and doubtful.height:
        ids["doubted"] = set(doubtful["id"])
    return ids


def in_words(ids: Mapping[str, set[str]], here: set[str]) -> str:
    """How many of the rows `here` were changed, and in what."""
    counts = {name: len(mine & here) for name, mine in sorted(ids.items())}
    n = len(here & set[str]().union(*ids.values()))
    if not n:
        return (
            "No row is known to be changed by validation: the dataset has no log of changes, or"
            " none of its rows."
        )
    parts = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return f"{several(n, 'row')} that validation changed ({parts}): kept out of dev and test."


def join(own: Dataset, other: Dataset) -> tuple[Dataset, Flags]:
    """Both datasets' records and side tables, and which rows are the other's. What is synthetic
    stays marked so.
    """
    clash = own.records.join(other.records, on="id", how="semi")["id"]
    if clash.len():
        raise DataError(
            f"{clash.len():,} record ids, such as '{clash[0]}', are in both datasets: a test set"
            " needs other records.",
            "Give another dataset, or split this one with another strategy.",
        )
    records = pl.concat([own.records, other.records])
    tables = {
        name: pl.concat(
            [d.tables[name] for d in (own, other) if name in d.tables], how="diagonal_relaxed"
        )
        for name in sorted({*own.tables, *other.tables})
    }
    notes = list(own.notes)
    if other.licence != own.licence:
        notes.append(
            f"The licence of the test records ({other.name}) is: {other.licence or 'not stated'}."
        )
    both = Dataset(
        name=own.name,
        records=records,
        tables=tables,
        card=own.card,
        licence=own.licence,
        synthetic=own.synthetic or other.synthetic,
        notes=notes,
        lineage=list(own.lineage),
    )
    return both, np.arange(records.height) >= own.records.height
