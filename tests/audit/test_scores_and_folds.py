from __future__ import annotations

import numpy as np

from claimlab.audit.fair import Rule, move_labels


def test_moved_labels_keep_their_counts_and_their_groups_purity() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(50), 6)
    y = np.repeat(rng.integers(0, 2, 50), 6)  # every group is of one class
    moved = move_labels(y, groups, np.random.default_rng(2))
    assert np.array_equal(np.bincount(moved), np.bincount(y))
    assert all(len(set(moved[groups == g])) == 1 for g in range(50))
    assert not np.array_equal(moved, y)


def test_the_rule_is_as_written() -> None:
    rule = Rule()
    assert rule.verdict(low=0.56, best=0.50, p=0.05) == "fail"
    assert rule.verdict(low=0.54, best=0.50, p=0.05) == "warn"
    assert rule.verdict(low=0.49, best=0.50, p=0.05) == "pass"
    assert rule.verdict(low=0.90, best=0.50, p=0.10) == "pass"
