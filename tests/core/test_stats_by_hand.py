"""Uncertainty that must be there: worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.core.stats.attribution import attribute


def test_cells_that_are_empty_leave_the_shares_uncertain() -> None:
    """A detector that gave the answer of the shortcut on all of 100 records may not do so on the
    next: 95% of what two records of a prior allow is some two or three points."""
    truth = np.arange(100) % 2
    shortcut = np.where(np.arange(100) < 70, truth, 1 - truth)
    found = attribute(truth, shortcut, [shortcut], np.arange(100), 2)
    assert found is not None
    (share, ends), (own, own_ends) = found.shortcuts[0], found.own
    assert share == pytest.approx(1, abs=0.01)
    assert own == pytest.approx(0, abs=0.01)
    assert ends is not None
    assert own_ends is not None
    assert 0.02 < ends[1] - ends[0] < 0.15
    assert 0.01 < own_ends[1] - own_ends[0] < 0.15
