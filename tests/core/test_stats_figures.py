"""Figures that pages print, for a few records each: worked out by hand, at the boundaries too."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from claimlab.core.stats.ceiling import LabelQuality, ceiling
from claimlab.core.stats.chance import Chance, corrected
from claimlab.core.stats.codes import codes_of, joined, linked
from claimlab.core.stats.consensus import bounds, dawid_skene
from claimlab.core.stats.correction import false_discovery, holm
from claimlab.core.stats.interval import (
    effective_groups,
    interval,
    mean_interval,
    tail,
    unit_interval,
    wilson,
)
from claimlab.core.stats.possible import possible, possible_together, printed_range
from claimlab.core.stats.powered import JudgedSample, alone, needed, powered
from claimlab.core.stats.ranks import foreseen, rank_words, records_needed, smallest_detectable
from claimlab.core.stats.rule import Rule
from claimlab.core.stats.scores import (
    accuracy,
    confusion,
    confusions,
    f1_per_class,
    macro_f1,
    macro_f1_of,
    majority_f1,
    measured_macro_f1,
    stratified_f1,
)


def test_scores_of_a_table_with_other_answers_and_none() -> None:
    """Two classes of ten: 6 right, 2 of the other class, 1 other answer and 1 none; 9 right, 1
    other answer. What is no class is also a wrong answer of the other class: F1 is 12 of 10 + 6
    + 1, and 18 of 10 + 11 + 2."""
    table = np.array([[6, 2, 1, 1], [0, 9, 1, 0]])
    assert accuracy(table) == pytest.approx(0.75)
    assert f1_per_class(table).tolist() == pytest.approx([12 / 17, 18 / 23])
    assert macro_f1(table) == pytest.approx((12 / 17 + 18 / 23) / 2)
    assert measured_macro_f1(table) == pytest.approx((12 / 17 + 18 / 23) / 2)
    assert measured_macro_f1(table[:1].repeat(2, 0) * [[1], [0]]) is None, "one class"
    assert np.isnan(f1_per_class(np.array([[3, 0, 0], [0, 2, 0], [0, 0, 0]]))[2])
    assert macro_f1(np.array([[3, 0, 0], [0, 2, 0], [0, 0, 0]])) == 1.0


def test_tables_have_truth_in_rows() -> None:
    truth, guess = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 3])
    assert confusion(truth, guess, 2, extra=2).tolist() == [[1, 1, 0, 0], [0, 1, 0, 1]]
    both = confusions(np.stack([truth, 1 - truth]), guess, 2, extra=2)
    assert both.tolist() == [[[1, 1, 0, 0], [0, 1, 0, 1]], [[0, 1, 0, 1], [1, 1, 0, 0]]]
    # F1: 2 of 2 + 1; 2 of 1 + 2; of the third, which is answered once and never true, 0
    assert macro_f1_of([0, 0, 1], [0, 2, 1]) == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert macro_f1_of([], []) == 0.0


def test_baselines_of_three_classes() -> None:
    """Of 100 records 50, 30 and 20; always the first: precision .5, recall 1, F1 2/3, over three."""
    assert majority_f1(np.array([50, 30, 20])) == pytest.approx(2 / 9)
    assert majority_f1(np.array([50, 0, 50])) == pytest.approx(1 / 3)
    assert stratified_f1(np.array([50, 30, 20])) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("ends", "p", "verdict"),
    [
        ((0.051, 0.2), 0.05, "fail"),
        ((0.05, 0.2), 0.05, "warn"),
        ((0.001, 0.04), 0.05, "warn"),
        ((0.0, 0.04), 0.01, "pass"),
        ((0.0, 0.05), 0.01, "inconclusive"),
        ((0.051, 0.2), 0.051, "inconclusive"),
        ((0.01, 0.04), 0.06, "pass"),
        ((-0.2, 0.049), 1.0, "pass"),
    ],
)
def test_a_verdict_at_its_boundaries(ends: tuple[float, float], p: float, verdict: str) -> None:
    assert Rule().verdict(ends, p) == verdict


def test_a_second_input_confirms_or_withdraws_an_alarm() -> None:
    rule = Rule()
    for alone_verdict in ("fail", "warn"):
        assert rule.given(alone_verdict, None) == alone_verdict
        assert rule.given(alone_verdict, (0.01, 0.2)) == "pass"
        assert rule.given(alone_verdict, (0.0, 0.049)) == "warn"
        assert rule.given(alone_verdict, (0.0, 0.05)) == "inconclusive"
    assert rule.given("inconclusive", (0.01, 0.2)) == "inconclusive"
    words = rule.words()
    figures = ("above 5 points", "at most 0.05", "30 rows or 6 units", "6 effective units", "50%")
    for figure in (*figures, "20 effective units"):
        assert figure in words


def test_a_star_is_below_five_percent() -> None:
    assert [Chance(p_holm=p).beaten for p in (None, 0.049, 0.05)] == [False, True, False]
    assert Chance(majority=0.3, stratified=0.5, permuted=0.4).best == 0.5
    assert Chance(permuted=0.4).best == 0.4
    assert Chance().best is None
    adjusted = [chance.p_holm for chance in corrected([Chance(p=0.03), Chance(), Chance(p=0.02)])]
    assert adjusted == [pytest.approx(0.04), None, pytest.approx(0.04)]


def test_corrections_of_four_tests() -> None:
    """Holm: 4 x .01, 3 x .02, then never less, 2 x .03 and 1 x .5. Benjamini and Hochberg: 4/1 x .01,
    4/2 x .02, 4/3 x .03 and .5, never more than a larger one's."""
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.6, None, 0.7]) == [1.0, None, 1.0]
    assert false_discovery([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.04, 0.04])
    assert false_discovery([0.9, 0.8]) == pytest.approx([0.9, 0.9])


def test_wilsons_interval() -> None:
    """1.96 squared is 3.84: of 8 in 10, (16 + 3.84) / 27.68 -+ 1.96 / 27.68 x root(6.4 + 3.84)."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson(20, 20) == pytest.approx((0.8389, 1.0), abs=1e-4)
    assert wilson(0, 0) is None
    assert wilson(1, 1) is not None


def test_an_interval_needs_six_units_and_nine_of_ten_resamples() -> None:
    even = np.linspace(0, 1, 1_001)
    assert interval(even, 5.99) is None
    six = interval(even, 6)
    cut = stats.norm.cdf(-np.sqrt(6 / 5) * stats.t.ppf(0.975, 5))
    assert six == pytest.approx((cut, 1 - cut), abs=1e-6)
    assert tail(10**9) == pytest.approx(0.025)
    gaps = np.concatenate([np.full(9, 0.5), [np.nan]])
    assert interval(gaps, 30) == (0.5, 0.5)
    assert interval(np.concatenate([gaps, [np.nan]]), 30) is None
    assert interval(np.full(9, 0.5), 30, point=0.7) == (0.5, 0.7)
    assert interval(np.full(9, 0.5), 30, point=0.2) == (0.2, 0.5)


def test_the_interval_of_a_mean_of_many() -> None:
    """400 values of which half are 0 and half 3: 1.5 -+ 1.96 x 1.5 / 20."""
    ends = mean_interval(np.repeat([0.0, 3.0], 200))
    assert ends == pytest.approx((1.353, 1.647), abs=0.012)
    values = np.repeat([0.0, 3.0], 200)
    drawn = unit_interval(400, lambda rows: float(values[rows].mean()))
    assert drawn == pytest.approx((1.353, 1.647), abs=0.012)


def test_groups_of_different_size_count_for_less() -> None:
    assert effective_groups(np.array([2.0, 1.0, 1.0])) == pytest.approx(16 / 6)
    assert effective_groups(np.array([5, 5, 5, 5])) == 4
    assert effective_groups(np.array([])) == 0.0


def test_ranks_in_words_and_what_a_difference_needs() -> None:
    assert [rank_words(ranks) for ranks in ((1, 3), (4, 4), None)] == ["1-3", "4", "–"]
    assert records_needed(100, 0.08, 0.02) == 1_600
    assert records_needed(100, 0.08, -0.03) == 712, "711.1, and the next whole one"
    assert records_needed(100, 0.08, 0.0) is None
    assert smallest_detectable(0.01) == pytest.approx(0.01 * (1.959964 + 0.841621))
    few = 0.01 * np.sqrt(12 / 11) * (stats.t.ppf(0.975, 11) + stats.t.ppf(0.8, 11))
    assert smallest_detectable(0.01, 12) == pytest.approx(few)


def test_a_difference_is_foreseen_of_six_groups_and_two_classes() -> None:
    labels = np.arange(200) % 2
    assert foreseen(labels, np.arange(200) % 5) is None
    assert foreseen(labels * 0, np.arange(200)) is None
    twenty, each = foreseen(labels, np.arange(200) % 20), foreseen(labels, np.arange(200))
    assert twenty is not None
    assert each is not None
    assert 0.05 < each < twenty < 0.3


def test_printed_scores_and_the_shares_that_they_stand_for() -> None:
    assert printed_range("84.1") == pytest.approx((0.8405, 0.842))
    assert printed_range("0.841") == pytest.approx((0.8405, 0.842))
    assert printed_range("84%") == pytest.approx((0.835, 0.85))
    assert printed_range("1") == pytest.approx((0.5, 2.0))
    assert printed_range("1%") == pytest.approx((0.005, 0.02))


def test_scores_that_one_table_can_give() -> None:
    """Ten positives and ten negatives, 8 and 6 of them right: precision 8/12, F1 16/22 and 12/18."""
    row = {
        "accuracy": "0.700", "precision": "0.667", "recall": "0.800", "specificity": "0.600",
        "f1": "0.727", "macro_f1": "0.697",
    }  # fmt: skip
    assert possible(10, 10, row) is True
    for name in row:
        wrong = f"{float(row[name]) + 0.02:.3f}"
        assert possible(10, 10, row | {name: wrong}) is False, name
    assert possible(10, 10, {"accuracy": "0.70", "mcc": "0.9"}) is True, (
        "not a score that is tested"
    )


def test_macro_f1_is_never_above_accuracy() -> None:
    """Of ten records eight right: macro-F1 from 4/9, one class only, to .8, both alike."""
    assert possible_together(None, "0.80", "0.80") is True
    assert possible_together(None, "0.80", "0.82") is False
    assert possible_together(None, "0.80", "0.44") is True
    assert possible_together(None, "0.80", "0.42") is False
    assert possible_together(10, "0.80", "0.80") is True
    assert possible_together(10, "0.85", "0.80") is False, "no whole number of ten"
    assert possible_together(10, "0.80", "0.62") is False, "0 and 8 right: .44, 1 and 7: .69"
    assert possible_together(10, "0.80", "0.69") is True
    assert possible_together(10, "0.80", "0.44") is True


def simple(right: int, size: int, agreeing: bool, population: int = 10**9) -> JudgedSample:
    human = (np.arange(size) < right).astype(float)
    judge = human if agreeing else np.zeros(size)
    return JudgedSample(human, judge, np.ones(size), population, 0.3)


def test_a_share_without_a_judge_is_wilsons_with_students_quantile() -> None:
    """12 of 40 are yes: t of 38 degrees of freedom is 2.0244."""
    found = alone(simple(12, 40, agreeing=False))
    squared = 2.0244**2 / 40
    middle = (0.3 + squared / 2) / (1 + squared)
    half = 2.0244 * np.sqrt(0.21 / 40 + squared / 160) / (1 + squared)
    assert found.value == pytest.approx(0.3)
    assert found.interval == pytest.approx((middle - half, middle + half), abs=1e-4)
    assert found.width == pytest.approx(2 * half, abs=1e-4)
    scale = (-2 * np.log(0.05) + np.log(-2 * np.log(0.05)) + 1) / 100
    grown = 40 * scale + 1
    always = np.sqrt(2 * grown / (1600 * scale) * np.log(np.sqrt(grown) / 0.05) * 0.21)
    assert found.always == pytest.approx((max(0, 0.3 - always), 0.3 + always), abs=1e-6)


def test_nineteen_annotated_records_have_no_interval() -> None:
    assert alone(simple(6, 19, agreeing=False)).interval == (0.0, 1.0)
    assert alone(simple(6, 20, agreeing=False)).interval != (0.0, 1.0)


def test_a_population_that_was_annotated_is_known() -> None:
    every = alone(simple(12, 40, agreeing=False, population=40))
    assert every.interval == every.always == (pytest.approx(0.3), pytest.approx(0.3))


def test_a_judge_that_agrees_is_believed_but_for_one_error() -> None:
    """All 40 agree, and the judge says yes of 30%: the spread is that of one error in 39."""
    found = powered(simple(20, 40, agreeing=True))
    assert found.value == pytest.approx(0.3)
    like = 40 / ((1 / 39) / 0.25)
    squared = 2.0244**2 / like
    middle = (0.3 + squared / 2) / (1 + squared)
    half = 2.0244 * np.sqrt(0.21 / like + squared / (4 * like)) / (1 + squared)
    assert found.interval == pytest.approx((middle - half, middle + half), abs=1e-4)
    low, high = found.always
    wanted = (high - low) / 2
    assert needed(simple(20, 40, agreeing=True), wanted) == 160
    assert needed(simple(20, 40, agreeing=True, population=100), wanted / 2) == 100


def test_rows_that_share_any_value_are_one() -> None:
    """0 and 1 by the first column, 1 and 3 by the second; 2 and 4 are alone."""
    assert linked([np.array([7, 7, 1, 2, 3]), np.array([0, 5, 1, 5, 9])], 5).tolist() == [
        0,
        0,
        1,
        0,
        2,
    ]
    chain = joined(np.array([4, 3, 2]), np.array([3, 2, 1]), 6)
    assert chain.tolist() == [0, 1, 1, 1, 1, 2]
    assert codes_of(pl.Series(["b", None, "a", "b", None])).tolist() == [1, 2, 0, 1, 3]
    assert codes_of(pl.Series([None, None], dtype=pl.String)).tolist() == [0, 1]


def test_shares_of_yes_at_a_tie() -> None:
    low, high = bounds(np.array([0.4, 0.5, 0.6]))
    assert (low.tolist(), high.tolist()) == ([0, 0, 1], [0, 1, 1])


def test_an_annotator_who_is_always_contradicted_weighs_little() -> None:
    """Two of three always agree: their answer stands, nearly for sure, whoever is asked first."""
    votes = {
        f"{i:02d}": {"c": "no" if i % 2 else "yes", "a": answer, "b": answer}
        for i, answer in enumerate(["yes", "yes", "no", "no"] * 5)
    }
    found = dawid_skene(votes)
    assert [found[f"{i:02d}"][0] for i in range(4)] == ["yes", "yes", "no", "no"]
    assert min(p for _, p in found.values()) > 0.95


def test_a_ceiling_of_labels_of_which_one_in_ten_is_wrong() -> None:
    """Of 600 and 400 labels. True are (.6 - .1) / .8 and (.4 - .1) / .8 of the records, so right are
    .9 x .625 of .6, .9375, and .9 x .375 of .4, .84375: .9 in all."""
    found = ceiling(np.array([600, 400]), LabelQuality(0.9, np.full(500, 0.9)), accuracy)
    assert found[0] == pytest.approx(0.6 * 0.9375 + 0.4 * 0.84375)
    spread = 1.96 * np.sqrt(600 * 0.9375 * 0.0625 + 400 * 0.84375 * 0.15625) / 1000
    assert found[1] == pytest.approx((0.9 - spread, 0.9 + spread), abs=0.004)
