"""The shape of a curve: planted slopes are found, and what cannot be known is null."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab_simulate.evolve.drift.curve import curve, unrelated_drift


def measured(values: np.ndarray, traces: int = 40, noise: float = 0.0) -> pl.DataFrame:
    """`traces` walks whose drift at hop i is values[i - 1], give or take."""
    rng = np.random.default_rng(0)
    rows = [
        (f"t{t}", i + 1, float(v + noise * rng.normal()))
        for t in range(traces)
        for i, v in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=["trace_id", "depth", "drift"], orient="row")


def test_a_saturating_curve_flattens_and_a_straight_one_does_not() -> None:
    steps = np.arange(1, 31)
    flat = curve(measured(0.4 * (1 - np.exp(-steps / 4)), noise=0.01))
    straight = curve(measured(0.01 * steps))
    assert flat.flattens is True
    assert flat.ratio_interval is not None
    assert flat.ratio_interval[1] < 0.2
    assert straight.flattens is False
    assert (straight.early, straight.late) == (pytest.approx(0.01), pytest.approx(0.01))
    assert straight.end == pytest.approx(0.3)


def test_traces_that_end_early_do_not_bend_the_curve() -> None:
    long = measured(0.02 * np.arange(1, 13), traces=20)
    short = measured(np.full(6, 0.9), traces=10).with_columns(
        ("s" + pl.col("trace_id")).alias("trace_id")
    )
    found = curve(pl.concat([long, short]))
    assert found.ratio == pytest.approx(1.0)  # the short ones are in the means, not in the slopes
    assert found.n[1] == 30
    assert found.n[12] == 20


def test_short_traces_have_no_slopes() -> None:
    found = curve(measured(np.array([0.2, 0.3])))
    assert (found.early, found.ratio, found.flattens) == (None, None, None)


def test_a_curve_that_never_rises_has_no_ratio() -> None:
    assert curve(measured(np.zeros(12))).flattens is None


def test_a_cascade_counts_depth_and_averages_what_stands_side_by_side() -> None:
    rows = [("t", 1, 0.1), ("t", 2, 0.2), ("t", 2, 0.4)]
    found = curve(pl.DataFrame(rows, schema=["trace_id", "depth", "drift"], orient="row"))
    assert found.mean == pytest.approx((0.0, 0.1, 0.3))
    assert found.n == (1, 1, 1)


def test_unrelated_claims_need_two() -> None:
    assert unrelated_drift(["The mill opened in 1931."] * 3) is None
    far = unrelated_drift(["The mill opened in 1931.", "Tolm harbour closed after storms."])
    assert far is not None
    assert far > 0.3


def test_the_last_digit_of_a_mean_does_not_depend_on_threads() -> None:
    """A sum of floats depends on the order of its terms, and Polars groups rows in any order unless
    told otherwise.
    """
    values = np.random.default_rng(1).random(800 * 5)
    traces = [f"t{i // 5}" for i in range(800 * 5)]
    frame = pl.DataFrame(
        {"trace_id": traces, "depth": [i % 5 + 1 for i in range(800 * 5)], "drift": values}
    )
    assert len({curve(frame) for _ in range(200)}) == 1


def test_the_slopes_are_of_the_first_and_the_last_third_and_of_no_hop_more() -> None:
    """Of 12 hops the first four rise by 0.05, the next four by 0.01 and the last four by 0.002
    each.
    """
    found = curve(measured(np.cumsum([0.05] * 4 + [0.01] * 4 + [0.002] * 4)))
    assert found.early == pytest.approx(0.05)
    assert found.late == pytest.approx(0.002)
    assert found.ratio == pytest.approx(0.04)
    jump = curve(measured(0.3 + np.cumsum([0.05] * 4 + [0.01] * 4 + [0.002] * 4)))
    slope = np.polyfit(range(5), [0, 0.35, 0.40, 0.45, 0.50], 1)[0]
    assert jump.early == pytest.approx(slope), "hop 0 is where the trace starts"


def test_the_last_hop_that_half_of_the_traces_reached_ends_the_curve() -> None:
    """21 traces go 9 hops, 20 go 6: nine hops are measured, over those 21 only."""
    long = measured(np.cumsum([0.05] * 3 + [0.01] * 3 + [0.002] * 3), traces=21)
    short = measured(np.full(6, 0.9), traces=20).with_columns(
        ("s" + pl.col("trace_id")).alias("trace_id")
    )
    found = curve(pl.concat([long, short]))
    assert (found.early, found.late) == (pytest.approx(0.05), pytest.approx(0.002))
