from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from claimlab.audit.fair import Rule, assign_folds, compact, move_labels
from claimlab.audit.scores import clustered_interval, confusion, macro_f1, majority_f1, stratified_f1
from claimlab.core.codes import codes_of, linked


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=60))
def test_macro_f1_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    truth, guess = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
    ours = float(macro_f1(confusion(truth, guess, 3)))
    assert ours == pytest.approx(f1_score(truth, guess, average="macro"), abs=1e-12)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=4))
def test_baselines_are_what_they_say(sizes: list[int]) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    always = np.full(len(y), int(np.argmax(sizes)))
    assert majority_f1(np.array(sizes)) == pytest.approx(f1_score(y, always, average="macro"), abs=1e-12)
    assert stratified_f1(np.array(sizes)) == pytest.approx(1 / len(sizes))


def test_a_draw_from_the_distribution_scores_one_over_k() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, 200_000, p=[0.7, 0.2, 0.1])
    guess = rng.permutation(y)
    assert f1_score(y, guess, average="macro") == pytest.approx(stratified_f1(np.bincount(y)), abs=0.005)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(40, 400), st.integers(1, 60), st.integers(2, 3))
def test_folds_keep_groups_whole_and_classes_spread(seed: int, n: int, groups: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n)])
    g = compact(rng.integers(0, groups, len(y)))
    fold = assign_folds(y, g, 4, seed)
    assert set(fold) <= {0, 1, 2, 3}
    for name in np.unique(g):
        assert len(set(fold[g == name])) == 1


def test_folds_of_single_rows_are_stratified() -> None:
    y = np.array([0] * 1000 + [1] * 40)
    fold = assign_folds(y, np.arange(len(y)), 4, seed=3)
    assert [int(((fold == k) & (y == 1)).sum()) for k in range(4)] == [10, 10, 10, 10]
    assert [int((fold == k).sum()) for k in range(4)] == [260, 260, 260, 260]


def test_one_giant_group_does_not_unbalance_the_rest() -> None:
    y = np.array([0, 1] * 300)
    groups = compact(np.where(np.arange(600) < 200, 0, np.arange(600)))
    fold = assign_folds(y, groups, 4, seed=0)
    sizes = sorted(np.bincount(fold, minlength=4))
    assert sizes[-1] <= 300
    assert sizes[0] >= 90


def test_moved_labels_keep_their_counts_and_their_groups_purity() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(50), 6)
    y = np.repeat(rng.integers(0, 2, 50), 6)  # every group is of one class
    moved = move_labels(y, groups, np.random.default_rng(2))
    assert np.array_equal(np.bincount(moved), np.bincount(y))
    assert all(len(set(moved[groups == g])) == 1 for g in range(50))
    assert not np.array_equal(moved, y)


def test_the_interval_covers_and_respects_groups() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(100):
        truth = rng.integers(0, 2, 400)
        guess = np.where(rng.random(400) < 0.75, truth, 1 - truth)
        low, high = clustered_interval(truth, [guess], np.arange(400), 2, seed=trial)
        covered += low <= 0.75 <= high
    assert 88 <= covered <= 100
    copies = np.repeat(np.arange(40), 10)
    truth, guess = np.repeat(rng.integers(0, 2, 40), 10), np.repeat(rng.integers(0, 2, 40), 10)
    narrow = np.ptp(clustered_interval(truth, [guess], np.arange(400), 2, seed=0))
    wide = np.ptp(clustered_interval(truth, [guess], copies, 2, seed=0))
    assert wide > 2 * narrow, "ten copies of a row are one piece of evidence, not ten"


def test_the_rule_is_as_written() -> None:
    rule = Rule()
    assert rule.verdict(low=0.56, best=0.50, p=0.05) == "fail"
    assert rule.verdict(low=0.54, best=0.50, p=0.05) == "warn"
    assert rule.verdict(low=0.49, best=0.50, p=0.05) == "pass"
    assert rule.verdict(low=0.90, best=0.50, p=0.10) == "pass"


def test_rows_are_linked_through_either_column() -> None:
    text = pl.Series(["a", "a", "b", "c", None, None])
    group = pl.Series([None, "g", "g", None, None, "h"])
    codes = linked([codes_of(text), codes_of(group)], 6)
    assert codes[0] == codes[1] == codes[2]
    assert len({codes[0], codes[3], codes[4], codes[5]}) == 4
