"""What a board says of runs, from resamples whose errors are known: worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from claimlab.core.stats.scores import Floats
from claimlab.core.units import Units
from claimlab.evaluate.board import Board, placed
from claimlab.evaluate.common_draws import Drawn

EMPTY = Board("veracity", "planted", "macro_f1", "macro-F1", 400, 400, [])
DRAWS = 4_000


def drawn(scores: list[float], noise: list[Floats], effective: float = 400) -> Drawn:
    points = np.array(scores)
    return Drawn(points, points + np.stack(noise, axis=1), Units.records(400), effective)


def normal(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=DRAWS)


def test_the_smallest_difference_is_that_of_the_effective_number_of_groups() -> None:
    """Of 400 groups that tell as much as 12: the quantiles are Student's with 11 degrees of freedom,
    2.201 and 0.876, widened by the root of 12/11, of an error of 2 points."""
    errors = [0.02 * normal(0), 0 * normal(1)]
    board, _ = placed(EMPTY, ["a", "b"], drawn([0.7, 0.69], errors, effective=12))
    by_hand = 0.02 * np.sqrt(12 / 11) * (stats.t.ppf(0.975, 11) + stats.t.ppf(0.8, 11))
    assert by_hand == pytest.approx(0.0643, abs=1e-4)
    assert board.detectable == pytest.approx(by_hand, rel=0.04)


def test_clearly_above_means_above_every_run_that_may_be_the_best() -> None:
    """The third is 10 points below the first, with nearly the same errors, and 9 below the second,
    whose own error is 7 points: the second is not clearly above it."""
    shared, own = 0.03 * normal(0), 0.07 * normal(1)
    noise = [shared, shared + own, shared + 0.004 * normal(2)]
    board, p = placed(EMPTY, ["first", "second", "third"], drawn([0.8, 0.79, 0.7], noise))
    assert board.tied == ["first", "second"]
    assert p["first", "third"] < 0.01
    assert p["second", "third"] > 0.05
    assert board.above == ()
    assert board.headline().startswith("first and second cannot be told apart")
    assert "above" not in board.headline()


def test_clearly_above_names_the_runs_that_all_of_the_best_are_above() -> None:
    noise = [0.01 * normal(seed) for seed in range(4)]
    board, _ = placed(EMPTY, ["d", "a", "c", "b"], drawn([0.5, 0.8, 0.6, 0.795], noise))
    assert [standing.name for standing in board.standings] == ["a", "b", "c", "d"]
    assert board.ranks == {"a": "1-2", "b": "1-2", "c": "3", "d": "4"}
    assert board.above == ("c", "d")
    assert board.headline().endswith("; both are above c and d.")


def test_where_lower_is_better_the_lowest_is_first() -> None:
    noise = [0.01 * normal(seed) for seed in range(2)]
    board, p = placed(EMPTY, ["high", "low"], drawn([0.3, 0.1], noise), higher=False)
    assert [standing.name for standing in board.standings] == ["low", "high"]
    assert board.above == ("high",)
    assert p["low", "high"] == p["high", "low"] < 0.01


def test_the_records_that_a_gap_needs_grow_with_the_square_of_what_can_be_seen() -> None:
    """Errors of 2 points show 2.83 times as much with many groups, 5.66 points: for a gap of one
    point, 5.66 squared as many of the 400 records."""
    errors = [0.02 * normal(3), 0 * normal(1)]
    board, _ = placed(EMPTY, ["a", "b"], drawn([0.7, 0.69], errors, effective=100_000))
    reach = 0.02 * (1.96 + 0.8416)
    assert board.detectable == pytest.approx(reach, rel=0.04)
    assert board.needed == pytest.approx(400 * (reach / 0.01) ** 2, rel=0.08)
    assert board.needed is not None
    assert f"about {board.needed:,} records would be needed" in board.limits()
