from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.stats.scores import macro_f1
from claimlab.evaluate.compare import Comparison, compare, compare_all, corrected, flipped, mcnemar
from claimlab.evaluate.confusion import confusion
from claimlab.evaluate.evaluation import evaluate_run
from claimlab.evaluate.scored_run import ScoredRun, about_of, each_run
from claimlab.evaluate.siblings import drops, join_seeds
from claimlab.tasks import TASKS

Maker = Callable[..., Dataset]


def scored(run: Dataset, name: str) -> ScoredRun:
    told = about_of(run.lineage)
    (one,) = each_run(name, run.tables["predictions"], run, TASKS.get("veracity"), about=told)
    return one


def test_the_better_run_is_found_and_equal_ones_are_not_told_apart(
    data: Dataset, make_run: Maker
) -> None:
    good, poor, twin = (
        scored(make_run(data, s, seed=i), n)
        for i, (s, n) in enumerate([(0.9, "a"), (0.7, "b"), (0.9, "c")])
    )
    found = compare(good, poor)
    points = [float(macro_f1(confusion(r.answers))) for r in (good, poor)]
    assert found.difference == pytest.approx(points[0] - points[1])
    assert found.shared == 600
    (checked,) = corrected([found])
    assert checked.better == "a"
    (equal,) = corrected([compare(good, twin)])
    assert equal.better is None
    back = compare(poor, good)
    assert back.difference == pytest.approx(-points[0] + points[1])
    assert (back.only_first, back.only_second) == (found.only_second, found.only_first)


def test_pairing_narrows_the_interval(data: Dataset, make_run: Maker) -> None:
    """Two runs that mostly agree: their difference is known better than each score."""
    first = make_run(data, 0.75, seed=1)
    said = first.tables["predictions"]["label"].to_list()
    truth = data.records["veracity"].to_list()
    mended = [t if i % 10 == 0 else s for i, (s, t) in enumerate(zip(said, truth, strict=True))]
    second = make_run(data, 0.75, labels=mended)
    found = compare(scored(second, "mended"), scored(first, "first"))
    assert found.interval is not None
    assert 0 < found.interval[0] < found.interval[1] < 0.05


def test_only_shared_records_count(data: Dataset, make_run: Maker) -> None:
    whole = scored(make_run(data, 0.9), "whole")
    half = replace(scored(make_run(data, 0.6, seed=2), "half"), table=whole.table.head(0))
    assert compare(whole, half).why == "They share no records."
    few = replace(half, table=scored(make_run(data, 0.6), "x").table.head(12))
    assert compare(whole, few).why == "They share 12 records."
    part = scored(make_run(data, 0.6, seed=2), "part")
    part = replace(part, table=part.table.filter(pl.col("language") == "eng"))
    assert compare(whole, part).shared == part.table.height == 120
    other = replace(part, task=TASKS.get("veracity-mixed"))
    assert compare(whole, other).why == "They answer different tasks."


def test_mcnemar_is_the_exact_binomial_test() -> None:
    for b, c in ((0, 0), (5, 5), (1, 9), (30, 12), (0, 6)):
        expected = binomtest(b, b + c).pvalue if b + c else 1.0
        assert mcnemar(b, c) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_holds_its_level_on_equal_runs() -> None:
    rng = np.random.default_rng(0)
    alarm = [mcnemar(k, 60 - k) < 0.05 for k in range(61)]
    alarms = sum(alarm[k] for k in rng.binomial(60, 0.5, size=3_000))
    assert alarms / 3_000 < 0.055  # an exact test is never above its level


def test_holm_by_hand() -> None:
    ps = [0.01, 0.04, 0.03, None]
    found = corrected([Comparison("a", "b", 9, p=p) for p in ps])
    assert [c.p_holm for c in found] == pytest.approx([0.03, 0.06, 0.06, None])


def test_one_verdict_for_a_pair() -> None:
    """The ranks decide where there are any; else the interval and sign-flips must agree."""
    pair = Comparison("a", "b", 90, 0.1, (0.02, 0.18), only_first=20, only_second=8)
    assert replace(pair, p_ranks=0.04, p_holm=0.06, p_units_holm=0.06).better == "a"
    assert replace(pair, p_ranks=0.06, p_holm=0.01, p_units_holm=0.01).better is None
    assert replace(pair, p_units_holm=0.04, p_holm=0.06).better == "a"
    assert replace(pair, p_units_holm=0.06, p_holm=0.01).better is None
    assert replace(pair, p_units_holm=0.01, interval=(-0.02, 0.18)).better is None
    assert replace(pair, difference=-0.1, p_ranks=0.01, interval=(-0.18, -0.02)).better == "b"


def test_signs_of_whole_units_are_flipped() -> None:
    """Six units of one mind: 2 of 64 signs are as far out. Records alone would say far less than
    that."""
    cluster = np.repeat(np.arange(6), 10)
    hit, other = np.ones(60, bool), np.zeros(60, bool)
    assert flipped(cluster, hit, other, seed=0) == pytest.approx(2 / 64, abs=0.02)
    assert flipped(np.arange(60), hit, other, seed=0) < 0.001
    assert flipped(cluster, hit, hit, seed=0) == 1.0


def test_best_against_each_or_every_pair(data: Dataset, make_run: Maker) -> None:
    runs = [
        scored(make_run(data, s, seed=i), n)
        for i, (s, n) in enumerate([(0.6, "low"), (0.9, "top"), (0.75, "mid")])
    ]
    assert [(c.first, c.second) for c in compare_all(runs, draws=200)] == [
        ("top", "mid"),
        ("top", "low"),
    ]
    every = compare_all(runs, every_pair=True, draws=200)
    assert [(c.first, c.second) for c in every] == [("top", "mid"), ("top", "low"), ("mid", "low")]


def test_seeds_are_joined(data: Dataset, make_run: Maker) -> None:
    runs = [scored(make_run(data, 0.8, seed=s), f"run {s}") for s in range(4)]
    alone = scored(make_run(data, 0.8, seed=9, detector="other"), "alone")
    (found,) = join_seeds([*runs, alone])
    scores = [float(macro_f1(confusion(r.answers))) for r in runs]
    assert found.seeds == [0, 1, 2, 3]
    assert found.mean == pytest.approx(np.mean(scores))
    assert found.sd == pytest.approx(np.std(scores, ddof=1))
    assert found.interval is not None
    assert found.interval[0] < found.mean < found.interval[1]


def test_the_drop_from_random_to_held_out(make_data: Maker, make_run: Maker) -> None:
    easy = [
        scored(make_run(make_data(seed=s), 0.9, seed=s, divided_by="random"), f"random {s}")
        for s in range(2)
    ]
    hard = [
        scored(make_run(make_data(seed=s), 0.7, seed=s, divided_by="event"), f"event {s}")
        for s in range(2)
    ]
    same = [scored(make_run(make_data(seed=8), 0.9, seed=8, divided_by="language"), "language")]
    found = {d.divided_by: d for d in drops([*easy, *hard, *same])}
    assert set(found) == {"event", "language"}
    assert found["event"].interval is not None
    assert (
        0.12 < found["event"].interval[0] < found["event"].drop < found["event"].interval[1] < 0.28
    )
    assert found["event"].random_runs == ["random 0", "random 1"]
    assert found["language"].interval is not None
    assert found["language"].interval[0] < 0.0 < found["language"].interval[1]
    assert drops(hard) == []


def test_a_class_of_a_handful_has_no_interval_and_a_warning(data: Dataset, make_run: Maker) -> None:
    run = scored(make_run(data, 0.9), "run")
    few = run.table.filter(
        (pl.col("truth") == "true") | pl.col("id").is_in(run.table["id"].head(7).to_list())
    )
    thin = replace(run, table=few)
    left = evaluate_run(thin, by=[], draws=200)
    assert left.scores.classes["false"] < 5
    assert left.intervals["macro_f1"] is None
    assert left.class_intervals["false"] is None
    assert left.class_intervals["true"] is not None
    assert "macro-F1 depends on them" in left.cautions[0]
    assert compare(thin, scored(make_run(data, 0.6, seed=5), "other")).interval is None
    assert evaluate_run(run, by=[], draws=200).cautions == []


def test_other_held_out_sources_are_no_other_seeds(data: Dataset, make_run: Maker) -> None:
    runs = []
    for seed, source in enumerate(("a", "b")):
        run = make_run(data, 0.8, seed=seed, divided_by="source")
        told = {"by": "source", "name": f"source:leave-out={source}"}
        run.lineage[0] = Lineage(step="split", parameters=told, seed=0)
        runs.append(scored(run, f"without {source}"))
    assert join_seeds(runs) == []


def test_records_whose_truth_differs_are_not_compared(data: Dataset, make_run: Maker) -> None:
    """Two versions of a dataset: in one, 100 labels were corrected. On these the runs answer
    different questions.
    """
    first = scored(make_run(data, 0.9), "first")
    second = scored(make_run(data, 0.7, seed=1), "second")
    other = pl.when(pl.col("truth") == "true").then(pl.lit("false")).otherwise(pl.lit("true"))
    late = pl.int_range(pl.len()) >= 500
    moved = second.table.with_columns(truth=pl.when(late).then(other).otherwise("truth"))
    both = compare(first, replace(second, table=moved))
    alike = compare(
        replace(first, table=first.table.head(500)), replace(second, table=second.table.head(500))
    )
    assert both.shared == 500
    assert (both.difference, both.only_first, both.only_second) == (
        alike.difference, alike.only_first, alike.only_second,
    )  # fmt: skip


def test_runs_on_different_datasets_are_never_compared(data: Dataset, make_run: Maker) -> None:
    """The same ids and labels under another name are other records."""
    here = [
        scored(make_run(data, skill, seed=i), f"here {i}") for i, skill in enumerate((0.9, 0.6))
    ]
    there = [replace(scored(make_run(data, 0.8, seed=5), "there"), dataset="another")]
    pairs = [(c.first, c.second) for c in compare_all([*here, *there], every_pair=True, draws=200)]
    assert pairs == [("here 0", "here 1")]


def test_errors_from_seeds_and_from_records_are_taken_apart(data: Dataset, make_run: Maker) -> None:
    """Runs that differ in a few answers owe their error to the records; runs of very different
    skill to the seed."""
    first = make_run(data, 0.8, seed=0)
    said = first.tables["predictions"]["label"].to_list()
    near = [
        make_run(data, 0.8, seed=i, labels=[*said[: -i or None], *["true"] * i]) for i in range(3)
    ]
    far = [make_run(data, skill, seed=i) for i, skill in enumerate((0.6, 0.75, 0.9))]
    for runs, more in ((near, "records"), (far, "seeds")):
        (joined,) = join_seeds([scored(run, f"run {i}") for i, run in enumerate(runs)])
        assert joined.sd is not None
        assert joined.from_seeds == pytest.approx(joined.sd / 3**0.5)
        assert joined.advice == more
        assert joined.from_records is not None
        # independent answers of three runs are three times the records
        whole = (0.8 * 0.2 / 600) ** 0.5 / (1 if more == "records" else 3**0.5)
        assert joined.from_records == pytest.approx(whole, rel=0.3)
