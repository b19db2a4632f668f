"""How much of a run a shortcut explains, when both are evaluated together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset

Make = Callable[..., Dataset]


@pytest.mark.slow
def test_a_run_that_repeats_a_shortcut_is_taken_apart(
    make_data: Make, make_run: Make, tmp_path: Path
) -> None:
    """Half of its answers are the shortcut's, three in ten are the label's, the rest are guesses."""
    data, rng = make_data(900, per_group=1), np.random.default_rng(5)
    shortcut = make_run(data, 0.75, detector="shortcut")
    repeats = shortcut.tables["predictions"]["label"].to_list()
    truth = data.records["veracity"].to_list()
    part = rng.choice(3, size=900, p=[0.5, 0.3, 0.2])
    options = zip(repeats, truth, rng.choice(["true", "false"], size=900).tolist(), strict=True)
    mixed = [row[i] for row, i in zip(options, part.tolist(), strict=True)]
    run = make_run(data, 1.0, labels=mixed, detector="words")
    (one,) = cl.evaluate([run, shortcut], output=tmp_path / "report").explained
    (share, ends), (_, own_ends) = one.shares.shortcuts[0], one.shares.own
    assert ends is not None
    assert own_ends is not None
    assert ends[0] < 0.5 < ends[1]
    assert own_ends[0] < 0.3 < own_ends[1]
    assert share == pytest.approx((one.where_right or 0) - (one.where_wrong or 0), abs=1e-3)
    assert "How much a shortcut explains" in (tmp_path / "report" / "report.md").read_text()
    assert cl.evaluate([run, make_run(data, 0.6, seed=2)]).explained == [], "no shortcut"
