"""Shares from few annotated records and a judge of all, against ppi-python and planted truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from claimlab.core.stats.powered import JudgedSample, alone, needed, powered

POPULATION = 3_000


def planted(share: float, right: float, bias: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True answers, and a judge that is right so often and then says 1 with chance `bias`."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(POPULATION) < share * POPULATION).astype(float)
    judge = np.where(rng.random(POPULATION) < right, truth, 1 - truth)
    return truth, np.where(rng.random(POPULATION) < bias, 1.0, judge)


def drawn(truth: np.ndarray, judge: np.ndarray, rows: np.ndarray) -> JudgedSample:
    chance = np.ones(len(rows))
    return JudgedSample(truth[rows], judge[rows], chance, len(truth), float(judge.mean()))


def test_the_estimate_is_that_of_ppi_python() -> None:
    """`ppi_mean_ci` and `ppi_mean_pointestimate` of ppi-python 0.2.3 take the judge on the other
    records only, and their interval is of where the records come from: wider by the spread of the
    answers over all records."""
    truth, judge = planted(0.4, 0.85, 0.0, seed=1)
    rows = np.random.default_rng(2).choice(POPULATION, 400, replace=False)
    rest = np.setdiff1d(np.arange(POPULATION), rows)
    human, near, far = truth[rows], judge[rows], judge[rest]
    slope = np.cov(human, near)[0, 1] / ((1 + len(rows) / len(rest)) * near.var(ddof=1))
    published = human.mean() - slope * (near.mean() - far.mean())
    found = powered(drawn(truth, judge, rows))
    assert found.value == pytest.approx(published, abs=1e-3)
    errors = human - slope * near
    theirs = errors.var() / len(rows) + slope**2 * far.var() / len(rest)
    ours = theirs - human.var() / POPULATION
    assert found.width == pytest.approx(2 * norm.ppf(0.975) * ours**0.5, rel=0.05)


@pytest.mark.parametrize(("right", "bias"), [(0.97, 0.0), (0.85, 0.0), (0.6, 0.0), (0.8, 0.3)])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_intervals_hold_the_true_share(share: float, right: float, bias: float) -> None:
    truth, judge = planted(share, right, bias, seed=3)
    rng = np.random.default_rng(4)
    held = [
        low <= truth.mean() <= high
        for _ in range(400)
        for rows in [rng.choice(POPULATION, 80, replace=False)]
        for low, high in [powered(drawn(truth, judge, rows)).interval]
    ]
    assert np.mean(held) > 0.93  # 0.95 less two standard errors


def test_a_good_judge_narrows_the_interval_and_a_biased_one_does_not_move_it() -> None:
    truth, judge = planted(0.3, 0.95, 0.0, seed=5)
    rows = np.random.default_rng(6).choice(POPULATION, 100, replace=False)
    sample = drawn(truth, judge, rows)
    assert powered(sample).width < 0.7 * alone(sample).width
    biased = drawn(truth, np.ones(POPULATION), rows)
    assert powered(biased).value == alone(biased).value


def test_one_who_stops_as_soon_as_it_is_narrow_is_still_right() -> None:
    truth, judge = planted(0.4, 0.8, 0.2, seed=7)
    rng = np.random.default_rng(8)
    held, plain = [], []
    for _ in range(200):
        order = rng.permutation(POPULATION)
        looks = [powered(drawn(truth, judge, order[:size])) for size in range(20, 400, 10)]
        held.append(all(one.always[0] <= truth.mean() <= one.always[1] for one in looks))
        plain.append(all(one.interval[0] <= truth.mean() <= one.interval[1] for one in looks))
    assert np.mean(held) > 0.95
    assert np.mean(plain) < 0.9  # the other interval does not hold at every look


def test_unequal_chances_are_weighed() -> None:
    """Records of class 1 are drawn four times as often: counted plainly, the share is wrong."""
    truth, judge = planted(0.2, 0.8, 0.0, seed=9)
    chance = np.where(truth == 1, 0.2, 0.05)
    rng = np.random.default_rng(10)
    held, values = [], []
    for _ in range(300):
        rows = np.flatnonzero(rng.random(POPULATION) < chance)
        sample = JudgedSample(
            truth[rows], judge[rows], chance[rows], POPULATION, float(judge.mean())
        )
        share = powered(sample)
        values.append(share.value)
        held.append(share.interval[0] <= 0.2 <= share.interval[1])
    assert np.mean(values) == pytest.approx(0.2, abs=0.01)
    assert np.mean(held) > 0.93


def test_all_records_annotated_leave_nothing_to_estimate() -> None:
    truth, judge = planted(0.25, 0.7, 0.0, seed=11)
    share = powered(drawn(truth, judge, np.arange(POPULATION)))
    assert share.value == pytest.approx(0.25)
    assert share.interval == (share.value, share.value)


def test_half_the_width_takes_four_times_the_records() -> None:
    truth, judge = planted(0.5, 0.8, 0.0, seed=12)
    sample = drawn(truth, judge, np.random.default_rng(13).choice(POPULATION, 100, replace=False))
    low, high = powered(sample).always
    assert needed(sample, high - low) == 100
    assert needed(sample, (high - low) / 2) == 400
