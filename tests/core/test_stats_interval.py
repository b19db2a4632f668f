"""Intervals hold the true value as often as they say, also when records come in groups."""

from __future__ import annotations

import time

import numpy as np
import pytest

from claimlab.core.stats.interval import BUCKETS, DRAWS, interval, kinds, redraw, tail
from claimlab.core.stats.scores import Floats, accuracy, macro_f1
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.confusion import confusion, table_interval

SKEWED = (0.6, 0.25, 0.15)


def world(
    rng: np.random.Generator, groups: int, share: tuple[float, ...] = SKEWED, size: float = 3.0
) -> Answers:
    """Groups of records that share a class and a difficulty: records of one group tell much the
    same.
    """
    k = len(share)
    group = np.repeat(np.arange(groups), 1 + rng.poisson(size - 1, groups))
    n = len(group)
    truth = np.where(
        rng.random(n) < 0.7, rng.choice(k, groups, p=share)[group], rng.choice(k, n, p=share)
    )
    skill = np.clip(0.6 + 0.25 * rng.standard_normal(groups), 0, 1)[group]
    guess = np.where(
        rng.random(n) < skill, truth, rng.choice(k + 2, n, p=[*(np.array(share) * 0.9), 0.04, 0.06])
    )
    return Answers(tuple("abc"[:k]), truth, guess, group)


def both(counts: Floats) -> Floats:
    return np.stack([macro_f1(counts), accuracy(counts)], axis=-1)


def cover(groups: int, worlds: int, draws: int, seed: int) -> tuple[float, float]:
    """How often the intervals of macro-F1 and of accuracy hold their true values."""
    rng = np.random.default_rng(seed)
    true = both(confusion(world(rng, 300_000)).astype(float))
    held = np.zeros(2)
    for _ in range(worlds):
        found = table_interval(world(rng, groups), both, seed=int(rng.integers(2**31)), draws=draws)
        held += [f is not None and f[0] <= t <= f[1] for f, t in zip(found, true, strict=True)]
    return float(held[0] / worlds), float(held[1] / worlds)


def test_cover_is_about_right() -> None:
    # 250 worlds: a true cover of 95 % gives less than 90.5 % or more than 99 % about once in a
    # thousand times
    for share in cover(groups=60, worlds=250, draws=300, seed=1):
        assert 0.905 <= share <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("groups", [40, 150])
def test_cover_is_93_to_97_per_cent(groups: int) -> None:
    # 2,000 worlds of 40 or 150 groups of about 3 records: the standard error of the cover is half a
    # point
    for share in cover(groups, worlds=2_000, draws=500, seed=groups):
        assert 0.93 <= share <= 0.97


def test_ignoring_groups_would_be_too_sure() -> None:
    found = world(np.random.default_rng(4), 150, size=12)
    alone = Answers(found.classes, found.truth, found.guess, np.arange(found.n))
    (grouped,), (single,) = (table_interval(a, macro_f1) for a in (found, alone))
    assert grouped is not None
    assert single is not None
    assert grouped[1] - grouped[0] > 1.3 * (single[1] - single[0])


def test_kinds_lose_no_record() -> None:
    found = world(np.random.default_rng(3), 500)
    told = kinds(found.cluster, found.cell, found.cells)
    assert told.groups == 500
    assert len(told.times) < 500
    whole = (told.cells.T @ told.times).reshape(3, 5)
    assert np.array_equal(whole, confusion(found))


def test_resamples_are_those_of_drawing_groups_one_by_one() -> None:
    """Mean and spread of the fast way equal those of the plain way: draw groups with replacement,
    count, score.
    """
    found = world(np.random.default_rng(9), 60)
    told = kinds(found.cluster, found.cell, found.cells)
    fast = redraw(told, lambda flat: macro_f1(flat.reshape(-1, 3, 5)), draws=4_000)
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(found.cluster == g) for g in range(60)]
    plain = [
        float(
            macro_f1(
                confusion(found.take(np.concatenate([rows[g] for g in rng.integers(60, size=60)])))
            )
        )
        for _ in range(4_000)
    ]
    assert fast.mean() == pytest.approx(np.mean(plain), abs=4 * np.std(plain) / np.sqrt(4_000))
    assert fast.std() == pytest.approx(np.std(plain), rel=0.08)


def test_very_many_kinds_of_group_are_put_together_without_changing_the_interval() -> None:
    rng = np.random.default_rng(2)
    groups, cells = 12_000, 400
    cluster = np.repeat(np.arange(groups), 4)
    bias = np.repeat(rng.normal(size=groups), 4)  # records of a group resemble each other
    cell = np.clip((rng.normal(size=len(cluster)) + bias) * 40 + 200, 0, cells - 1).astype(np.int64)
    table = kinds(cluster, cell, cells)
    assert (table.groups, int(table.times.sum())) == (groups, BUCKETS)
    assert np.array_equal(table.cells.T @ table.times, np.bincount(cell, minlength=cells))
    drawn = redraw(table, lambda counts: counts @ np.arange(cells) / counts.sum(axis=1))
    expected = (
        np.bincount(cluster, weights=cell).std() / 4 / np.sqrt(groups)
    )  # the standard error of a mean of groups
    assert drawn.std() == pytest.approx(expected, rel=0.06)


def test_the_same_seed_gives_the_same_interval_and_order_does_not_matter() -> None:
    found = world(np.random.default_rng(7), 90)
    mixed = found.take(np.random.default_rng(0).permutation(found.n))
    assert table_interval(found, macro_f1, seed=5) == table_interval(mixed, macro_f1, seed=5)
    assert table_interval(found, macro_f1, seed=5) != table_interval(found, macro_f1, seed=6)


def test_few_groups_widen_it_and_one_gives_none() -> None:
    assert tail(5) < tail(50) < tail(5_000) < 0.025
    assert tail(10**7) == pytest.approx(0.025, abs=1e-5)
    one = Answers(("a", "b"), np.array([0, 1, 1]), np.array([0, 1, 0]), np.zeros(3, dtype=np.int64))
    assert table_interval(one, macro_f1) == [None]
    assert interval(np.array([np.nan] * 50 + [0.5] * 50), units=9) is None


def test_two_thousand_draws_of_ten_thousand_rows_take_no_second() -> None:
    found = world(np.random.default_rng(2), 3_400)
    assert found.n > 10_000
    start = time.process_time()
    table_interval(found, macro_f1, draws=DRAWS)
    assert time.process_time() - start < 1.0
