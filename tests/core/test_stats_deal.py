"""Dealing: groups whole, every cell near its share, rows that must come first do, and the cost
grows with rows.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.stats.codes import codes_of, joined, linked
from claimlab.core.stats.deal import deal

FOLDS = (0.25, 0.25, 0.25, 0.25)
SHARES = (0.7, 0.1, 0.2)


@pytest.mark.parametrize("groups", ["rows", "pairs", "fives", "skewed"])
def test_many_cells_stay_even_whatever_the_groups(groups: str) -> None:
    rng = np.random.default_rng(3)
    n = 20_000
    cells = rng.integers(0, 2, n) * 30 + np.minimum(rng.geometric(0.15, n), 30) - 1
    of = {
        "rows": np.arange(n),
        "pairs": np.arange(n) // 2,
        "fives": rng.integers(0, n // 5, n),
        "skewed": np.minimum(rng.zipf(1.5, n), 9_000),
    }[groups]
    side = deal(cells, of, SHARES, 0)
    first = np.full(int(of.max()) + 1, -1)
    first[of] = side
    assert (first[of] == side).all(), "no group is parted"
    assert np.bincount(side) / n == pytest.approx(SHARES, abs=0.005)
    for cell in np.flatnonzero(np.bincount(cells) > 300):
        assert np.bincount(side[cells == cell], minlength=3) / (
            cells == cell
        ).sum() == pytest.approx(SHARES, abs=0.04)


def test_more_cells_than_a_number_could_code_do_not_run_into_each_other() -> None:
    cells = np.repeat(np.arange(400), 10)
    side = deal(cells, np.arange(4_000), SHARES, 1)
    tally = np.zeros((400, 3), int)
    np.add.at(tally, (cells, side), 1)
    assert (tally == [7, 1, 2]).all()


def test_rows_that_come_first_take_their_group_along_and_count() -> None:
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 500, 2_000)
    first = groups < 50
    flagged = first & (rng.random(2_000) < 0.4)
    side = deal(np.zeros(2_000, np.int64), groups, SHARES, 0, first=flagged)
    assert (side[np.isin(groups, groups[flagged])] == 0).all()
    assert np.bincount(side) / 2_000 == pytest.approx(SHARES, abs=0.01)


def test_seeds_matter_and_repeat() -> None:
    groups = np.random.default_rng(0).integers(0, 300, 1_000)
    cells = np.random.default_rng(1).integers(0, 6, 1_000)
    one, again, other = (deal(cells, groups, SHARES, seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_nothing_to_deal() -> None:
    assert deal(np.empty(0, np.int64), np.empty(0, np.int64), SHARES, 0).tolist() == []


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(40, 400), st.integers(1, 60), st.integers(2, 3))
def test_folds_keep_groups_whole_and_classes_spread(
    seed: int, n: int, groups: int, classes: int
) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n)])
    g = rng.integers(0, groups, len(y))
    fold = deal(y, g, FOLDS, seed)
    assert set(fold) <= {0, 1, 2, 3}
    for name in np.unique(g):
        assert len(set(fold[g == name])) == 1


def test_folds_of_single_rows_are_stratified() -> None:
    y = np.array([0] * 1000 + [1] * 40)
    fold = deal(y, np.arange(len(y)), FOLDS, 3)
    assert [int(((fold == k) & (y == 1)).sum()) for k in range(4)] == [10, 10, 10, 10]
    assert [int((fold == k).sum()) for k in range(4)] == [260, 260, 260, 260]


def test_one_giant_group_does_not_unbalance_the_rest() -> None:
    y = np.array([0, 1] * 300)
    groups = np.where(np.arange(600) < 200, 0, np.arange(600))
    fold = deal(y, groups, FOLDS, 0)
    sizes = sorted(np.bincount(fold, minlength=4))
    assert sizes[-1] <= 300
    assert sizes[0] >= 90


def test_rows_are_linked_through_either_column() -> None:
    text = pl.Series(["a", "a", "b", "c", None, None])
    group = pl.Series([None, "g", "g", None, None, "h"])
    codes = linked([codes_of(text), codes_of(group)], 6)
    assert codes[0] == codes[1] == codes[2]
    assert len({codes[0], codes[3], codes[4], codes[5]}) == 4


@pytest.mark.parametrize("links", [0, 30, 300, 3_000])
def test_components_are_those_of_scipy(links: int) -> None:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = 600
    for seed in range(20):
        rng = np.random.default_rng(seed)
        left, right = rng.integers(0, n, (2, links))
        peer = connected_components(
            coo_matrix((np.ones(links), (left, right)), shape=(n, n)), directed=False
        )[1]
        np.testing.assert_array_equal(joined(left, right, n), peer)
    order = rng.permutation(n)  # one long chain, in no order
    assert not joined(order[1:], order[:-1], n).any()
