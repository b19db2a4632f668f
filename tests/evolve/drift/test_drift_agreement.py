"""Agreement of judges against values from the literature."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.evolve.drift.agreement import agreement, icc, krippendorff

nan = float("nan")
# Four observers, twelve units, gaps: the worked example of Krippendorff (2011).
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
)
# Six subjects, four judges: table 2 of Shrout and Fleiss (1979).
JUDGES = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float).T


def test_alpha_of_the_worked_example() -> None:
    assert krippendorff(OBSERVERS, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff(OBSERVERS) == pytest.approx(0.849, abs=5e-4)


def test_icc_of_the_published_table() -> None:
    assert icc(JUDGES) == pytest.approx(0.29, abs=5e-3)


def test_perfect_agreement_is_one_and_nothing_to_compare_is_null() -> None:
    same = np.array([[1.0, 2, 3], [1, 2, 3]])
    assert krippendorff(same) == pytest.approx(1.0)
    assert icc(same) == pytest.approx(1.0)
    assert agreement(same[:1]) == {"judges": 1, "units": 0, "alpha": None, "icc": None}
    assert krippendorff(np.ones((2, 4))) is None  # nothing varies: neither agreement nor chance can be told


def test_chance_is_near_nought() -> None:
    drawn = np.random.default_rng(0).integers(1, 11, size=(2, 4_000)).astype(float)
    found = krippendorff(drawn)
    assert found is not None
    assert abs(found) < 0.05
