"""One unit for all runs of a table: what the split held out, or a column by which errors go
together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import to_records, to_side_table
from claimlab.core.types import JsonObject
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.compare import compare
from claimlab.evaluate.evaluation import evaluate_runs
from claimlab.evaluate.scored_run import ScoredRun, about_of, score
from claimlab.evaluate.units import considered, in_one_unit
from claimlab.tasks import open_task
from claimlab.text.unit import Unit, held_out, stretch

RUNS = 40  # of a simulation


def dataset_of(labels: Sequence[int], **columns: Sequence[object]) -> Dataset:
    rows = {
        "id": [f"r{i:04d}" for i in range(len(labels))],
        "text": [f"Statement number {i}." for i in range(len(labels))],
        "veracity": ["true" if label else "false" for label in labels],
        "split": ["test"] * len(labels),
        **{name: list(values) for name, values in columns.items()},
    }
    return Dataset.build("units", to_records(pl.DataFrame(rows)))


def run_of(
    dataset: Dataset, right: Sequence[bool] | np.ndarray[tuple[int], np.dtype[np.bool_]], by: str
) -> ScoredRun:
    truth = dataset.records["veracity"].to_list()
    other = {"true": "false", "false": "true"}
    said = [word if ok else other[word] for word, ok in zip(truth, right, strict=True)]
    answers = pl.DataFrame({"record_id": dataset.records["id"], "label": said})
    predictions = to_side_table("predictions", answers)
    parameters: JsonObject = {"by": by}
    about = about_of([Lineage(step="split", parameters=parameters, seed=0)])
    task = open_task("veracity", dataset.records)
    return score("run", predictions, dataset, task, split="test", about=about)


def publishers(n: int, each: int) -> list[str]:
    return [f"publisher {i // each}" for i in range(n * each)]


@pytest.mark.parametrize(
    ("parameters", "column"),
    [
        ({"by": "source"}, "source"),
        ({"by": "event"}, "group"),
        ({"by": ["time"]}, "time"),
        ({"by": "column", "column": "author"}, "author"),
        ({"by": "column", "column": "language"}, None),
        ({"by": "language"}, None),
        ({"by": "random"}, None),
    ],
)
def test_the_column_that_a_split_held_out(parameters: JsonObject, column: str | None) -> None:
    assert held_out(parameters) == column


def test_a_split_by_publisher_makes_publishers_the_unit() -> None:
    rng = np.random.default_rng(0)
    data = dataset_of(rng.integers(0, 2, 300).tolist(), source=publishers(30, 10))
    by_source = run_of(data, rng.random(300) < 0.8, "source")
    assert by_source.units.words == "300 records of 30 publishers (largest 3%)"
    assert run_of(data, rng.random(300) < 0.8, "random").units.words == "300 records"


def test_four_publishers_have_a_score_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    data = dataset_of([i // 35 % 2 for i in range(140)], source=publishers(4, 35))
    evaluation = evaluate_runs([run_of(data, rng.random(140) < 0.8, "source")], draws=200)
    (run,) = evaluation.runs
    assert run.scores.macro_f1 is not None
    assert run.intervals["macro_f1"] is None
    assert run.chance.p is None
    assert run.chance.why is not None
    assert "140 records of 4 publishers (largest 25%); at least 6 are needed" in run.chance.why
    assert run.units == "140 records of 4 publishers (largest 25%)"


def test_errors_that_go_together_widen_every_row() -> None:
    """A random split, and one run whose errors come by author: both runs are measured by author."""
    rng = np.random.default_rng(3)
    author = np.arange(400) // 10
    data = dataset_of(
        rng.integers(0, 2, 400).tolist(), author=[f"author {i}" for i in author.tolist()]
    )
    by_author = rng.random(40)[author] < 0.7
    together, apart = (
        run_of(data, by_author, "random"),
        run_of(data, rng.random(400) < 0.7, "random"),
    )
    assert [run.unit.column for run in in_one_unit([apart, replace(apart, name="b")])] == [
        "group"
    ] * 2
    assert [run.unit.column for run in in_one_unit([apart, together])] == ["author"] * 2
    (effect,) = (c for c in considered(together) if c.units.column == "author")
    assert effect.design_effect == pytest.approx(10, rel=0.15)  # errors of whole tens


def test_the_errors_of_one_constant_answer_widen_nothing() -> None:
    """Labels are those of whole authors, and so are the errors of the majority class."""
    label = np.repeat(np.arange(40) % 2, 10)
    data = dataset_of(label.tolist(), author=[f"author {i // 10}" for i in range(400)])
    majority = run_of(data, label == 1, "random")
    (alone,) = in_one_unit([majority])
    assert alone.unit.column == "group"
    (effect,) = (c for c in considered(majority) if c.units.column == "author")
    assert effect.design_effect is not None
    assert effect.design_effect > 5


def test_a_named_column_is_the_unit() -> None:
    rng = np.random.default_rng(1)
    data = dataset_of(rng.integers(0, 2, 200).tolist(), author=publishers(20, 10))
    run = run_of(data, rng.random(200) < 0.8, "random")
    evaluation = cl.evaluate([run], unit="author", draws=200)
    assert evaluation.runs[0].units == "200 records of 20 authors (largest 5%)"
    with pytest.raises(cl.ClaimlabError, match="publisher"):
        cl.evaluate([run], unit="publisher", draws=200)


def test_days_that_are_alike_make_long_stretches() -> None:
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(120), 4)
    weeks = rng.random(12)[day // 10] < 0.5  # right or wrong for ten days at a time
    alone = [stretch(day, rng.random(480) < 0.5) for _ in range(RUNS)]
    assert 2 <= np.median(alone) <= 6
    assert stretch(day, weeks) >= 16


def test_neighbouring_days_are_resampled_together() -> None:
    rng = np.random.default_rng(0)
    first = datetime(2024, 1, 1)
    dates = [first + timedelta(days=i // 4) for i in range(480)]
    data = dataset_of(rng.integers(0, 2, 480).tolist(), date=dates)
    (run,) = in_one_unit([run_of(data, rng.random(480) < 0.8, "time")])
    assert run.unit == Unit("time", run.unit.periods)
    assert 6 <= run.units.count == -(-120 // run.unit.periods)
    assert "stretches of time" in run.units.words


Verdict = Callable[[np.random.Generator], bool]


@pytest.mark.slow
def test_labels_of_whole_publishers_give_no_star_by_luck() -> None:
    """Thirty publishers of one label each; answers go by publisher too, and know nothing."""

    def starred(rng: np.random.Generator, by: str) -> bool:
        label = rng.permutation(np.arange(30) % 2)
        data = dataset_of(np.repeat(label, 10).tolist(), source=publishers(30, 10))
        answer = np.repeat(rng.random(30) < 0.5, 10)
        p = against_chance([run_of(data, answer == np.repeat(label, 10), by)], draws=200).p
        return p is not None and p < 0.05

    for by in ("source", "random"):
        rng = np.random.default_rng(7)
        assert sum(starred(rng, by) for _ in range(RUNS)) <= 5


@pytest.mark.slow
def test_equal_detectors_are_not_told_apart() -> None:
    def told(rng: np.random.Generator) -> bool:
        data = dataset_of(rng.integers(0, 2, 300).tolist(), source=publishers(12, 25))
        effects = rng.normal(size=(2, 12))
        right = [rng.random(300) < 1 / (1 + np.exp(-1 - np.repeat(e, 25))) for e in effects]
        result = compare(*(run_of(data, hits, "source") for hits in right), draws=400)
        assert result.interval is not None
        return not result.interval[0] <= 0 <= result.interval[1]

    rng = np.random.default_rng(5)
    assert sum(told(rng) for _ in range(RUNS)) <= 6
