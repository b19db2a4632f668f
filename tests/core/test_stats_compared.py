"""Two raters side by side: percent, kappa and alpha with intervals that hold what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from claimlab.core.stats.agreement import compared


def test_two_raters_have_percent_kappa_and_alpha_with_intervals() -> None:
    """Raters who disagree on a fifth of 2,000 units, at random: kappa and alpha are .6, and
    intervals hold them.
    """
    rng = np.random.default_rng(1)
    flags = rng.integers(0, 2, 2_000)
    others = np.where(rng.random(2_000) < 0.2, 1 - flags, flags)
    one, other = (["wrong" if flag else "sound" for flag in column] for column in (flags, others))
    found = compared(one, other)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(one, other), abs=1e-4)
    for name, truth in (("agreement", 0.8), ("kappa", 0.6), ("alpha", 0.6)):
        low, high = found[f"{name}_interval"]
        assert low < truth < high, name
        assert high - low < 0.1, name


def test_few_units_have_an_interval_of_the_share_alone_and_none_have_nothing() -> None:
    few = compared(["a", "b"] * 9, ["a", "a"] * 9)
    assert (few["kappa_interval"], few["alpha_interval"]) == (None, None)
    assert few["agreement_interval"] is not None
    assert set(compared([], []).values()) == {0, None}


def test_rare_answers_do_not_hide_agreement() -> None:
    """Gwet's example: 118 and 2 agree, 5 and 0 do not; kappa is near 0, AC1 and PABAK are not."""
    one = ["+"] * 118 + ["+"] * 5 + ["-"] * 2
    other = ["+"] * 118 + ["-"] * 5 + ["+"] * 2
    row = compared(one, other)
    agreed = 118 / 125
    share = (123 + 120) / 250
    chance = 2 * share * (1 - share)
    assert row["kappa"] < 0.05
    assert row["ac1"] == pytest.approx((agreed - chance) / (1 - chance), abs=1e-4)
    assert row["pabak"] == pytest.approx(2 * agreed - 1, abs=1e-4)
