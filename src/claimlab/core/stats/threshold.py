"""From which score on an answer may be given, so that answers are as precise as was asked for.

Cases have an answer or have none, and `lacking` is the share of those that have none where the
threshold is to be used. With A the share of cases with an answer that score high enough, R the
share of these whose best is right, and F the share of cases without an answer that score as high,
the precision is (1 - lacking) A R / ((1 - lacking) A + lacking F).

Each cut-off is tested as in Learn then Test (Angelopoulos et al. 2021), by confidence distributions
that are put together by drawing from each (melding; Fay, Proschan and Brittain 2015): Clopper and
Pearson's for R, Jeffreys' for A and F. Nothing is assumed of the scores. The lowest cut-off that
passes is taken, which makes the best of many look better than it is: hence `SURE`, at which scores
that say nothing, the worst case, pass falsely in under a tenth of samples (bench/match_threshold).
What the threshold then does is measured on cases that did not choose it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from claimlab.core.stats.interval import LEAST_UNITS, LEVEL, Interval, effective_groups
from claimlab.core.stats.scores import Flags, Floats, Ints

SURE = 0.96  # of each cut-off that passes
DRAWS = 1_000
CUTS = 40  # cut-offs that are tried
FOLDS = 10
FEWEST_ANSWERS = 20
JEFFREYS, CLOPPER_PEARSON = 0.5, 1.0  # what is added to the cases that count against


class Tally(NamedTuple):
    """What is counted at one or several cut-offs; `effect` is how many times as many cases would be
    needed as if they were independent."""

    right: Floats
    wrong: Floats
    cases: float
    without: Floats  # cases without an answer that score as high
    cases_without: float
    effect: Floats

    def at(self, place: int) -> Tally:
        """The counts at one of the cut-offs."""
        place_alone = slice(place, place + 1)
        return self._replace(
            right=self.right[place_alone],
            wrong=self.wrong[place_alone],
            without=self.without[place_alone],
            effect=self.effect[place_alone],
        )

    def precision(self, lacking: float) -> Floats:
        """As counted at each cut-off; not a number where nothing is answered."""
        share, other = (1 - lacking) / self.cases, 0.0
        if lacking:
            other = lacking / self.cases_without
        answers = share * (self.right + self.wrong) + other * self.without
        nothing: Floats = np.full(answers.shape, np.nan)
        return np.divide(share * self.right, answers, out=nothing, where=answers > 0)

    def draws(self, lacking: float, *, low: bool) -> Floats:
        """The precision at each cut-off (cut-offs, draws), with counts as bad, or as good, as they
        may be by chance."""
        right, wrong, without, cases, others = (
            (n / self.effect)[:, None]
            for n in (self.right, self.wrong, self.without, self.cases, self.cases_without)
        )
        rng = np.random.default_rng(0)
        above, below = (0.0, CLOPPER_PEARSON) if low else (CLOPPER_PEARSON, 0.0)
        share_right = _beta(rng, right + above, wrong + below)
        answered = right + wrong
        reached = _beta(rng, answered + JEFFREYS, cases - answered + JEFFREYS)
        rest = _beta(rng, without + JEFFREYS, others - without + JEFFREYS)
        answers = (1 - lacking) * reached
        return np.asarray(answers * share_right / (answers + lacking * rest))


def _beta(rng: np.random.Generator, a: Floats, b: Floats) -> Floats:
    size = (len(a), DRAWS)
    above, below = rng.standard_gamma(a, size), rng.standard_gamma(b, size)
    return np.asarray(above / (above + below))


@dataclass(frozen=True)
class Cases:
    """Labelled cases. Of those with an answer, the score of the best and whether it is right; of
    those without one, the score of the best. Cases of one `unit` are not independent."""

    score: Floats
    right: Flags
    unit: Ints
    score_without: Floats
    unit_without: Ints

    def tally(self, answered: Flags, answered_without: Flags, lacking: float = 0.0) -> Tally:
        """Counts where the cases of a column get an answer: flags (cases, cut-offs)."""
        right = self.right[:, None] & answered
        return Tally(
            right.sum(axis=0).astype(np.float64),
            (answered & ~right).sum(axis=0).astype(np.float64),
            len(self.score),
            answered_without.sum(axis=0).astype(np.float64),
            len(self.score_without),
            self._effect(right, answered, answered_without, lacking),
        )

    def _effect(self, right: Flags, answered: Flags, without: Flags, lacking: float) -> Floats:
        """The design effect of the precision: its variance over units against that over cases."""
        ones = np.ones(answered.shape[1])
        unit = np.concatenate([self.unit, self.unit_without])
        _, code, sizes = np.unique(unit, return_inverse=True, return_counts=True)
        if len(np.unique(self.unit)) == len(self.unit):
            return ones
        precision = right.sum(axis=0) / np.maximum(answered.sum(axis=0), 1)
        gain = (1 - lacking) * (right - precision * answered) / max(len(self.score), 1)
        loss = -lacking * precision * without / max(len(self.score_without), 1)
        moved = np.concatenate([gain - gain.mean(axis=0), loss - loss.mean(axis=0)])
        total = np.zeros((len(sizes), answered.shape[1]))
        np.add.at(total, code.ravel(), moved)
        over_units = np.square(total).sum(axis=0)
        over_cases = np.square(moved).sum(axis=0)
        units = self.units
        clustered = np.divide(over_units, over_cases, out=ones * np.inf, where=over_cases > 0)
        # one that varies by nothing says nothing of how units vary: each counts as one case then
        most = len(self.unit) / units
        return np.asarray(np.clip(np.where(np.isinf(clustered), most, clustered), 1, None)) * (
            _students(units)
        )

    @property
    def units(self) -> float:
        """How many units of equal size the cases with an answer are worth."""
        return effective_groups(np.unique(self.unit, return_counts=True)[1])

    def without_fold(self, fold: Flags, fold_without: Flags) -> Cases:
        return Cases(
            self.score[~fold],
            self.right[~fold],
            self.unit[~fold],
            self.score_without[~fold_without],
            self.unit_without[~fold_without],
        )

    def folds(self, seed: int) -> Iterator[tuple[Flags, Flags]]:
        """Which cases are kept apart, fold by fold: the cases of a unit together."""
        units = np.unique(np.concatenate([self.unit, self.unit_without]))
        fold_of = np.random.default_rng(seed).permutation(len(units)) % FOLDS
        place, other = (
            fold_of[np.searchsorted(units, codes)] for codes in (self.unit, self.unit_without)
        )
        for fold in range(min(FOLDS, len(units))):
            yield place == fold, other == fold


def _students(units: float) -> float:
    """How much wider Student's interval is, squared: the spread over few units is a guess too."""
    from scipy.special import (
        ndtri,
        stdtrit,
    )  # what scipy.stats calls, without its second of imports

    return float((stdtrit(units - 1, SURE) / ndtri(SURE)) ** 2)


def threshold(cases: Cases, precision: float, lacking: float) -> float | None:
    """The lowest score that reaches the precision; null where none does for sure."""
    if len(cases.score) < FEWEST_ANSWERS or cases.units < LEAST_UNITS:
        return None
    if lacking and not len(cases.score_without):
        return None
    shares = np.linspace(0, 1, CUTS, endpoint=False)
    cuts = np.unique(np.quantile(cases.score, shares, method="lower"))
    cuts = cuts[np.isfinite(cuts)]
    answered = cases.score[:, None] >= cuts
    enough = answered.sum(axis=0) >= FEWEST_ANSWERS
    if not enough.any():
        return None
    cuts, answered = cuts[enough], answered[:, enough]
    tally = cases.tally(answered, cases.score_without[:, None] >= cuts, lacking)
    for place in np.flatnonzero(tally.precision(lacking) >= precision).tolist():
        draws = tally.at(place).draws(lacking, low=True)
        if (draws >= precision).mean() >= SURE:
            return float(cuts[place])
    return None


@dataclass(frozen=True)
class Measured:
    """What answers are worth, counted on cases that did not choose their threshold: those with an
    answer that get one, and those without. `least` is the threshold that all of them choose."""

    cases: Cases
    answered: Flags
    answered_without: Flags
    least: float

    def at(self, lacking: float) -> tuple[float | None, Interval | None]:
        """The precision, and its interval, where such a share of the cases has no answer.

        Some cases choose more cautiously than all do, so the true precision is rarely below the
        interval and at times above it: its upper end is at least that of the cases that chose.
        """
        if lacking and not len(self.answered_without):
            return None, None
        tally = self._tally(self.answered, self.answered_without, lacking)
        value = float(tally.precision(lacking)[0])
        if np.isnan(value):
            return None, None
        if self.cases.units < LEAST_UNITS:
            return value, None
        tail = (1 - LEVEL) / 2
        chosen = self._tally(
            self.cases.score >= self.least, self.cases.score_without >= self.least, lacking
        )
        low = float(np.quantile(tally.draws(lacking, low=True), tail))
        highs = [np.quantile(t.draws(lacking, low=False), 1 - tail) for t in (tally, chosen)]
        return value, (min(low, value), max(*map(float, highs), value))

    def no_match(self, lacking: float) -> float | None:
        """How often those that get no answer have none; null where all get one, or none lacks
        one."""
        if not lacking or not len(self.answered_without):
            return None
        without = lacking * float((~self.answered_without).mean())
        silent = (1 - lacking) * float((~self.answered).mean()) + without
        return without / silent if silent else None

    def given(self, lacking: float) -> float:
        """The share of cases that get an answer."""
        rest = float(self.answered_without.mean()) if len(self.answered_without) else 0.0
        return (1 - lacking) * float(self.answered.mean()) + lacking * rest

    @property
    def found(self) -> float:
        """The share of the cases with an answer that get the right one."""
        return float((self.cases.right & self.answered).mean())

    def _tally(self, answered: Flags, without: Flags, lacking: float) -> Tally:
        return self.cases.tally(answered[:, None], without[:, None], lacking)


def measured(
    cases: Cases, least: float, precision: float, lacking: float, *, seed: int = 0
) -> Measured:
    """Each fold is answered by the threshold that the others choose, as all chose `least`."""
    answered = np.zeros(len(cases.score), bool)
    without = np.zeros(len(cases.score_without), bool)
    for fold, other in cases.folds(seed):
        own = threshold(cases.without_fold(fold, other), precision, lacking)
        if own is not None:
            answered[fold] = cases.score[fold] >= own
            without[other] = cases.score_without[other] >= own
    return Measured(cases, answered, without, least)
