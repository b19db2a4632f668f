"""The score of a perfect detector on labels with planted errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from claimlab.core.stats.ceiling import (
    LabelQuality,
    _agreement,
    _most_are_right,
    by_agreement,
    ceiling,
)
from claimlab.core.stats.scores import Ints, accuracy, macro_f1


def flipped(truth: Ints, rate: float, classes: int, rng: np.random.Generator) -> Ints:
    other = (truth + rng.integers(1, classes, len(truth))) % classes
    return np.where(rng.random(len(truth)) < rate, other, truth)


def divisions(counts: Ints) -> list[list[int]]:
    return [sorted((n for n in row if n), reverse=True) for row in counts.tolist()]


def test_how_often_the_label_is_right_follows_from_how_votes_are_divided() -> None:
    """By hand, an annotator right on .8: of two against one on two classes, .8² · .2 of
    .8² · .2 + .2² · .8; one each on three classes is right once in three."""
    eight = np.array([0.8])
    for divided, classes, right in [
        ((1,), 2, 0.8),
        ((1,), 3, 0.8),
        ((2, 1), 2, 0.8),
        ((2,), 2, 0.64 / 0.68),
        ((1, 1), 2, 1 / 2),
        ((1, 1, 1), 3, 1 / 3),
        ((1, 1), 3, 8 / 17),  # .8 · .1 of two named classes, and .1 · .1 of the third
        ((2, 1), 3, 0.064 / (0.064 + 0.008 + 0.001)),
        ((3,), 3, 0.512 / 0.514),
    ]:
        assert _most_are_right(eight, divided, classes)[0] == pytest.approx(right)


def test_two_of_three_answers_agree_as_often_as_a_simulation_says() -> None:
    """Of 200,000 records on three classes, with ties kept and with ties left out."""
    rng = np.random.default_rng(0)
    votes = np.stack([flipped(np.zeros(200_000, np.int64), 0.4, 3, rng) for _ in range(3)])
    counts = np.stack([(votes == c).sum(axis=0) for c in range(3)], axis=1)
    agreeing = ((counts**2).sum(axis=1) - 3) / 6
    clear = counts.max(axis=1) > 1
    six = np.array([0.6])
    kept = _agreement(six, {(2, 1): 5, (1, 1, 1): 1}, 3)[0]
    assert kept == pytest.approx(0.6**2 + 0.4**2 / 2)
    assert kept == pytest.approx(agreeing.mean(), abs=0.003)
    left_out = _agreement(six, {(2, 1): 5, (3,): 1}, 3)[0]
    assert left_out == pytest.approx(agreeing[clear].mean(), abs=0.003)


def test_pairs_that_were_left_out_where_they_disagreed_tell_nothing() -> None:
    """All that is left of two annotators is where they agree, right or wrong."""
    assert by_agreement(np.ones(200), np.arange(200), 2, [(2,)] * 200) is None
    assert by_agreement(np.ones(200), np.arange(200), 2, [(3,)] * 200) is not None


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["labelled", "left out"])
@pytest.mark.parametrize(
    ("classes", "rate", "votes"),
    [(2, 0.05, 1), (2, 0.15, 3), (4, 0.1, 1), (3, 0.2, 3), (3, 0.35, 3), (3, 0.2, 4), (4, 0.3, 2)],
)
def test_the_band_holds_the_score_of_a_perfect_detector(
    classes: int, rate: float, votes: int, ties: str
) -> None:
    """60 test sets with errors planted at a known rate; 93 of 100 bands hold the score. A tie is
    labelled with any of its classes, or its record is left out."""
    if ties == "left out" and votes < 3:
        pytest.skip("two annotators who agree tell nothing")
    held = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, classes, votes])
        truth = rng.integers(classes, size=200)
        given = np.stack([flipped(truth, rate, classes, rng) for _ in range(max(2, votes))])
        counts = np.stack([(given == c).sum(axis=0) for c in range(classes)], axis=1)
        labels, kept = given[0], np.ones(200, dtype=bool)
        divided = [[1]]
        if votes > 1:
            labels = (counts + rng.random(counts.shape) / 2).argmax(axis=1)
            if ties == "left out":
                kept = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
            divided = divisions(counts[kept])
        n = len(given)
        agreeing = ((counts[kept] ** 2).sum(axis=1) - n) / (n * (n - 1))
        quality = by_agreement(agreeing, np.arange(kept.sum()), classes, divided, seed=seed)
        assert quality is not None
        table = np.zeros((classes, classes))
        np.add.at(table, (labels[kept], truth[kept]), 1)
        known = np.bincount(labels[kept], minlength=classes)
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
