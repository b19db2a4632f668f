"""The score of a perfect detector on labels with planted errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from claimlab.core.stats.ceiling import (
    LabelQuality,
    _majority,
    _one_annotator,
    by_agreement,
    ceiling,
)
from claimlab.core.stats.scores import Ints, accuracy, macro_f1


def flipped(truth: Ints, rate: float, classes: int, rng: np.random.Generator) -> Ints:
    other = (truth + rng.integers(1, classes, len(truth))) % classes
    return np.where(rng.random(len(truth)) < rate, other, truth)


def test_the_accuracy_of_an_annotator_follows_from_agreement() -> None:
    for classes in (2, 3, 6):
        for right in (0.6, 0.8, 0.95, 1.0):
            agreement = right**2 + (1 - right) ** 2 / (classes - 1)
            assert _one_annotator(np.array([agreement]), classes)[0] == pytest.approx(right)


def test_a_majority_is_right_as_often_as_the_binomial_says() -> None:
    for votes in (3, 5):
        expected = stats.binom.sf(votes // 2, votes, 0.8)
        assert _majority(np.array([0.8]), votes, 2)[0] == pytest.approx(expected)
    assert _majority(np.array([0.8]), 2, 2)[0] == pytest.approx(0.64 / 0.68), "where both agree"
    rng = np.random.default_rng(0)
    votes = np.stack([flipped(np.zeros(200_000, np.int64), 0.4, 4, rng) for _ in range(5)])
    counts = np.stack([(votes == c).sum(axis=0) for c in range(4)])
    clear = (counts == counts.max(axis=0)).sum(axis=0) == 1
    right = (counts.argmax(axis=0) == 0)[clear].mean()
    assert _majority(np.array([0.6]), 5, 4)[0] == pytest.approx(right, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "rate", "votes"), [(2, 0.05, 1), (2, 0.15, 3), (4, 0.1, 1), (3, 0.2, 3)]
)
def test_the_band_holds_the_score_of_a_perfect_detector(
    classes: int, rate: float, votes: int
) -> None:
    """60 test sets with errors planted at a known rate; 93 of 100 bands hold the score."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, classes, votes])
        truth = rng.integers(classes, size=200)
        given = np.stack([flipped(truth, rate, classes, rng) for _ in range(max(2, votes))])
        counts = np.stack([(given == c).sum(axis=0) for c in range(classes)], axis=1)
        labels, clear = given[0], np.ones(200, dtype=bool)
        if votes > 1:
            labels = counts.argmax(axis=1)
            clear = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
        n = len(given)
        agreeing = ((counts**2).sum(axis=1) - n) / (n * (n - 1))
        quality = by_agreement(agreeing, np.arange(200), classes, [votes], seed=seed)
        assert quality is not None
        table = np.zeros((classes, classes))
        np.add.at(table, (labels[clear], truth[clear]), 1)
        known = np.bincount(labels[clear], minlength=classes)
        low, high = ceiling(known, quality, macro_f1, seed=seed)[1]
        held += low <= float(macro_f1(table)) <= high
    assert held >= stats.binom.ppf(0.01, 60, 0.93)


def test_labels_that_are_all_right_have_a_ceiling_of_one() -> None:
    sure = LabelQuality(1.0, np.ones(100))
    point, band = ceiling(np.array([50, 150]), sure, accuracy)
    assert (point, *band) == pytest.approx((1.0, 1.0, 1.0))
    half = LabelQuality(0.9, np.full(100, 0.9))
    point, (low, high) = ceiling(np.array([500, 500]), half, accuracy)
    assert point == pytest.approx(0.9)
    assert low < 0.9 < high


def test_what_cannot_be_measured_is_null() -> None:
    alike = np.ones(200)
    assert by_agreement(alike[:10], np.arange(10), 2) is None, "ten records"
    assert by_agreement(alike * 0.45, np.arange(200), 2) is None, "less than chance"
