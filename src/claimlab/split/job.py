"""One split in the making: a dataset made ready, a strategy and what was asked of it in; the
checked split out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from claimlab.core.columns import matching
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.stats.scores import Flags
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.split.changes import changed_ids, in_words
from claimlab.split.check import SplitCheck, check
from claimlab.split.hold_out import HoldOut
from claimlab.split.joined import join
from claimlab.split.leaks import leaking_rows
from claimlab.split.result import Failed, Split
from claimlab.split.strategy import (
    SPLITTERS,
    STRATA,
    UNCELLED,
    Impossible,
    Material,
    Parts,
    SplitRequest,
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


@dataclass(frozen=True)
class SplitChoices:
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
class SplitJob:
    """A dataset made ready, and what every split of it shares."""

    dataset: Dataset
    material: Material
    strategy: Strategy
    request: SplitRequest
    inputs: dict[str, str]
    choices: SplitChoices


def prepare(
    dataset: Dataset,
    by: str,
    request: SplitRequest = SplitRequest(),  # noqa: B008 - frozen
    choices: SplitChoices = SplitChoices(),  # noqa: B008 - frozen
) -> SplitJob:
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
    return SplitJob(dataset, material, strategy, request, inputs, choices)


def make_all(job: SplitJob) -> Iterator[Split | Failed]:
    """One split for each value that the strategy could hold out (or train on); those that cannot be
    made say why. Values that lack a class are held out together, so that each test has every class:
    a single publisher of one class would be tested by models that saw less of that class.
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
    for single in _in_turn(job, trains=trains):
        request = (
            replace(job.request, train_on=single)
            if trains
            else replace(job.request, hold_out=single)
        )
        try:
            yield make(replace(job, request=request))
        except Impossible as error:
            yield Failed("+".join(single), error.problem)


def _in_turn(job: SplitJob, *, trains: bool) -> list[tuple[str, ...]]:
    """The values that are held out (or trained on) together, each once: one by one where a value
    has records of every class, else as few together as have; one by one where that cannot be."""
    assert isinstance(job.strategy, HoldOut)
    names = job.strategy.values(job.material, job.request)
    single: list[tuple[str, ...]] = [(name,) for name in names]
    if trains or len(job.material.classes) < 2:
        return single
    values = job.strategy.trait(job.material, job.request).values
    held = pl.DataFrame({"value": values, "label": job.material.labels}).drop_nulls()
    counts = held.group_by("value", "label").len().sort("len", "label", descending=[True, False])
    classes = counts.group_by("value", maintain_order=True).agg("label")
    of_value = dict(classes.iter_rows())
    every = counts["label"].n_unique()
    mixed = [name for name in names if len(of_value.get(name, ())) == every]
    lacking: dict[str, list[str]] = {}
    for name in names:
        if name in of_value and name not in mixed:
            lacking.setdefault(of_value[name][0], []).append(name)
    if not lacking:
        return single
    made = min(map(len, lacking.values())) if len(lacking) == every else 0
    if made + len(mixed) < 2:
        return single
    size = dict(held.group_by("value").len().iter_rows())
    turns = [[name] for name in mixed] + [[] for _ in range(made)]
    for label in sorted(lacking):
        empty = turns[len(mixed) :]
        for number, name in enumerate(lacking[label]):
            into = min(turns, key=lambda turn: sum(size[each] for each in turn))
            (empty[number] if number < made else into).append(name)
    unlabelled = [(name,) for name in names if name not in of_value]
    return [*(tuple(turn) for turn in turns), *unlabelled]


def refuse_unused(strategy: Strategy, request: SplitRequest) -> None:
    """An option that a strategy does not read would be ignored in silence: refuse it instead."""
    for name, _ in changed(request):
        if name not in strategy.takes | ALWAYS:
            raise UsageError(
                f"The strategy '{strategy.name}' does not take `{name}`.",
                "Leave it out, or use another strategy.",
            )


def changed(request: SplitRequest) -> list[tuple[str, object]]:
    """The options that are not as they are by default."""
    plain = vars(SplitRequest())
    return [(name, value) for name, value in vars(request).items() if value != plain[name]]


def make(job: SplitJob) -> Split:
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


def _without_changed(job: SplitJob, parts: Parts) -> Parts:
    """Rows that may only train, where the strategy could not put them there: they are not used."""
    material = job.material
    if material.only_train is None:
        return parts
    wrong = material.only_train & (numbered(parts.side) > 0)
    note = in_words(changed_ids(job.dataset.tables), set(material.records["id"]))
    rest = _without(parts, wrong, "changed by validation, so not used for testing")
    return replace(rest, notes=(*parts.notes, note))


def _where(job: SplitJob, parts: Parts) -> Parts:
    """Only the rows that were asked for on each side; the others are not used."""
    conditions = (
        (job.choices.train_where, ("train", "dev"), "training"),
        (job.choices.test_where, ("test",), "testing"),
    )
    for where, sides, words in conditions:
        on_sides = parts.side.is_in(sides).fill_null(False).to_numpy()
        wrong = on_sides & ~matching(job.dataset.records, where).to_numpy()
        if on_sides.any() and (wrong == on_sides).all():
            raise Impossible(
                f"No row for {words} meets the condition.", "Correct `train_where` or `test_where`."
            )
        parts = _without(parts, wrong, f"not asked for in {words}")
    return parts


def _small(material: Material, parts: Parts, request: SplitRequest) -> Parts:
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


def _dataset(job: SplitJob, parts: Parts, checked: SplitCheck) -> Dataset:
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
    derived = job.dataset.derive(job.dataset.records.with_columns(split=parts.side), step)
    left = [f"{several(n, 'row')} unused: {why}." for why, n in parts.left_out.items()]
    notes = [NOTE + note for note in [f"{parts.name}.", *left, *parts.notes, *checked.notes]]
    # A new split replaces the old one's notes.
    derived.notes = [*(note for note in derived.notes if not note.startswith(NOTE)), *notes]
    return derived


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int) else str(value)
