"""The mean score of several goes: inside its interval always, which covers as often as it says and
respects groups.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from claimlab.core.stats.interval import LEAST_UNITS, Interval, interval
from claimlab.core.stats.resampled import mean_macro_f1, resample
from claimlab.core.stats.scores import Ints


def interval_of(
    truth: Ints, guesses: list[Ints], groups: Ints, *, seed: int = 0, draws: int = 400
) -> Interval:
    drawn = resample(truth, guesses, groups, int(truth.max()) + 1, seed=seed, draws=draws)
    ends = interval(drawn.scores, drawn.units, point=drawn.score)
    assume(ends is not None or drawn.units >= LEAST_UNITS)
    return ends or (1.0, 0.0)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 120),
    st.integers(2, 4),
    st.integers(1, 4),
    st.floats(0.02, 0.98),
)
def test_the_score_lies_inside_its_interval_always(
    seed: int, n: int, classes: int, goes: int, skill: float
) -> None:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), (classes * rng.random(n) ** 3).astype(np.int64)])
    guesses = [
        np.where(rng.random(len(truth)) < skill, truth, rng.integers(0, classes, len(truth)))
        for _ in range(goes)
    ]
    groups = rng.integers(0, max(2, n // 3), len(truth))
    groups[:2] = [0, 1]
    low, high = interval_of(truth, guesses, groups, seed=seed, draws=60)
    score = float(np.mean([f1_score(truth, g, average="macro", zero_division=0) for g in guesses]))
    assert mean_macro_f1(truth, guesses, classes) == pytest.approx(score, abs=1e-12)
    assert low - 1e-12 <= score <= high + 1e-12


def test_goes_are_scored_under_the_same_weights() -> None:
    """Resamples equal those of drawing groups one by one and scoring every go on the rows drawn."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(50), 4)
    truth = rng.integers(0, 2, 200)
    guesses = [np.where(rng.random(200) < 0.7, truth, 1 - truth) for _ in range(3)]
    fast = resample(truth, guesses, groups, 2, draws=3_000)
    rows = [np.flatnonzero(groups == g) for g in range(50)]
    plain = []
    for _ in range(3_000):
        drawn = np.concatenate([rows[g] for g in rng.integers(50, size=50)])
        plain.append(mean_macro_f1(truth[drawn], [g[drawn] for g in guesses], 2))
    assert fast.scores.mean() == pytest.approx(
        np.mean(plain), abs=4 * np.std(plain) / np.sqrt(3_000)
    )
    assert fast.scores.std() == pytest.approx(np.std(plain), rel=0.08)


def test_the_interval_covers_and_respects_groups() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(100):
        truth = rng.integers(0, 2, 400)
        guess = np.where(rng.random(400) < 0.75, truth, 1 - truth)
        low, high = interval_of(truth, [guess], np.arange(400), seed=trial)
        covered += low <= 0.75 <= high
    assert 88 <= covered <= 100
    copies = np.repeat(np.arange(40), 10)
    truth, guess = np.repeat(rng.integers(0, 2, 40), 10), np.repeat(rng.integers(0, 2, 40), 10)
    narrow = np.ptp(interval_of(truth, [guess], np.arange(400)))
    wide = np.ptp(interval_of(truth, [guess], copies))
    assert wide > 2 * narrow, "ten copies of a row are one piece of evidence, not ten"
