"""Agreement of judges against values from the literature."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab_simulate.evolve.drift.agreement import agreement, icc

# Six subjects, four judges: table 2 of Shrout and Fleiss (1979).
JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
).T


def test_icc_of_the_published_table() -> None:
    assert icc(JUDGES) == pytest.approx(0.29, abs=5e-3)


def test_perfect_agreement_is_one_and_nothing_to_compare_is_null() -> None:
    same = np.array([[1.0, 2, 3], [1, 2, 3]])
    assert icc(same) == pytest.approx(1.0)
    assert agreement(same[:1]) == {"judges": 1, "units": 0, "alpha": None, "icc": None}
