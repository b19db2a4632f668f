"""Cramér's V with an interval: SciPy's where nothing is corrected, and the true value inside as
often as promised.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.checks.balance import Association, association, phi_squared, verdict_of
from claimlab.audit.fair import Deal
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset


def measured(
    y: np.ndarray, slices: np.ndarray, groups: np.ndarray | None = None, seed: int = 0
) -> Association:
    mine = np.arange(len(y)) if groups is None else groups
    deal = Deal(y, mine, int(y.max()) + 1, AuditSettings(repeats=1), seed)
    return association(deal, np.arange(len(y)), slices, 20)


def test_chi_squared_is_scipys() -> None:
    from scipy.stats.contingency import association as scipy_association

    tables = np.random.default_rng(0).integers(1, 40, size=(5, 4, 3))
    v = [scipy_association(table, method="cramer") for table in tables]
    assert np.allclose(np.sqrt(phi_squared(tables.astype(float)) / 2), v)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 4])
def test_the_interval_holds_the_true_value(size: int) -> None:
    """Two even slices with 0.5 +- 0.15 of one class: V is 0.3. Groups of one label and slice are
    one observation.
    """
    rng = np.random.default_rng(5)
    hits, runs = 0, 120
    for seed in range(runs):
        slices = rng.integers(0, 2, 300)
        y = (rng.random(300) < np.where(slices == 1, 0.65, 0.35)).astype(np.int64)
        groups = np.repeat(np.arange(300), size)
        low, high = measured(np.repeat(y, size), np.repeat(slices, size), groups, seed).interval
        hits += low <= 0.3 <= high
    assert hits >= 0.9 * runs


def test_chance_alone_is_never_an_alarm() -> None:
    """Rows of one group share their label and their slice, so that rows counted one by one would
    look associated.
    """
    rng = np.random.default_rng(2)
    verdicts = []
    for seed in range(60):
        groups = np.repeat(np.arange(40), 6)
        y, slices = (np.repeat(rng.integers(0, k, 40), 6) for k in (2, 4))
        verdicts.append(verdict_of(measured(y, slices, groups, seed).interval))
    assert sum(v in ("warn", "fail") for v in verdicts) <= 3
    assert "inconclusive" in verdicts  # 40 groups cannot rule out a V of 0.2


def balance(n: int, shift: float) -> str:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, n)
    true = rng.random(n) < 0.5 + np.where(kind == 1, shift, -shift)
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)], "text": [f"claim {i}" for i in range(n)],
            "topic": np.where(kind == 1, "tax", "health"), "veracity": np.where(true, "true", "false"),
        }
    )  # fmt: skip
    (found,) = audit(Dataset.build("d", rows), checks=["balance"], debug=True).findings
    assert found.feature == "topic"
    return found.verdict


def test_the_verdict_follows_the_interval() -> None:
    assert [balance(3_000, shift) for shift in (0.0, 0.15, 0.4)] == ["pass", "warn", "fail"]
    assert balance(90, 0.11) == "inconclusive"
