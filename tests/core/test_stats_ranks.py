"""Ranks that the data allow, ties with the best, and what can be seen at all: against planted
truth, and against the same computed by SciPy alone.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from claimlab.core.stats.interval import effective_groups
from claimlab.core.stats.ranks import (
    Ranking,
    confidence_set,
    draw_means,
    foreseen,
    rank,
    records_needed,
    smallest_detectable,
)
from claimlab.core.stats.scores import Floats


def drawn(right: Floats, draws: int = 1_000, seed: int = 0) -> Floats:
    """Resamples of the mean of each column."""
    n = len(right)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    return np.asarray(weights @ right / n)


def ranked(right: Floats, seed: int = 0) -> Ranking:
    return rank(right.mean(axis=0), drawn(right, seed=seed), len(right))


def answers(skills: list[float], n: int, seed: int = 0, alike: float = 0.5) -> Floats:
    """Right and wrong answers of systems to the same items, which are easy or hard for all."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=(n, 1))
    own = rng.normal(size=(n, len(skills)))
    level = np.sqrt(alike) * hard + np.sqrt(1 - alike) * own
    return (level < stats.norm.ppf(skills)).astype(float)


def test_separated_systems_have_one_rank_and_equal_ones_share_theirs() -> None:
    one = ranked(answers([0.95, 0.95, 0.8, 0.6, 0.6], 800, seed=3))
    assert one.ranks == [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5)]
    assert sorted(one.tied) == [0, 1]
    assert one.p_tied is not None
    assert one.p_tied > 0.05
    alone = ranked(answers([0.95, 0.8], 800))
    assert (alone.ranks, alone.tied, alone.p_tied) == ([(1, 1), (2, 2)], [0], None)


def test_the_order_of_the_systems_and_copies_of_one_change_nothing() -> None:
    right = answers([0.7, 0.9, 0.8], 300, seed=1)
    order = [2, 0, 1]
    first, again = ranked(right), ranked(right[:, order])
    assert [first.ranks[i] for i in order] == again.ranks
    assert first.p[np.ix_(order, order)] == pytest.approx(again.p)
    twins = ranked(right[:, [0, 1, 1]])
    assert twins.p[1, 2] == 1.0
    assert twins.ranks[1] == twins.ranks[2] == (1, 2)


@pytest.mark.slow
def test_two_systems_get_the_p_of_a_paired_t_test() -> None:
    """One pair needs no correction: the resamples agree with the test of SciPy."""
    for seed in range(4):
        right = answers([0.85, 0.8], 400, seed=seed)
        one = rank(right.mean(axis=0), drawn(right, 20_000), 400)
        expected = stats.ttest_rel(right[:, 0], right[:, 1])
        assert one.p[0, 1] == pytest.approx(expected.pvalue, abs=0.035)  # ties count
        assert one.errors[0, 1] == pytest.approx(
            stats.sem(right[:, 0] - right[:, 1]) * np.sqrt(399 / 400), rel=0.03
        )


def test_one_table_recomputed_step_by_step_with_scipy_alone() -> None:
    """Every pair by hand: t-statistics, the maxima of the resamples over the pairs still in
    question, and one pair taken out at a time.
    """
    right = answers([0.9, 0.86, 0.8, 0.79], 250, seed=7)
    scores, resamples = right.mean(axis=0), drawn(right, 400)
    one = rank(scores, resamples, 250)
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    deviation = {
        (i, j): (resamples[:, i] - scores[i]) - (resamples[:, j] - scores[j]) for i, j in pairs
    }
    spread = {pair: np.std(noise, ddof=1) for pair, noise in deviation.items()}
    observed = {}
    for i, j in pairs:
        t = (scores[i] - scores[j]) / spread[i, j] * np.sqrt(249 / 250)
        observed[i, j] = stats.norm.isf(stats.t.sf(t, 249))
    left, worst, expected = sorted(pairs, key=lambda pair: -observed[pair]), 0.0, {}
    for i, j in list(left):
        if observed[i, j] <= 0:
            break
        maxima = np.max([deviation[pair] / spread[pair] for pair in left], axis=0)
        worst = max(worst, (1 + (maxima >= observed[i, j] - 1e-9).sum()) / 401)
        expected[i, j] = worst
        left.remove((i, j))
    assert len(expected) == 6
    for (i, j), p in expected.items():
        assert one.p[i, j] == pytest.approx(p), (i, j)
    better = {pair for pair, p in expected.items() if p < 0.05}
    assert one.ranks == [
        (1 + sum((j, i) in better for j in range(4)), 4 - sum((i, j) in better for j in range(4)))
        for i in range(4)
    ]


def test_equal_systems_are_hardly_ever_called_different() -> None:
    """A false "better" anywhere in the table, in at most 5 of 100 draws; 120 draws here."""
    false = tied = 0
    for seed in range(120):
        right = answers([0.8] * 6, 120, seed=seed)
        one = rank(right.mean(axis=0), drawn(right, 400, seed), 120)
        false += any(ranks != (1, 6) for ranks in one.ranks)
        tied += len(one.tied) == 6
    assert false <= stats.binom.ppf(0.999, 120, 0.05)
    assert tied >= stats.binom.ppf(0.001, 120, 0.95)


def test_few_groups_of_very_different_size_are_hardly_ever_called_different() -> None:
    """Half of the records are in 3 of 40 groups, and each group is easy or hard as a whole. Taken
    as 40 groups of equal size, they give a false "better" in 10 of 100 draws."""
    sizes = np.array([1] * 30 + [4] * 7 + [15, 20, 25])
    group, false, naive = np.repeat(np.arange(40), sizes), 0, 0
    assert effective_groups(sizes.astype(float)) == pytest.approx(118**2 / 1_392)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        level = rng.normal(size=(40, 3))[group] + rng.normal(size=(len(group), 3))
        right = (level < 1.2).astype(float)
        resamples, known = draw_means(right, group, seed=seed, draws=400)
        scores = right.mean(axis=0)
        false += rank(scores, resamples, effective_groups(known)).ranks != [(1, 3)] * 3
        naive += rank(scores, resamples, 40).ranks != [(1, 3)] * 3
    assert false <= stats.binom.ppf(0.99, 300, 0.05)
    assert naive > false


def test_the_group_at_the_top_holds_the_best_and_leaves_out_the_worse() -> None:
    right = answers([0.9, 0.9, 0.9, 0.6, 0.5], 400, seed=2)
    scores, noise = right.mean(axis=0), drawn(right) - right.mean(axis=0)
    tied, p = confidence_set(scores, noise, 400)
    assert set(tied) == {0, 1, 2}
    assert p is not None
    assert confidence_set(scores[3:], noise[:, 3:], 400) == ([0], None)


def test_the_smallest_detectable_difference_is_found_in_80_of_100_tests() -> None:
    n, found = 300, 0
    error = np.sqrt(0.3 / n)  # three in ten items tell the two apart
    gap = smallest_detectable(error)
    assert gap == pytest.approx((1.959964 + 0.841621) * error, rel=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(1_000):
        difference = rng.choice([1, -1, 0], p=[0.15 + gap / 2, 0.15 - gap / 2, 0.7], size=n)
        found += stats.ttest_1samp(difference, 0).pvalue < 0.05
    assert 0.77 < found / 1_000 < 0.84
    assert records_needed(n, gap, gap / 2) == 4 * n
    assert records_needed(n, gap, 0.0) is None


@pytest.mark.slow
def test_two_hundred_systems_of_five_hundred_items_take_seconds() -> None:
    right = answers([0.7] * 100 + [0.8] * 100, 500)
    start = time.process_time()
    one = rank(right.mean(axis=0), drawn(right, 2_000), 500)
    assert time.process_time() - start < 5
    assert len(one.ranks) == 200


def test_what_can_be_seen_before_a_run_depends_on_records_groups_and_classes() -> None:
    half = np.arange(400) % 2
    alone = foreseen(half, np.arange(400))
    assert alone is not None
    error = np.sqrt(2 * 0.8 * 0.2 / 400)  # of two that share nothing
    assert 0.4 * smallest_detectable(error) < alone < smallest_detectable(error)
    four = foreseen(np.arange(1_600) % 2, np.arange(1_600))
    assert four == pytest.approx(alone / 2, rel=0.1)
    grouped = foreseen(half, np.arange(400) // 8)
    assert grouped is not None
    assert grouped > 1.1 * alone
    rare = foreseen((np.arange(400) % 20 == 0).astype(np.int64), np.arange(400))
    assert rare is not None
    assert rare > alone
    assert foreseen(half, half) is None, "two groups"
    assert foreseen(np.zeros(400, np.int64), np.arange(400)) is None, "one class"


def test_groups_are_drawn_whole() -> None:
    values = answers([0.8, 0.7], 200)
    copies, sizes = draw_means(np.repeat(values, 5, axis=0), np.repeat(np.arange(200), 5))
    alone, _ = draw_means(values, np.arange(200))
    assert sizes.tolist() == [5] * 200
    assert copies.std(axis=0) == pytest.approx(alone.std(axis=0), rel=1e-9)
