"""Scores against scikit-learn, agreement and shares against scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, false_discovery_control
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from claimlab.core.stats.agreement import kappa
from claimlab.core.stats.correction import false_discovery, holm
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.scores import (
    accuracy,
    confusion,
    f1_per_class,
    macro_f1,
    macro_f1_of,
    majority_f1,
    stratified_f1,
)
from claimlab.core.stats.streams import share_of, stream, stream_seed

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=60)


@pytest.mark.slow
@given(PAIRS)
def test_macro_f1_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    truth, guess = (np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True))
    counts = confusion(truth, guess, 3)
    assert float(macro_f1(counts)) == pytest.approx(
        f1_score(truth, guess, average="macro"), abs=1e-12
    )
    assert macro_f1_of(truth, guess) == pytest.approx(
        f1_score(truth, guess, average="macro"), abs=1e-12
    )
    assert float(accuracy(counts)) == pytest.approx(accuracy_score(truth, guess), abs=1e-12)
    each = f1_score(truth, guess, average=None, labels=[0, 1, 2], zero_division=np.nan)
    assert np.allclose(f1_per_class(counts), each, equal_nan=True)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60))
def test_answers_outside_the_classes_count_as_wrong(pairs: list[tuple[int, int]]) -> None:
    """Missed in their own class, and falsely found in every other one."""
    counts = confusion(*(np.array(x, dtype=np.int64) for x in zip(*pairs, strict=True)), 3, extra=2)
    each = []
    for name in range(3):
        hits = sum(t == g == name for t, g in pairs)
        missed = sum(t == name != g for t, g in pairs)
        false = sum(t != name and g in (name, 3, 4) for t, g in pairs)
        if hits + missed + false:
            each.append(2 * hits / (2 * hits + missed + false))
    assert float(macro_f1(counts)) == pytest.approx(float(np.mean(each)), abs=1e-12)


def test_nothing_scores_nothing() -> None:
    assert macro_f1_of([], []) == 0.0
    assert np.isnan(macro_f1(np.zeros((2, 2))))


@given(st.lists(st.integers(1, 50), min_size=2, max_size=4))
def test_baselines_are_what_they_say(sizes: list[int]) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    always = np.full(len(y), int(np.argmax(sizes)))
    assert majority_f1(np.array(sizes)) == pytest.approx(
        f1_score(y, always, average="macro"), abs=1e-12
    )
    assert stratified_f1(np.array(sizes)) == pytest.approx(1 / len(sizes))


def test_a_draw_from_the_distribution_scores_one_over_k() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, 200_000, p=[0.7, 0.2, 0.1])
    guess = rng.permutation(y)
    assert f1_score(y, guess, average="macro") == pytest.approx(
        stratified_f1(np.bincount(y)), abs=0.005
    )


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=40))
def test_kappa_is_scikit_learns(pairs: list[tuple[str, str]]) -> None:
    one, other = (list(x) for x in zip(*pairs, strict=True))
    found = kappa(one, other)
    if len({*one, *other}) < 2:
        assert found is None
    else:
        assert found == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)


@given(st.integers(1, 400), st.data())
def test_wilson_solves_its_equation(n: int, data: st.DataObject) -> None:
    """Wilson's ends are the shares whose own standard error puts the observed share 1.96 of them
    away.
    """
    hits = data.draw(st.integers(0, n))
    low, high = wilson(hits, n) or (1.0, 0.0)
    assert 0 <= low <= hits / n <= high <= 1
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            assert abs(hits / n - end) == pytest.approx(
                1.959964 * np.sqrt(end * (1 - end) / n), rel=1e-5
            )
    assert high >= beta.ppf(0.5, hits + 0.5, n - hits + 0.5) >= low
    oracle = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert (low, high) == (oracle.low, oracle.high)


def test_wilson_of_nothing_is_null() -> None:
    assert wilson(0, 0) is None
    assert wilson(55, 100) == pytest.approx((0.452, 0.644), abs=5e-4)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=30))
def test_corrected_p_values_obey_their_definitions(p: list[float]) -> None:
    m = len(p)
    assert false_discovery(p) == false_discovery_control(p).tolist()
    for raw, bh, bonferroni_holm in zip(p, false_discovery(p), holm(p), strict=True):
        # Benjamini-Hochberg: the least of q * m / (how many are at most q), over the q that are at
        # least as large.
        assert bh == pytest.approx(
            min(1, *(q * m / sum(x <= q for x in p) for q in p if q >= raw)), rel=1e-9
        )
        larger = [q for q in p if q <= raw]
        assert bonferroni_holm == pytest.approx(
            min(1, max(q * sum(x >= q for x in p) for q in larger)), rel=1e-9
        )
        assert raw <= bh <= bonferroni_holm + 1e-12
    assert false_discovery([]) == holm([]) == []


def test_streams_depend_on_seed_and_names_alone() -> None:
    assert stream_seed(1, "a", "b") == stream_seed(1, "a", "b")
    assert (
        len(
            {stream_seed(1, "a"), stream_seed(2, "a"), stream_seed(1, "b"), stream_seed(1, "a", "")}
        )
        == 4
    )
    assert 0 <= stream_seed(3, "\ud800") < 2**63
    assert stream(1, "a").random() == stream(1, "a").random()
    places = np.array([share_of(0, i) for i in range(4_000)])
    assert places.min() >= 0
    assert places.max() < 1
    assert abs(places.mean() - 0.5) < 0.02
