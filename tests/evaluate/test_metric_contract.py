"""Every metric of the registry: bounds, the best value, constant answers, names of classes, tables
in stacks, and what is said where nothing can be measured.
"""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.evaluate.answers import Answers, answers
from claimlab.evaluate.confusion import confusion
from claimlab.evaluate.metric import METRICS, Metric, TableMetric, metrics
from claimlab.evaluate.metrics.table_scores import RATES

EACH = pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)
TABLES = pytest.mark.parametrize(
    "metric",
    [metric for metric in metrics() if isinstance(metric, TableMetric)],
    ids=lambda metric: metric.name,
)


def made_up(
    names: str, skill: float, seed: int = 0, said: str | None = None, strange: bool = False
) -> Answers:
    """A run on six hundred records of the classes `names`, with probabilities; `said` is the answer
    to all of them.
    """
    rng = np.random.default_rng(seed)
    truth = [*names, *rng.choice(list(names), 600)]
    logits = rng.normal(size=(len(truth), len(names)))
    logits[np.arange(len(truth)), [names.index(t) for t in truth]] += min(skill, 1e3)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs = odds / odds.sum(axis=1, keepdims=True)
    guesses: list[str | None] = [said or names[i] for i in probs.argmax(axis=1)]
    if strange:
        guesses[::7], guesses[::11] = ["no idea"] * len(guesses[::7]), [None] * len(guesses[::11])
    scores = [dict(zip(names, map(float, row), strict=True)) for row in probs]
    if said is not None:
        scores = [dict.fromkeys(names, 1 / len(names))] * len(truth)
    return answers(truth, guesses, scores=scores, order=names, positive="a")


def better(metric: Metric, one: float, other: float) -> bool:
    return one > other if metric.higher_is_better else one < other


def test_the_registry_has_the_usual_metrics() -> None:
    rates = {f"tpr-at-{100 * fpr:g}" for fpr in RATES}
    usual = {"macro-f1", "accuracy", "balanced-accuracy", "mcc", "auroc", "ece", "brier"}
    assert usual | rates <= set(METRICS.names())
    assert [metric.short for metric in metrics() if metric.short][:2] == ["macro-F1", "accuracy"]


@EACH
def test_it_says_what_it_is(metric: Metric) -> None:
    assert metric.title
    assert metric.summary.endswith(".")
    assert metric.lowest < metric.highest


@EACH
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_values_are_within_bounds_and_the_truth_itself_is_best(metric: Metric, names: str) -> None:
    perfect = metric.measure(made_up(names, np.inf))
    if perfect.value is None:
        assert perfect.why == "There are more than two classes."
        return
    best = metric.highest if metric.higher_is_better else metric.lowest
    assert perfect.value == pytest.approx(best, abs=1e-12)
    for seed in range(5):
        found = metric.measure(made_up(names, 0.5, seed, strange=bool(seed % 2))).value
        assert found is not None
        assert metric.lowest <= found <= metric.highest
        assert better(metric, perfect.value, found)


@EACH
def test_a_constant_answer_is_never_good_and_constant_scores_are_not_measured(
    metric: Metric,
) -> None:
    found = metric.measure(made_up("abc", 1.0, said="b"))
    if not isinstance(metric, TableMetric):
        assert (found.value, found.why) == (None, "Every record has the same scores.")
        return
    skilled = metric.measure(made_up("abc", 2.0)).value
    assert found.value is not None
    assert skilled is not None
    assert better(metric, skilled, found.value)


@EACH
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_the_names_and_the_order_of_the_classes_change_nothing(metric: Metric, names: str) -> None:
    run = made_up(names, 0.7, 3, strange=True)
    order = np.roll(np.arange(len(names)), 1)
    place = np.concatenate([np.argsort(order), [run.other, run.failed]])
    assert run.scores is not None
    renamed = Answers(
        tuple(names[i].upper() for i in order),
        place[run.truth],
        place[run.guess],
        run.cluster,
        run.scores[:, order],
        tuple(names[i].upper() for i in order),
        positive="A",
    )
    found, again = metric.measure(run), metric.measure(renamed)
    assert again.why == found.why
    assert again.value == pytest.approx(found.value, abs=1e-12)


@TABLES
def test_a_stack_of_tables_is_measured_as_each_of_them(metric: TableMetric) -> None:
    runs = [made_up("abc", 0.6, seed, strange=True) for seed in range(6)]
    tables = np.stack([confusion(run) for run in runs])
    one_by_one = [metric.measure(run).value for run in runs]
    assert metric.figure(tables).tolist() == pytest.approx(one_by_one)
    assert metric.figure(tables.reshape(2, 3, 3, 5)).shape == (2, 3)
    assert np.isnan(metric.figure(np.zeros((1, 3, 5)))).all(), "nothing gives no number"


@EACH
def test_what_is_not_measured_says_why(metric: Metric) -> None:
    silent = metric.measure(answers(["a", "b"] * 20, [None] * 40))
    assert silent.value is None
    assert silent.why
    alone = metric.measure(answers(["a"] * 40, ["a"] * 40))
    assert (alone.value is None) == (alone.why is not None)


@EACH
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_counts_give_the_same_figure_as_the_records_themselves(metric: Metric, names: str) -> None:
    """Of all records, and of a resample of them: what intervals and ranks are made of."""
    run = made_up(names, 1.0, 5)
    cells = metric.cells(run)
    point = metric.measure(run).value
    if cells is None:
        assert point is None
        return
    assert cells.of_all() == pytest.approx(point, abs=1e-9)
    rows = np.random.default_rng(1).integers(run.n, size=run.n)
    counts = np.bincount(np.atleast_2d(cells.cell)[:, rows].ravel(), minlength=cells.size)
    drawn = cells.figure(counts[None].astype(float))[0]
    assert drawn == pytest.approx(metric.measure(run.take(rows)).value, abs=0.01)
    twice = np.concatenate([np.arange(run.n), np.arange(run.n)])
    doubled = metric.measure(run.take(twice)).value
    whole = np.bincount(cells.cell.ravel(), minlength=cells.size)
    assert cells.figure(2.0 * whole[None])[0] == pytest.approx(doubled, abs=1e-9)
