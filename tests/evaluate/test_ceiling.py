"""The noise ceiling of a run, from what annotators said of its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset

OTHER = {"true": "false", "false": "true"}
Make = Callable[..., Dataset]


def annotated(run: Dataset, answers: Sequence[Sequence[str]], question: str) -> Dataset:
    rows = [
        {
            "record_id": record,
            "annotator": f"annotator {i}",
            "annotator_kind": "human",
            "question": question,
            "value": value,
        }
        for record, given in zip(run.records["id"].to_list(), answers, strict=True)
        for i, value in enumerate(given)
    ]
    tables = {**run.tables, "annotations": pl.DataFrame(rows)}
    return Dataset.build(run.name, run.records, tables, lineage=run.lineage)


def noisy(labels: Sequence[str], rate: float, seed: int) -> list[str]:
    wrong = np.random.default_rng(seed).random(len(labels)) < rate
    return [OTHER[label] if off else label for label, off in zip(labels, wrong, strict=True)]


@pytest.fixture
def run(make_data: Make, make_run: Make) -> Dataset:
    return make_run(make_data(400, per_group=1), 0.97)


def test_second_labels_bound_what_a_run_can_score(run: Dataset, tmp_path: Path) -> None:
    """Both labels are wrong on one record in ten; a run that is right on 97 of 100 of these labels
    has learnt their errors, and is marked."""
    truth = noisy(run.records["veracity"].to_list(), 0.1, seed=1)
    second = [[value.upper()] for value in noisy(truth, 0.1, seed=2)]
    measured = cl.evaluate(annotated(run, second, "veracity"), output=tmp_path / "report")
    ceiling = measured.runs[0].ceiling
    assert ceiling is not None
    value, (low, high) = ceiling.scores["accuracy"]
    assert low < 0.9 < high
    assert value == pytest.approx(0.9, abs=0.04)
    assert ceiling.exceeded("macro_f1", measured.runs[0].scores.macro_f1)
    page = (tmp_path / "report" / "report.md").read_text()
    assert "(noise ceiling)" in page
    assert "above the noise ceiling" in page
    assert "a perfect detector would score" in page


def test_a_majority_of_three_is_better_than_each(make_data: Make, make_run: Make) -> None:
    data = make_data(400, per_group=1)
    truth = data.records["veracity"].to_list()
    votes = list(zip(*(noisy(truth, 0.15, seed) for seed in (3, 4, 5)), strict=True))
    labels = [max(set(given), key=given.count) for given in votes]
    records = data.records.with_columns(veracity=pl.Series(labels))
    run = make_run(Dataset.build("voted", records), 0.8)
    ceiling = cl.evaluate(annotated(run, votes, "veracity")).runs[0].ceiling
    assert ceiling is not None
    right = np.mean([a == b for a, b in zip(labels, truth, strict=True)])
    low, high = ceiling.scores["accuracy"][1]
    assert low < right < high
    assert low > 0.87, "each annotator alone is right on 85 of 100"


def test_without_second_labels_it_is_not_measured(run: Dataset) -> None:
    labels = run.records["veracity"].to_list()
    repeated = [[label] for label in labels]
    unrelated = [[value] for value in noisy(labels, 0.5, seed=6)]
    for one in (run, annotated(run, repeated, "veracity"), annotated(run, unrelated, "other")):
        ceiling = cl.evaluate(one).runs[0].ceiling
        assert ceiling is not None
        assert not ceiling.scores
        assert "not measured" in ceiling.sentence()
