"""Matthews' correlation equals scikit-learn's, failures and strange answers included."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef

from claimlab.evaluate.metric import answers
from claimlab.evaluate.metrics.mcc import METRIC

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
        assert found == pytest.approx(matthews_corrcoef(truth, said), abs=1e-9)


def test_a_constant_answer_scores_nothing() -> None:
    truth = ["ay"] * 90 + ["bee"] * 10
    assert METRIC.measure(answers(truth, ["ay"] * 100)).value == 0.0
    assert METRIC.measure(answers(truth, ["bee"] * 90 + ["ay"] * 10)).value == pytest.approx(-1.0)
