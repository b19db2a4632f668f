"""A gap costs: no ranked score rises by leaving records out, or by answering none of the classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.stats.scores import Ints
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.board import rank_runs
from claimlab.evaluate.confusion import confusion
from claimlab.evaluate.metric import GAP_RULES, Metric, metrics
from claimlab.evaluate.metrics.aurc import area, risk_by_coverage
from claimlab.evaluate.metrics.mcc import mcc
from claimlab.evaluate.metrics.table_scores import calibration
from claimlab.evaluate.scored_run import each_run
from claimlab.tasks import open_task

NAMES = "abcde"
RANKED = pytest.mark.parametrize(
    "metric", [metric for metric in metrics() if metric.ranked], ids=lambda metric: metric.name
)


def made_up(classes: int, size: int, skill: float, seed: int) -> Answers:
    """Answers of some skill with scores, in which every class occurs."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), rng.integers(classes, size=size)])
    scores = rng.random((len(truth), classes)).round(2)
    scores[np.arange(len(truth)), truth] += skill
    scores /= scores.sum(axis=1, keepdims=True)
    names = tuple(NAMES[:classes])
    guess = scores.argmax(axis=1)
    return Answers(names, truth, guess, np.arange(len(truth)), scores, names, positive="a")


def left_out(run: Answers, rows: Ints, *, strange: bool = False) -> Answers:
    """The run without the answers in `rows`: a gap, or an answer that is none of the classes."""
    guess, scores = run.guess.copy(), np.array(run.scores)
    guess[rows] = run.other if strange else run.failed
    scores[rows] = np.nan
    return Answers(run.classes, run.truth, guess, run.cluster, scores, run.scored, positive="a")


@RANKED
@settings(max_examples=150, deadline=None)
@given(
    classes=st.integers(2, 5),
    size=st.integers(5, 120),
    skill=st.floats(-0.5, 1.0),
    seed=st.integers(0, 10_000),
    share=st.floats(0.0, 0.9),
    strange=st.booleans(),
)
def test_no_ranked_score_rises_by_leaving_answers_out(
    metric: Metric, classes: int, size: int, skill: float, seed: int, share: float, strange: bool
) -> None:
    whole = made_up(classes, size, skill, seed)
    rng = np.random.default_rng(seed)
    picks = (rng.random(whole.n), (whole.guess == whole.truth) + rng.random(whole.n))
    for order in map(np.argsort, picks):  # any of them, or the wrong ones first
        before: float | None = metric.measure(whole).value
        for n in (int(share * whole.n / 2), int(share * whole.n)):
            after = metric.measure(left_out(whole, order[:n], strange=strange)).value
            if before is None or after is None:
                continue
            gain = after - before if metric.higher_is_better else before - after
            assert gain <= 1e-12
            before = after


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_every_resample_obeys_the_same_rule(classes: int) -> None:
    """Intervals and ranks are made of tables: each of them costs as much as the whole."""
    whole = made_up(classes, 400, 0.3, classes)
    rng = np.random.default_rng(1)
    rows = rng.integers(whole.n, size=(30, whole.n))
    gaps = left_out(
        whole, np.flatnonzero((whole.guess != whole.truth) & (rng.random(whole.n) < 0.5))
    )
    full, less = (np.stack([confusion(run.take(row)) for row in rows]) for run in (whole, gaps))
    assert (mcc(less) <= mcc(full) + 1e-12).all()
    for metric in metrics():
        if metric.ranked and (cells := metric.cells(gaps)) is not None:
            assert cells.of_all() <= (metric.measure(whole).value or 0.0) + 1e-9


def test_with_two_classes_a_gap_is_the_other_class() -> None:
    whole = made_up(2, 300, 0.4, 3)
    rows = np.arange(0, 300, 4)
    flipped = whole.guess.copy()
    flipped[rows] = 1 - whole.truth[rows]
    wrong = Answers(whole.classes, whole.truth, flipped, whole.cluster)
    for metric in metrics():
        if metric.gaps in ("wrong", "every-other", "lowest"):
            found = metric.measure(left_out(whole, rows)).value
            assert found == pytest.approx(metric.measure(wrong).value, abs=1e-12), metric.name


@pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)
def test_each_metric_declares_its_rule_and_obeys_it(metric: Metric) -> None:
    assert metric.gaps in GAP_RULES
    run = made_up(2, 400, 0.5, 7)
    rows = np.arange(0, 400, 5)
    gaps, kept = left_out(run, rows), np.setdiff1d(np.arange(run.n), rows)
    value, of_kept = metric.measure(gaps).value, metric.measure(run.take(kept)).value
    assert value is not None
    if metric.gaps == "left-out":
        assert value == of_kept, "of the answered records alone"
        assert calibration(gaps).n == len(kept), "whose number is given"
        assert not metric.ranked
    else:
        assert value < (of_kept or 0.0)
    if metric.gaps == "wrong-end":
        ends = np.array(run.scores)
        ends[rows] = np.where(run.truth[rows][:, None] == [0, 1], -1.0, 2.0)
        at_ends = Answers(run.classes, run.truth, run.guess, run.cluster, ends, positive="a")
        assert metric.measure(at_ends).value == pytest.approx(value, abs=1e-12)


def test_half_of_the_wrong_answers_left_out_gain_nothing(
    make_data: Callable[..., Dataset], make_run: Callable[..., Dataset]
) -> None:
    """What a participant would try: it raised macro-F1 and put the run first."""
    data = make_data(400)
    run = make_run(data, 0.7)
    table = run.tables["predictions"]
    wrong = table.filter(table["label"] != data.records["veracity"])["record_id"]
    kept = table.filter(~table["record_id"].is_in(wrong[: len(wrong) // 2].implode()))
    task = open_task("veracity")
    (whole,), (less,) = (
        each_run(name, rows, data, task) for name, rows in (("whole", table), ("less", kept))
    )
    boards, _ = rank_runs([whole, less], draws=200)
    assert {board.metric for board in boards} == {m.key for m in metrics() if m.ranked}
    for board in boards:
        scores = {standing.name: standing.score for standing in board.standings}
        assert scores["less"] <= scores["whole"] + 1e-12, board.metric


def test_risk_and_coverage_are_those_of_a_loop() -> None:
    """By hand: the surest answers first, the share of wrong ones after each, and their mean."""
    run = made_up(3, 200, 0.4, 11)
    assert run.scores is not None
    rng = np.random.default_rng(5)
    run.scores[:] += rng.random(run.scores.shape) / 1e6  # no ties
    gaps = left_out(run, np.flatnonzero(rng.random(run.n) < 0.3))
    assert gaps.scores is not None
    spoke = [i for i in range(gaps.n) if gaps.guess[i] < 3]
    spoke.sort(key=lambda i: -gaps.scores[i, gaps.guess[i]])  # type: ignore[index]
    wrong, risks = 0, []
    for n, i in enumerate(spoke, 1):
        wrong += gaps.guess[i] != gaps.truth[i]
        risks.append(wrong / n)
    assert area(gaps).value == pytest.approx(np.mean(risks))
    curve = risk_by_coverage(gaps)
    assert curve[-1] == (pytest.approx(len(spoke) / gaps.n), pytest.approx(risks[-1]))
    assert all(risk == pytest.approx(risks[round(at * gaps.n) - 1]) for at, risk in curve)


@pytest.mark.slow
def test_a_run_that_declines_shows_its_risk_by_coverage_and_both_rules(tmp_path: Path) -> None:
    """Records left out, without a word: the page has the curve, and macro-F1 as others count it,
    which equals scikit-learn's."""
    metrics_of = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    truth = [str(name) for name in rng.choice(["true", "false"], 300)]
    sure = rng.uniform(0.5, 1, 300).round(3)
    right = rng.random(300) < sure
    said = [
        t if ok else {"true": "false", "false": "true"}[t]
        for t, ok in zip(truth, right, strict=True)
    ]
    data = Dataset.build(
        "shy",
        pl.DataFrame(
            {
                "id": [f"r{i}" for i in range(300)],
                "text": [f"Bridge {i} was opened." for i in range(300)],
                "veracity": truth,
                "split": ["test"] * 300,
            }
        ),
    )
    rows = [
        {"id": f"r{i}", "label": said[i], f"score_{said[i]}": sure[i]}
        for i in range(300)
        if sure[i] > 0.65
    ]
    pl.DataFrame(rows, infer_schema_length=None).write_csv(tmp_path / "shy.csv")
    evaluation = cl.evaluate(
        predictions=tmp_path / "shy.csv", data=data, draws=200, by=[], output=tmp_path / "page"
    )
    (run,) = evaluation.runs
    assert run.abstentions is not None
    assert run.abstentions.kinds == []
    assert run.abstentions.coverage == pytest.approx(len(rows) / 300)
    risks = [risk for _, risk in run.abstentions.curve]
    assert risks[-1] > risks[len(risks) // 4], "surer answers are better"
    answered = {row["id"]: row["label"] for row in rows}
    wanted = metrics_of.f1_score(
        truth,
        [answered.get(f"r{i}", "none") for i in range(300)],
        labels=["true", "false"],
        average="macro",
        zero_division=0,
    )
    assert run.abstentions.forgiving_macro_f1 == pytest.approx(wanted)
    assert run.scores.macro_f1 < wanted  # type: ignore[operator]
    text = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "No verdict given" in text
    assert "Risk and coverage" in text
