"""Which shifts the split of a run tests: are its test records of another time, source, topic,
language or platform than those it was trained on?

The lineage of a run says how its records were split. Where the split came with the data, the
training records are looked at instead, if they are within reach. What the author says of a run
decides nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import polars as pl

from claimlab.core import packaged
from claimlab.core.columns import column_values, meta_values
from claimlab.core.dataset import Lineage
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.scored_run import ScoredRun, last_step

# strategies that hold no value out
DEALT = {"random", "group", "near-duplicates", "pair", "balanced"}
# detectors that are not a method to be tested
BASELINES = {"majority", "stratified", "shortcut"}


class Shift(NamedTuple):
    """One of `data/shifts.toml`, which says what each field means."""

    words: str
    column: str
    strategies: list[str]
    columns: list[str]
    todo: str


SHIFTS = {
    name: Shift(**fields)
    for name, fields in packaged.toml("claimlab.evaluate.eqa", "shifts.toml").items()
}


@dataclass(frozen=True)
class Tests:
    """The shifts that one run tests, each with what shows it; `split` says how its records were
    split, and `why` what else keeps it from testing any."""

    split: str = "how its records were split is not recorded"
    shifts: dict[str, str] = field(default_factory=dict)
    why: str = ""

    def reason(self) -> str:
        """Why the run does not test a shift that it does not test."""
        return self.why or self.split


def tests_of(run: ScoredRun, lineage: Sequence[Lineage], training: pl.DataFrame | None) -> Tests:
    """What a run tests. `lineage` is that of its records, `training` the rows it was trained on, if
    they are known.
    """
    step = last_step(lineage, "split")
    parameters = {} if step is None else step.parameters
    by = parameters.get("by")
    split = _in_words(parameters)
    if why := _tests_nothing(run):
        return Tests(split, why=why)
    if by in DEALT.union({"column"}, *(shift.strategies for shift in SHIFTS.values())):
        held_out = {name: split for name, shift in SHIFTS.items() if _holds_out(shift, parameters)}
        return Tests(split, held_out)
    if training is None or not training.height:
        return Tests(f"{split}, and its training records are not within reach")
    measured = {name: _measured(name, run.table, training) for name in SHIFTS}
    return Tests(split, {name: how for name, how in measured.items() if how})


def is_known_detector(run: ScoredRun) -> bool:
    """Whether the run was made here; of predictions made elsewhere little is known."""
    about = run.about
    return (
        about.detector is not None
        and about.detector in DETECTORS
        and "predictions" not in about.settings
    )


def is_generative(run: ScoredRun) -> bool:
    """Whether the system writes its answers: it asks a language model, or was run elsewhere and
    gives rationales.
    """
    if is_known_detector(run):
        return "model" in DETECTORS.get(str(run.about.detector)).handles
    return bool(run.table["rationale"].is_not_null().any())


def _tests_nothing(run: ScoredRun) -> str:
    """Why no split could make a test of this run; empty where one could."""
    detector = run.about.detector
    if is_known_detector(run) and detector in BASELINES:
        return f"the detector {detector} is a baseline"
    if is_known_detector(run) and not DETECTORS.get(str(detector)).needs_training:
        return "it learned nothing from the training records, so that the split tests nothing of it"
    n = run.table.height
    outside = n - int((run.table["split"] == "test").fill_null(False).sum())
    if outside or not n:
        return f"{outside:,} of {several(n, 'scored record')} are not in the test set"
    return ""


def _holds_out(shift: Shift, parameters: JsonObject) -> bool:
    """Whether a split with these `parameters` keeps the values of the test records out of
    training.
    """
    by, column = parameters.get("by"), parameters.get("column")
    if by in shift.strategies or (by == "column" and column in shift.columns):
        return True
    train, test = parameters.get("train_where", {}), parameters.get("test_where", {})
    return any(c in train and c in test and not set(train[c]) & set(test[c]) for c in shift.columns)


def _measured(name: str, scored: pl.DataFrame, training: pl.DataFrame) -> str | None:
    """What the records themselves show; null where they share values, or where one has none to
    compare.
    """
    column = SHIFTS[name].column
    tested, trained = _values(scored, column), _values(training, column)
    if tested is None or trained is None or tested.null_count() or trained.null_count():
        return None
    if name == "time":
        first, last = tested.min(), trained.max()
        if not isinstance(first, datetime) or not isinstance(last, datetime) or first <= last:
            return None
        return (
            f"every test record is dated {first:%Y-%m-%d} or later, every training record earlier"
        )
    shared = tested.is_in(trained.implode()).any()
    return None if shared else f"no {name} of a test record occurs in training"


def _values(records: pl.DataFrame, column: str) -> pl.Series | None:
    is_there = column in records.columns or column.removeprefix("meta.") in meta_values(records)
    return column_values(records, column) if is_there else None


def _in_words(parameters: JsonObject) -> str:
    by = parameters.get("by")
    if by is None:
        return Tests().split
    if by == "random":
        words = "split at random"
    elif by == "column":
        words = f"split by the column {parameters.get('column')}"
    else:
        words = f"split by {by}"
    more = str(parameters.get("name", by)).removeprefix(str(by)).lstrip(":")
    return f"{words} ({more})" if more else words
