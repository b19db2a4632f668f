"""Balanced accuracy equals scikit-learn's, failures and strange answers included."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from claimlab.evaluate.answers import answers
from claimlab.evaluate.metrics.balanced_accuracy import METRIC

NAMES = ("ay", "bee", "cee", "dee")


@pytest.mark.parametrize("seed", range(40))
def test_it_equals_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    truth = [*NAMES[:classes], *rng.choice(NAMES[:classes], 300)]
    words = [*NAMES[:classes], *(("other", "failed") if seed % 2 else ())]
    said = [t if rng.random() < 0.6 else str(rng.choice(words)) for t in truth]
    found = METRIC.measure(answers(truth, [None if s == "failed" else s for s in said])).value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # answers that are none of the classes
        assert found == pytest.approx(balanced_accuracy_score(truth, said), abs=1e-9)


def test_a_constant_answer_scores_one_by_the_number_of_classes() -> None:
    truth = ["ay"] * 90 + ["bee"] * 10
    assert METRIC.measure(answers(truth, ["ay"] * 100)).value == 0.5
