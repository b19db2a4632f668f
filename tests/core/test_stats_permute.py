"""Permutations that respect groups really permute, keep what belongs together, and give p-values
that hold.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from claimlab.core.stats.permute import FEWEST_GROUPS, Exchange, like_sizes, permutation_p


def moved(exchange: Exchange, draws: int = 30) -> float:
    rng = np.random.default_rng(0)
    fold = np.zeros((1, len(exchange.labels)), np.int8)
    return float(
        np.mean([(exchange.draw(rng, fold)[0] != exchange.labels).mean() for _ in range(draws)])
    )


def test_pairs_of_both_classes_swap_inside_the_pair() -> None:
    y, pairs = np.tile([0, 1], 400), np.repeat(np.arange(400), 2)
    exchange = Exchange(y, pairs)
    labels, _ = exchange.draw(np.random.default_rng(1), np.zeros((1, 800), np.int8))
    assert all(labels[pairs == p].sum() == 1 for p in range(400)), "each pair still has one of each"
    assert moved(exchange) == pytest.approx(exchange.moved_freely, abs=0.03)


def test_events_of_one_class_swap_with_events_of_like_size() -> None:
    rng = np.random.default_rng(2)
    size = rng.integers(1, 40, 200)
    events = np.repeat(np.arange(200), size)
    y = np.repeat(rng.integers(0, 2, 200), size)
    exchange = Exchange(y, events)
    labels, _ = exchange.draw(np.random.default_rng(3), np.zeros((1, len(y)), np.int8))
    assert all(len(set(labels[events == e])) == 1 for e in range(200)), (
        "an event still has one class"
    )
    assert moved(exchange) > 0.9 * exchange.moved_freely


def test_rows_without_groups_are_permuted_freely() -> None:
    y = np.repeat([0, 1, 2], [500, 300, 200])
    exchange = Exchange(y, np.arange(1_000))
    labels, _ = exchange.draw(np.random.default_rng(4), np.zeros((1, 1_000), np.int8))
    assert np.array_equal(np.bincount(labels), np.bincount(y))
    assert moved(exchange) == pytest.approx(1 - 0.25 - 0.09 - 0.04, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(10, 300), st.integers(1, 80))
def test_folds_travel_with_the_labels_and_keep_groups_whole(seed: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    y = rng.integers(0, 3, n)
    fold = rng.integers(0, 4, (3, groups))[:, group]
    labels, carried = Exchange(y, group).draw(rng, fold)
    assert carried.shape == fold.shape
    for g in np.unique(group):
        assert all(len(set(row[group == g])) == 1 for row in carried)
    assert set(labels) <= set(y)
    if (
        len(np.unique(group)) == n
    ):  # single rows: each takes label and folds of one other row together
        tuples = sorted(map(tuple, np.vstack([y, fold]).T.tolist()))
        assert sorted(map(tuple, np.vstack([labels, carried]).T.tolist())) == tuples


@given(st.lists(st.integers(1, 500), min_size=1, max_size=200))
def test_no_bin_of_sizes_holds_only_a_few_groups(sizes: list[int]) -> None:
    bins = like_sizes(np.array(sizes))
    counts = np.unique(bins, return_counts=True)[1]
    assert counts.min() >= min(FEWEST_GROUPS, len(sizes))
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(bins[order]) >= 0).all(), "larger groups are never in a smaller bin"


def test_p_counts_itself_and_reaches_further_than_the_count() -> None:
    permuted = np.linspace(0.45, 0.55, 19)
    assert permutation_p(0.40, permuted, 0.01) == 1.0
    assert permutation_p(0.55, permuted, 0.01) == pytest.approx(2 / 20)
    assert permutation_p(0.56, permuted, 0.01) == pytest.approx(1 / 20, abs=0.02)
    assert permutation_p(0.90, permuted, 0.01) < 1e-6
    still = np.full(19, 0.5)
    assert permutation_p(0.5, still, 0.02) == 1.0
    assert permutation_p(0.51, still, 0.02) == pytest.approx(1 / 20), (
        "within the score's own error it is luck"
    )
    assert permutation_p(0.7, still, 0.02) < 1e-6


def test_p_is_uniform_under_the_null() -> None:
    rng = np.random.default_rng(5)
    draws = rng.normal(0.5, 0.02, (4_000, 21))
    p = np.array([permutation_p(row[0], row[1:], 0.02) for row in draws])
    for level in (0.001, 0.01, 0.05, 0.2):
        limit = level + norm.ppf(0.999) * np.sqrt(level * (1 - level) / len(p))
        assert (p <= level).mean() <= limit
