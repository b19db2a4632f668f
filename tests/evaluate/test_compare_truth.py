"""A quick version of bench/compare_truth.py: ranks, ties and power on planted truth."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import binom


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    file = Path(__file__).parents[2] / "bench" / "compare_truth.py"
    spec = importlib.util.spec_from_file_location("compare_truth", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["compare_truth"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    module.SETS.update({"events": [(1, 0, 20), (3, 2, 15), (8, 8, 5), (6, 0, 8)]})
    return module


@pytest.mark.parametrize("systems", ["3 tied", "3 apart", "10 mixed"])
def test_ranks_and_ties_hold_the_truth(bench: ModuleType, systems: str) -> None:
    times = 60
    held = np.array([bench.cover(("events", systems, draw)) for draw in range(times)])
    # at least 95 of 100 should: so few draws show only gross faults
    assert (held.sum(axis=0) >= binom.ppf(0.001, times, 0.95)).all(), held.mean(axis=0)


def test_a_rank_too_many_is_noticed(bench: ModuleType) -> None:
    """The measure itself can fail: resamples of records instead of groups are too sure."""
    rng = np.random.default_rng(0)
    known = bench.made([(12, 6, 30)])
    wrong = 0
    for _ in range(40):
        drawn = bench.again(known, rng)
        correct = bench.right(drawn, np.array([0.8, 0.8]), rng)
        alone = bench.TestSet(drawn.labels, np.arange(len(drawn.labels)))
        wrong += bench.ranking(alone, correct, rng)[1].ranks != [(1, 2), (1, 2)]
    assert wrong > 6
