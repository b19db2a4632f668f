"""A threshold keeps its precision on new cases, for the stated share of cases without an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from claimlab.core.stats.interval import LEAST_UNITS
from claimlab.core.stats.scores import Ints
from claimlab.core.stats.threshold import Cases, Tally, measured, threshold

ASKED = 0.9
RUNS = 200


def cases(rng: np.random.Generator, n: int, distance: float, unit: Ints | None = None) -> Cases:
    """Right ones score higher than wrong ones by so many standard deviations; masked, the best
    wrong one is first."""
    right, wrong = rng.normal(distance, 1, n), rng.normal(0, 1, n)
    units = np.arange(n) if unit is None else unit
    return Cases(np.maximum(right, wrong), right > wrong, units, wrong, units)


def true_precision(truth: Cases, least: float, lacking: float) -> float:
    """By its definition, over very many cases."""
    answers = (1 - lacking) * (truth.score >= least).mean()
    answers += lacking * (truth.score_without >= least).mean()
    return float((1 - lacking) * (truth.right & (truth.score >= least)).mean() / answers)


@pytest.mark.parametrize("lacking", [0.0, 0.3, 0.5])
def test_the_precision_holds_on_new_cases(lacking: float) -> None:
    rng = np.random.default_rng(1)
    truth = cases(rng, 200_000, 2.5)
    real = []
    for _ in range(RUNS):
        least = threshold(cases(rng, 200, 2.5), ASKED, lacking)
        if least is not None:
            real.append(true_precision(truth, least, lacking))
    assert len(real) > RUNS / 2
    assert np.sum(np.array(real) < ASKED) <= 0.1 * RUNS


def test_scores_that_say_nothing_rarely_pass() -> None:
    """The worst case of choosing the best of many cut-offs: each is right a little too rarely."""
    rng = np.random.default_rng(2)
    none = np.zeros(0)
    passed = sum(
        threshold(
            Cases(rng.random(400), rng.random(400) < 0.89, np.arange(400), none, none), ASKED, 0.0
        )
        is not None
        for _ in range(RUNS)
    )
    assert passed <= 0.1 * RUNS


def test_answers_that_are_all_right_are_as_many_as_the_binomial_asks_for() -> None:
    """0.9^k is the chance of k right answers at a precision of 0.9; 0.04 at k = 30.5."""
    none = np.zeros(0)
    for n, enough in ((26, False), (36, True)):
        rights = Cases(np.arange(n, dtype=float), np.ones(n, bool), np.arange(n), none, none)
        assert (threshold(rights, ASKED, 0.0) is not None) is enough


def test_the_precision_is_counted_with_the_share_that_has_no_answer() -> None:
    """40 of 100 cases right, 10 wrong; 20 of 200 without an answer: by hand."""
    counts = (np.array([40.0]), np.array([10.0]), 100, np.array([20.0]), 200, np.ones(1))
    tally = Tally(*counts)
    assert tally.precision(0.0)[0] == pytest.approx(40 / 50)
    assert tally.precision(0.5)[0] == pytest.approx(0.5 * 0.4 / (0.5 * 0.5 + 0.5 * 0.1))
    low, high = (
        np.quantile(tally.draws(0.5, low=low), q) for low, q in ((True, 0.025), (False, 0.975))
    )
    assert low < tally.precision(0.5)[0] < high


def test_a_higher_share_without_an_answer_asks_for_a_higher_threshold() -> None:
    labelled = cases(np.random.default_rng(3), 400, 3)
    ends = [threshold(labelled, ASKED, lacking) for lacking in (0.0, 0.3, 0.5)]
    assert None not in ends
    assert ends[0] < ends[1] < ends[2]


def test_cases_are_measured_by_a_threshold_that_others_chose() -> None:
    """What a case is labelled changes nothing of whether it is answered, only of the others."""
    labelled = cases(np.random.default_rng(4), 120, 2.5)
    least = threshold(labelled, ASKED, 0.3)
    assert least is not None
    kept = measured(labelled, least, ASKED, 0.3)
    assert kept.answered.any()
    for fold, _ in labelled.folds(0):
        otherwise = replace(labelled, right=np.where(fold, False, labelled.right))
        again = measured(otherwise, least, ASKED, 0.3)
        assert (again.answered[fold] == kept.answered[fold]).all()


def test_the_printed_precision_is_not_above_the_true_one() -> None:
    """Measured on the cases that chose it, it would be .04 above it here."""
    rng = np.random.default_rng(5)
    truth = cases(rng, 200_000, 2)
    over = []
    for _ in range(50):
        labelled = cases(rng, 100, 2)
        least = threshold(labelled, ASKED, 0.3)
        if least is not None:
            value, _ = measured(labelled, least, ASKED, 0.3).at(0.3)
            over += [] if value is None else [value - true_precision(truth, least, 0.3)]
    assert len(over) > 20
    assert np.mean(over) < 0.015


def test_cases_of_one_unit_are_not_independent() -> None:
    """Ten cases that are the same case: as sure as one, so their threshold is higher or none."""
    few = cases(np.random.default_rng(6), 40, 3)
    tenfold = Cases(
        *(np.repeat(column, 10) for column in (few.score, few.right, few.unit)),
        *(np.repeat(column, 10) for column in (few.score_without, few.unit_without)),
    )
    blind = replace(tenfold, unit=np.arange(400), unit_without=np.arange(400))
    honest, fooled = (threshold(one, ASKED, 0.3) for one in (tenfold, blind))
    assert fooled is not None
    assert honest is None or honest > fooled
    one = replace(tenfold, unit=tenfold.unit % (LEAST_UNITS - 1))
    assert threshold(one, ASKED, 0.0) is None, "too few units"


def test_equal_scores_stay_together() -> None:
    rng = np.random.default_rng(7)
    smooth = cases(rng, 400, 3)
    tied = replace(smooth, score=smooth.score.round(), score_without=smooth.score_without.round())
    least = threshold(tied, ASKED, 0.3)
    assert least in set(tied.score)


def test_with_nothing_there_is_no_threshold() -> None:
    none, flags, units = np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int64)
    assert threshold(Cases(none, flags, units, none, units), ASKED, 0.0) is None
    one = Cases(np.ones(1), np.ones(1, bool), np.zeros(1, np.int64), none, units)
    assert threshold(one, ASKED, 0.3) is None
