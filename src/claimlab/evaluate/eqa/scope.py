"""The shifts that the author puts in scope, held against what the runs test: a promise without a
test is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from claimlab.core.stats.interval import Interval
from claimlab.core.words import several
from claimlab.evaluate.eqa.shifts import SHIFTS, is_known_detector
from claimlab.evaluate.eqa.study import InScope
from claimlab.pages.blocks import excerpt

if TYPE_CHECKING:
    from claimlab.evaluate.eqa.runs import ExaminedRun

OUTCOMES: dict[str, Outcome] = {"out of scope": "out-of-scope", "left open": "left-open"}
ELSEWHERE = "its predictions were made elsewhere, so that what it was trained on is not recorded"
Outcome = Literal["tested", "not-tested", "out-of-scope", "left-open"]


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


def shift_result(name: str, promise: InScope, runs: Sequence[ExaminedRun]) -> ShiftResult:
    tests = [shift_test(name, run) for run in runs if name in run.tests.shifts]
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


def shift_test(name: str, run: ExaminedRun) -> Test:
    how = run.tests.shifts[name]
    how = how if is_known_detector(run) else f"{how}; {ELSEWHERE}"
    result = run.result
    if result is None:
        return Test(run.name, how, 0, None, None, None)
    floor = max((b.macro_f1 for b in result.baselines if b.macro_f1 is not None), default=None)
    return Test(
        run.name, how, result.scores.n, result.scores.macro_f1, result.intervals["macro_f1"], floor
    )


def _contradicted(name: str, claim: str, runs: Sequence[ExaminedRun]) -> Iterator[str]:
    """What is wrong with the author's word that the run or split `claim` tests a shift."""
    claimed = [
        run
        for run in runs
        if claim in (run.name, run.about.divided_by, run.about.division)
        or run.name.startswith(f"{claim}: ")
    ]
    words = excerpt(claim, 60)
    if not claimed:
        yield f"'{words}' is said to test {name}, but no run or split has this name."
    for run in claimed:
        if name not in run.tests.shifts:
            whose = "" if claim == run.name else f"'{excerpt(run.name, 60)}': "
            yield f"'{words}' is said to test {name}, but does not: {whose}{run.tests.reason()}."
