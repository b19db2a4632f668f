"""Which shifts the split of a run tests (are its test records of another time, source, topic,
language or platform than those it was trained on?), held against the shifts that the author puts in
scope: a promise without a test is a failure.

The lineage of a run says how its records were split. Where the split came with the data, the
training records are looked at instead, if they are within reach. What the author says of a run
decides nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import polars as pl

from claimlab.core.columns import LANGUAGE_FACTS, column_values, meta_values
from claimlab.core.dataset import Lineage
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.detector import DETECTORS
from claimlab.evaluate.eqa.study import InScope, Shifts
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.pages.excerpt import excerpt

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.evidence import Run


@dataclass(frozen=True)
class Shift:
    """`words` says what the test records are, `column` has the values that differ, `strategies`
    hold them out.
    """

    words: str
    column: str
    strategies: frozenset[str]
    columns: frozenset[
        str
    ]  # whose values a split by column, or a condition on its sides, keeps apart
    todo: str


SHIFTS = {
    "time": Shift(
        "later records", "date", frozenset({"time"}), frozenset(), '`split(DIR, by="time")`'
    ),
    "source": Shift(
        "other sources",
        "source",
        frozenset({"source", "domain"}),
        frozenset({"source"}),
        '`split(DIR, by="source")`',
    ),
    "topic": Shift(
        "other topics or events",
        "topic",
        frozenset({"event"}),
        frozenset({"topic", "group"}),
        '`split(DIR, by="column", column="topic")`',
    ),
    "language": Shift(
        "other languages",
        "language",
        frozenset({"language", "family", "script", "word-order", "head-to-tail"}),
        frozenset({"language", *LANGUAGE_FACTS}),
        '`split(DIR, by="language")`',
    ),
    "platform": Shift(
        "other platforms",
        "meta.platform",
        frozenset(),
        frozenset({"platform", "meta.platform"}),
        '`split(DIR, by="column", column="meta.platform")`',
    ),
}
DEALT = frozenset(
    {"random", "group", "near-duplicates", "pair", "balanced"}
)  # strategies that hold no value out
BASELINES = frozenset(
    {"majority", "stratified", "shortcut"}
)  # detectors that are not a method to be tested


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
    step = next((s for s in reversed(lineage) if s.step == "split"), None)
    parameters = {} if step is None else step.parameters
    by = parameters.get("by")
    split = _in_words(parameters)
    if why := _tests_nothing(run):
        return Tests(split, why=why)
    if by in DEALT.union({"column"}, *(shift.strategies for shift in SHIFTS.values())):
        held = {name: split for name, shift in SHIFTS.items() if _holds_out(shift, parameters)}
        return Tests(split, held)
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
    known = column in records.columns or column.removeprefix("meta.") in meta_values(records)
    return column_values(records, column) if known else None


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


Outcome = Literal["tested", "not-tested", "out-of-scope", "left-open"]
OUTCOMES: dict[str, Outcome] = {"out of scope": "out-of-scope", "left open": "left-open"}
ELSEWHERE = "its predictions were made elsewhere, so that what it was trained on is not recorded"


@dataclass(frozen=True)
class Test:
    """One run that tests a shift: how it does, and what it scores there."""

    run: str
    how: str
    records: int
    macro_f1: float | None
    interval: Interval | None
    baseline: float | None  # the best trivial one on the same records

    @property
    def above_baseline(self) -> bool:
        low = self.macro_f1 if self.interval is None else self.interval[0]
        return low is not None and self.baseline is not None and low > self.baseline

    def score(self) -> str:
        if self.macro_f1 is None:
            return f"no macro-F1 (one class) on {several(self.records, 'record')}"
        ends = (
            "no interval"
            if self.interval is None
            else "{:.1f} to {:.1f}".format(*(100 * e for e in self.interval))
        )
        above = "above" if self.above_baseline else "NOT above"
        scored = f"macro-F1 {100 * self.macro_f1:.1f} ({ends}) on {several(self.records, 'record')}"
        return scored if self.baseline is None else f"{scored}, {above} the best trivial baseline"


@dataclass(frozen=True)
class ShiftResult:
    """`contradicted` has what the author says of runs that do not test the shift."""

    shift: str
    scope: str
    outcome: Outcome
    tests: list[Test]
    contradicted: list[str]
    why: str

    def sentence(self) -> str:
        words = f"{self.shift} ({SHIFTS[self.shift].words})"
        if self.outcome == "not-tested":
            return f"{words} is in scope, and no run tests it. {self.why}"
        if self.outcome == "tested":
            runs = "; ".join(f"'{excerpt(t.run, 60)}', {t.how}: {t.score()}" for t in self.tests)
            return f"{words} is tested by {runs}."
        return f"{words}: {self.scope}."


def held_against(shifts: Shifts, runs: Sequence[Run]) -> list[ShiftResult]:
    """One result for each shift of the form."""
    return [_result(name, promise, runs) for name, promise in shifts.each().items()]


def _result(name: str, promise: InScope, runs: Sequence[Run]) -> ShiftResult:
    tests = [_test(name, run) for run in runs if name in run.tests.shifts]
    if promise.scope != "in scope":
        return ShiftResult(name, promise.scope, OUTCOMES[promise.scope], tests, [], "")
    claims = [
        sentence for claim in promise.tested_by for sentence in _contradicted(name, claim, runs)
    ]
    if tests:
        return ShiftResult(name, promise.scope, "tested", tests, claims, "")
    reasons = [f"'{excerpt(run.name, 60)}': {run.tests.reason()}." for run in runs] or [
        "No run was given."
    ]
    todo = f"To test it, use {SHIFTS[name].todo} and run the detector on that split."
    why = " ".join([*dict.fromkeys(reasons), todo])
    return ShiftResult(name, promise.scope, "not-tested", [], claims, why)


def _test(name: str, run: Run) -> Test:
    how = run.tests.shifts[name]
    how = how if is_known_detector(run) else f"{how}; {ELSEWHERE}"
    result = run.result
    if result is None:
        return Test(run.name, how, 0, None, None, None)
    floor = max((b.macro_f1 for b in result.baselines if b.macro_f1 is not None), default=None)
    return Test(
        run.name, how, result.scores.n, result.scores.macro_f1, result.intervals["macro_f1"], floor
    )


def _contradicted(name: str, claim: str, runs: Sequence[Run]) -> Iterator[str]:
    """What is wrong with the author's word that the run or split `claim` tests a shift."""
    mine = [run for run in runs if _is_named(run, claim)]
    shown = excerpt(claim, 60)
    if not mine:
        yield f"'{shown}' is said to test {name}, but no run or split has this name."
    for run in mine:
        if name not in run.tests.shifts:
            whose = "" if claim == run.name else f"'{excerpt(run.name, 60)}': "
            yield f"'{shown}' is said to test {name}, but does not: {whose}{run.tests.reason()}."


def _is_named(run: Run, claim: str) -> bool:
    about = run.about
    return claim in (run.name, about.divided_by, about.division) or run.name.startswith(
        f"{claim}: "
    )
