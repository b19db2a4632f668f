"""One split in the making: a dataset made ready, a strategy and what was asked of it in; the
checked split out.

Which rows validation changed: a corrected label may be trained on, but is not what was
published.

Two datasets as one folder: this one is train, the other is test; the column `dataset` says
which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.record import matching
from claimlab.core.shown import Shown
from claimlab.core.stats.scores import Flags
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.split.check import Checked, check, without_leaks
from claimlab.split.hold_out import HoldOut
from claimlab.split.material import (
    STRATA,
    UNCELLED,
    Material,
    Stratum,
    drawn_per_cell,
    named,
    numbered,
)
from claimlab.split.strategy import SPLITTERS, Impossible, Parts, Request, Strategy
from claimlab.tasks import open_task

STEP = "split"
NOTE = "Split: "
ALWAYS = frozenset({"shares", "seed", "small_test"})  # what every strategy is asked for


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
        parts = {
            "name": self.name,
            "held_out": list(self.parts.held_out),
            "left_out": dict(self.parts.left_out),
        }
        return {**parts, **self.checked.to_json(), "notes": self.notes()}


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

    task: str = "veracity"
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
                n: {c: list(v) for c, v in w.items()}
                for n in ("train_where", "test_where")
                if (w := getattr(self, n))
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
    *,
    progress: Progress = silent,
) -> Job:
    """Everything before the split itself."""
    strategy = SPLITTERS.get(by)
    refuse_unused(strategy, request)
    inputs = {dataset.name: dataset.digest()}
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
    question = open_task(choices.task, dataset.records)
    changed = {} if choices.changed_in_test else changed_ids(dataset.tables)
    ids = set[str]().union(*changed.values())
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
        progress=progress,
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
    plain = Request()
    for option in fields(Request):
        changed = getattr(request, option.name) != getattr(plain, option.name)
        if changed and option.name not in strategy.takes | ALWAYS:
            raise UsageError(
                f"The strategy '{strategy.name}' does not take `{option.name}`.",
                "Leave it out, or use another strategy.",
            )


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
        side, n = without_leaks(job.material, parts.side)
        parts = _thinned(parts, side, "its text is also in a later part", n)
    if job.request.small_test is not None and job.strategy.name != "balanced":
        parts = _small(job.material, parts, job.request)
    checked = check(job.material, parts)
    return Split(_dataset(job, parts, checked), parts, checked)


def _without_changed(job: Job, parts: Parts) -> Parts:
    """Rows that may only train, where the strategy could not put them there: they are not used."""
    material = job.material
    if material.only_train is None:
        return parts
    side = numbered(parts.side)
    wrong = material.only_train & (side > 0)
    side[wrong] = -1
    note = in_words(changed_ids(job.dataset.tables), set(material.records["id"].to_list()))
    thin = _thinned(
        parts, named(side), "changed by validation, so not used for testing", int(wrong.sum())
    )
    return replace(thin, notes=(*parts.notes, note))


def _where(job: Job, parts: Parts) -> Parts:
    """Only the rows that were asked for on each side; the others are not used."""
    conditions = (
        (job.choices.train_where, (0, 1), "training"),
        (job.choices.test_where, (2,), "testing"),
    )
    for where, sides, words in conditions:
        side = numbered(parts.side)
        mine = np.isin(side, sides)
        wrong = mine & ~matching(job.dataset.records, where).to_numpy()
        if mine.any() and not (mine & ~wrong).any():
            raise Impossible(
                f"No row for {words} meets the condition.", "Correct `train_where` or `test_where`."
            )
        side[wrong] = -1
        parts = _thinned(parts, named(side), f"not asked for in {words}", int(wrong.sum()))
    return parts


def _small(material: Material, parts: Parts, request: Request) -> Parts:
    """Test reduced to this many rows per class and language; the others are not used."""
    assert request.small_test is not None
    side = numbered(parts.side)
    units = material.bound(("group",))
    chosen, notes = drawn_per_cell(material, side == 2, units, request.small_test, request.seed)
    if not chosen.any() and (side == 2).any():
        raise Impossible(
            f"{UNCELLED.format('test row')}.",
            "Leave out `small_test`, or give the rows a language.",
        )
    over = (side == 2) & ~chosen
    side[over] = -1
    thin = _thinned(parts, named(side), "beyond the small test", int(over.sum()))
    return replace(
        thin, name=f"{parts.name}:small-test={request.small_test}", notes=(*parts.notes, *notes)
    )


def _thinned(parts: Parts, side: pl.Series, why: str, n: int) -> Parts:
    return replace(parts, side=side, left_out={**parts.left_out, why: n} if n else parts.left_out)


def _dataset(job: Job, parts: Parts, checked: Checked) -> Dataset:
    options = {
        f.name: getattr(job.request, f.name)
        for f in fields(Request)
        if f.name not in ("seed", "lists")
    }
    plain = Request()
    set_to = {k: v for k, v in options.items() if v != getattr(plain, k)}
    step = Lineage(
        step=STEP,
        parameters={
            "name": parts.name,
            "by": job.strategy.name,
            **job.choices.parameters(),
            "shares": str(job.request.shares),
            "held_out": list(parts.held_out),
            **{k: _plain(v) for k, v in set_to.items() if k != "shares"},
        },
        seed=job.request.seed,
        inputs=job.inputs,
        counts={"before": job.material.n, **checked.counts()},
    )
    done = job.dataset.derive(job.dataset.records.with_columns(parts.side.alias("split")), step)
    left = [f"{several(n, 'row')} unused: {why}." for why, n in parts.left_out.items()]
    older = [
        note for note in done.notes if not note.startswith(NOTE)
    ]  # a new split replaces the old one's notes
    done.notes = [
        *older,
        *(NOTE + note for note in [f"{parts.name}.", *left, *parts.notes, *checked.notes]),
    ]
    return done


def _plain(value: object) -> Json:
    return (
        list(value)
        if isinstance(value, tuple)
        else value
        if isinstance(value, int | bool)
        else str(value)
    )


ORDERING = ("split", "group")  # columns that say how rows are arranged, not what they are
BY_PEOPLE = "decisions"  # the step that applies what people decided


def changed_ids(tables: Mapping[str, pl.DataFrame]) -> dict[str, set[str]]:
    """By what was changed, the ids that the log of changes names; and those that were once
    doubtful.

    A text that a rule rewrote (links stripped, letters repaired) says what it said: such rules
    treat all rows alike.
    """
    ids: dict[str, set[str]] = {}
    changes = tables.get("changes")
    if changes is not None and {"id", "column"} <= set(changes.columns):
        by_rule = pl.col("step") != BY_PEOPLE if "step" in changes.columns else pl.lit(False)
        telling = ~pl.col("column").is_in(ORDERING) & ~((pl.col("column") == "text") & by_rule)
        for column, record in changes.filter(telling).select("column", "id").iter_rows():
            ids.setdefault(str(column), set()).add(record)
    doubtful = tables.get("doubtful")
    if doubtful is not None and "id" in doubtful.columns and doubtful.height:
        ids["doubted"] = set(doubtful["id"].to_list())
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
