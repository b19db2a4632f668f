"""Planted mixtures of a shortcut, own signal and guesses are taken apart again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from claimlab.core.stats.attribution import attribute
from claimlab.core.stats.scores import Ints


def mixture(
    rng: np.random.Generator, n: int, classes: int, copies: list[float], own: float
) -> tuple[Ints, Ints, list[Ints]]:
    """Truth, answers, and shortcuts that are right on 7 of 10 records."""
    truth = rng.integers(classes, size=n)
    shortcuts = [
        np.where(rng.random(n) < 0.7, truth, rng.integers(classes, size=n)) for _ in copies
    ]
    part = rng.choice(len(copies) + 2, size=n, p=[*copies, own, 1 - sum(copies) - own])
    options = np.stack([*shortcuts, truth, rng.integers(classes, size=n)])
    return truth, options[part, np.arange(n)], shortcuts


def test_two_classes_and_one_shortcut_have_the_closed_form() -> None:
    truth, answers, (shortcut,) = mixture(np.random.default_rng(0), 2_000, 2, [0.3], 0.4)
    one = attribute(truth, answers, [shortcut], np.arange(2_000), 2)
    assert one is not None
    right = answers == truth
    where_right, where_wrong = (right[shortcut == truth].mean(), right[shortcut != truth].mean())
    a = where_right - where_wrong
    assert one.shortcuts[0][0] == pytest.approx(a, abs=1e-4)
    assert one.own[0] == pytest.approx(2 * where_wrong - 1 + a, abs=1e-4)


@pytest.mark.parametrize(
    ("classes", "copies", "own"), [(2, [0.3], 0.4), (3, [0.6], 0.0), (4, [0.2, 0.3], 0.3)]
)
def test_intervals_hold_the_planted_shares(classes: int, copies: list[float], own: float) -> None:
    held: list[bool] = []
    for seed in range(60):
        rng = np.random.default_rng([seed, classes])
        truth, answers, shortcuts = mixture(rng, 400, classes, copies, own)
        one = attribute(truth, answers, shortcuts, np.arange(400), classes, draws=300)
        assert one is not None
        for planted, (_, ends) in zip([*copies, own], [*one.shortcuts, one.own], strict=True):
            assert ends is not None
            held.append(ends[0] <= planted <= ends[1])
    assert np.mean(held) >= stats.binom.ppf(0.001, len(held), 0.95) / len(held)


def test_a_detector_that_is_the_shortcut_has_shares_within_bounds() -> None:
    """Answers that never occur once sent the likelihood to infinity."""
    truth, _, (shortcut,) = mixture(np.random.default_rng(3), 300, 2, [0.3], 0.4)
    one = attribute(truth, shortcut, [shortcut], np.arange(300), 2)
    assert one is not None
    assert one.shortcuts[0][0] == pytest.approx(1.0, abs=0.01)
    assert one.own[0] == pytest.approx(0.0, abs=0.01)
    sure = attribute(truth, truth, [shortcut], np.arange(300), 2)
    assert sure is not None
    assert sure.own[0] == pytest.approx(1.0, abs=0.01)
    for share, ends in (one.shortcuts[0], one.own, sure.shortcuts[0], sure.own):
        assert ends is not None
        assert -0.2 < ends[0] <= share <= ends[1] < 1.2


def test_parts_that_nothing_tells_apart_are_not_measured() -> None:
    truth, answers, (shortcut,) = mixture(np.random.default_rng(0), 200, 2, [0.3], 0.4)
    everyone = np.arange(200)
    assert attribute(truth, answers, [truth], everyone, 2) is None, "always right"
    assert attribute(truth, answers, [shortcut, shortcut], everyone, 2) is None, "the same twice"
    assert attribute(truth, answers, [shortcut], everyone // 40, 2) is None, "five groups"
