from __future__ import annotations

import numpy as np
import pytest

from claimlab.audit import cdl as bf


def planted(n: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = (rng.random((n, width)) < 0.3).astype(np.uint8)
    return x, np.where(x[:, 1] == 1, 1, x[:, width - 1]).astype(np.int64)


@pytest.mark.parametrize("width", [3, 64, 65, 130])
def test_packing_keeps_rows_apart_and_counts_them(width: int) -> None:
    x, y = planted(400, width, 0)
    patterns, counts = bf.fold(x, y, 2)
    rows, back = np.unique(x, axis=0, return_inverse=True)
    assert patterns.shape[1] == len(rows)
    for k in range(2):
        assert np.array_equal(counts[k], np.bincount(back.ravel()[y == k], minlength=len(rows)))


@pytest.mark.parametrize("width", [3, 8, 70])
def test_leaves_part_the_rows_and_are_as_many_as_asked(width: int) -> None:
    x, y = planted(600, width, 1)
    patterns, counts = bf.fold(x, y, 2)
    leaves = bf.grow(patterns, counts, 5, width, np.random.default_rng(0))
    assert 1 <= len(leaves) <= 5
    assert np.array_equal(
        sum(leaf.holds(patterns).astype(int) for leaf in leaves), np.ones(patterns.shape[1])
    )


def test_it_learns_what_two_features_say() -> None:
    x, y = planted(3_000, 6, 2)
    guess = bf.vote(x[:2_000], y[:2_000], x[2_000:], 2)
    assert (guess == y[2_000:]).mean() > 0.95


def test_same_seed_same_votes_and_labels_by_lot_teach_nothing() -> None:
    x, _ = planted(1_000, 20, 3)
    lots = np.random.default_rng(9).integers(0, 2, 1_000)
    one, two = (bf.vote(x[:700], lots[:700], x[700:], 2, trees=20) for _ in range(2))
    assert np.array_equal(one, two)
    assert (one == lots[700:]).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("cost", [0, 10**9])
def test_both_ways_of_drawing_a_sample_have_its_mean(
    cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bf, "MANY_CELLS", 0)
    monkeypatch.setattr(bf, "DRAWS_PER_CELL", cost)
    counts = np.array([[50.0, 0.0, 3.0], [7.0, 40.0, 0.0]])
    rng = np.random.default_rng(0)
    sample = bf.Bootstrap(counts)
    draws = np.stack([sample.draw(rng) for _ in range(2_000)])
    assert (draws.sum(axis=(1, 2)) == 100).all()
    assert draws.mean(axis=0) == pytest.approx(counts, abs=0.6)
    assert draws.std(axis=0)[0, 0] == pytest.approx(5.0, abs=0.4)
