"""Matthews' correlation equals scikit-learn's; what has no answer costs the most that it can."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef

from claimlab.evaluate.answers import answers
from claimlab.evaluate.metrics.mcc import METRIC

NAMES = ("ay", "bee", "cee", "dee")


def made_up(seed: int, classes: int, size: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    truth = [*NAMES[:classes], *(str(name) for name in rng.choice(NAMES[:classes], size))]
    said = [t if rng.random() < 0.6 else str(rng.choice(NAMES[:classes])) for t in truth]
    return truth, said


@pytest.mark.parametrize("seed", range(20))
def test_it_equals_scikit_learns(seed: int) -> None:
    truth, said = made_up(seed, 2 + seed % 3, 300)
    found = METRIC.measure(answers(truth, said)).value
    assert found == pytest.approx(matthews_corrcoef(truth, said), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_no_wrong_answers_to_the_gaps_give_less(seed: int) -> None:
    classes = 2 + seed % 2
    truth, said = made_up(seed, classes, 30 if seed % 4 else 12)
    gaps = list(np.random.default_rng(seed).choice(len(truth), 5, replace=False))
    left: list[str | None] = [None if i in gaps else word for i, word in enumerate(said)]
    found = METRIC.measure(answers(truth, left)).value
    fills = product(*([name for name in NAMES[:classes] if name != truth[i]] for i in gaps))
    lowest = 1.0
    for fill in fills:
        answered = said.copy()
        for i, word in zip(gaps, fill, strict=True):
            answered[i] = word
        lowest = min(lowest, float(matthews_corrcoef(truth, answered)))
    assert found is not None
    assert found <= lowest + 1e-9
    assert found == pytest.approx(lowest, abs=1e-9 if classes == 2 else 0.06)


def test_a_constant_answer_scores_nothing() -> None:
    truth = ["ay"] * 90 + ["bee"] * 10
    assert METRIC.measure(answers(truth, ["ay"] * 100)).value == 0.0
    assert METRIC.measure(answers(truth, ["bee"] * 90 + ["ay"] * 10)).value == pytest.approx(-1.0)
