"""Agreement against worked examples in the literature and against other libraries."""

from __future__ import annotations

from functools import partial

import krippendorff as oracle
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from claimlab.core.stats.agreement import (
    Level,
    alpha_of,
    figure,
    fleiss_of,
    kappa,
    kappa_figure,
    krippendorff,
    patterns,
    percent_of,
)

nan = float("nan")
# Four observers, twelve units, gaps: the worked example of Krippendorff (2011), "Computing
# Krippendorff's alpha".
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
)
# Ten subjects, fourteen raters, five categories: the table that texts on Fleiss' kappa (1971) work
# through.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def units_of(scores: np.ndarray) -> list[list[float]]:
    return [unit[~np.isnan(unit)].tolist() for unit in scores.T]


def drawn(seed: int, judges: int = 4, units: int = 60) -> np.ndarray:
    """Judges who agree somewhat, with gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 11, units)
    scores = np.clip(truth + rng.integers(-3, 4, (judges, units)), 0, 10).astype(float)
    scores[rng.random(scores.shape) < 0.3] = nan
    return scores


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_worked_example(level: Level, value: float) -> None:
    assert krippendorff(OBSERVERS, level) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_the_oracles(level: Level, seed: int) -> None:
    scores = drawn(seed)
    assert krippendorff(scores, level) == pytest.approx(
        oracle.alpha(scores, level_of_measurement=level)
    )


def test_fleiss_of_the_worked_example() -> None:
    units = [[float(c) for c, n in enumerate(row) for _ in range(n)] for row in FLEISS]
    found = patterns(units)
    assert percent_of(found, found.weights)[0] == pytest.approx(0.378, abs=5e-4)
    assert fleiss_of(found, found.weights)[0] == pytest.approx(0.210, abs=5e-4)
    # Alpha is Fleiss' kappa with the correction for few ratings.
    n = sum(map(len, units))
    beyond = fleiss_of(found, found.weights)[0]
    assert alpha_of(found, found.weights)[0] == pytest.approx(beyond + (1 - beyond) / n)


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_the_oracles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = rng.choice(["true", "false", "mixed"], 50).tolist()
    other = [a if rng.random() < 0.6 else "false" for a in one]
    assert kappa(one, other) == pytest.approx(cohen_kappa_score(one, other))


def test_what_cannot_be_compared_is_null() -> None:
    assert kappa(["a", "a"], ["a", "a"]) is None
    assert kappa([], []) is None
    assert (
        krippendorff(np.ones((2, 4))) is None
    )  # nothing varies: neither agreement nor chance can be told
    assert krippendorff(np.array([[1.0, nan], [nan, 2.0]])) is None
    assert krippendorff(np.array([[1.0, 2, 3], [1, 2, 3]])) == pytest.approx(1.0)


def test_an_interval_needs_enough_units_and_holds_the_true_value_most_of_the_time() -> None:
    few = patterns(units_of(drawn(0, units=15)))
    assert figure(few, alpha_of).interval is None
    whole = patterns(units_of(drawn(1, judges=3, units=20_000)))
    truth = alpha_of(whole, whole.weights, "ordinal")[0]
    hits = 0
    for seed in range(40):
        sample = figure(
            patterns(units_of(drawn(100 + seed, judges=3))),
            partial(alpha_of, level="ordinal"),
            seed=seed,
        )
        assert sample.interval is not None
        hits += sample.interval[0] <= truth <= sample.interval[1]
    assert 34 <= hits <= 40


def test_the_interval_of_kappa_narrows_with_more_items() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for n in (50, 2_000):
        one = rng.integers(0, 2, n)
        other = np.where(rng.random(n) < 0.8, one, 1 - one)
        found = kappa_figure(one.tolist(), other.tolist())
        assert found.value is not None
        assert found.interval is not None
        assert found.interval[0] < 0.6 < found.interval[1]
        widths.append(found.interval[1] - found.interval[0])
    assert widths[1] < widths[0] / 3
