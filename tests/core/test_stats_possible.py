"""Which published scores are possible, against every confusion table by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from claimlab.core.stats.possible import possible, printed_range


def published(hits: int, rejected: int, positives: int, negatives: int) -> dict[str, str]:
    truth = np.repeat([1, 0], [positives, negatives])
    answers = np.concatenate(
        [np.arange(positives) < hits, ~(np.arange(negatives) < rejected)]
    ).astype(int)
    scores = {
        "accuracy": accuracy_score(truth, answers),
        "precision": precision_score(truth, answers, zero_division=0),
        "recall": recall_score(truth, answers),
        "f1": f1_score(truth, answers),
        "macro_f1": f1_score(truth, answers, average="macro"),
    }
    return {name: f"{100 * score:.1f}" for name, score in scores.items()}


def test_the_scores_of_every_table_are_possible() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        positives, negatives = rng.integers(5, 400, size=2).tolist()
        hits, rejected = int(rng.integers(positives + 1)), int(rng.integers(negatives + 1))
        assert possible(positives, negatives, published(hits, rejected, positives, negatives))


def test_a_changed_score_is_mostly_impossible() -> None:
    rng = np.random.default_rng(1)
    caught = 0
    for _ in range(40):
        scores = published(int(rng.integers(60, 90)), int(rng.integers(120, 180)), 100, 200)
        scores["f1"] = f"{float(scores['f1']) + 1.7:.1f}"
        caught += possible(100, 200, scores) is False
    assert caught >= 36


def test_digits_and_units_are_as_printed() -> None:
    assert printed_range("84.1") == pytest.approx((0.8405, 0.842))
    assert printed_range("0.841") == pytest.approx((0.8405, 0.842))
    assert printed_range("84%") == pytest.approx((0.835, 0.85))
    assert possible(3, 4, {"accuracy": "0.90"}) is False, "6 of 7 is .857, 7 of 7 is 1"
    assert possible(10**6, 10**6, {"accuracy": "0.9"}) is None
