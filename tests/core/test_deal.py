"""Dealing: groups whole, every cell near its share, rows that must come first do, and the cost grows with rows."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.core.deal import deal

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
        assert np.bincount(side[cells == cell], minlength=3) / (cells == cell).sum() == pytest.approx(SHARES, abs=0.04)


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
