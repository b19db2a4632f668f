"""Shares of all records from a review of some."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.review.create import review_create
from claimlab.review.project import ITEMS
from claimlab.review.review import Review

from .made import dataset, key, predictions


def decided(review: Review, truth: dict[str, str], most: int | None = None) -> Review:
    review.add_person("ana")
    for count, item in enumerate(review.queue("ana")):
        if most is not None and count == most:
            break
        record = review.about()[item.id].record_id
        review.decide("ana", item.id, truth[record], key=key())
    return review


def truth_of(made: Dataset) -> dict[str, str]:
    return dict(made.records.select("id", "veracity").iter_rows())


def test_a_review_of_every_record_gives_its_shares(tmp_path: Path) -> None:
    made = dataset()
    review = decided(review_create(made, tmp_path / "r", per_item=1), truth_of(made))
    shares = {row["share"]: row for row in cl.estimate(review)}
    assert shares["true"]["estimate"] == pytest.approx(0.5)
    assert shares["true"]["low"] == shares["true"]["high"]
    assert shares["label right"]["estimate"] == 1


def test_a_sample_with_a_run_as_the_judge(tmp_path: Path) -> None:
    made = dataset(600)
    truth = truth_of(made)
    rng = np.random.default_rng(0)
    other = {"true": "false", "false": "true"}
    said = {record: other[t] if rng.random() < 0.15 else t for record, t in truth.items()}
    run = dataset(600, predictions=predictions(made, said))
    review = review_create(
        made, tmp_path / "r", predictions=run, which="all", sample=120, per_item=1
    )
    estimates = cl.estimate(decided(review, truth))
    assert (estimates.population, estimates.annotated, estimates.judge) == (600, 120, "the run")
    rows = {row["share"]: row for row in estimates}
    false = rows["false"]
    assert false["low"] <= 0.5 <= false["high"]
    assert false["saved"] > 0.3
    right = sum(said[record] == label for record, label in truth.items()) / 600
    assert rows["run right"]["low"] <= right <= rows["run right"]["high"]
    assert rows["run right"]["saved"] > 0.9  # the labels of the dataset are right


def test_records_in_doubt_are_drawn_more_often_and_weigh_less(tmp_path: Path) -> None:
    made = dataset(400)
    truth = truth_of(made)
    scores = {record: 0.5 if n % 4 == 0 else 0.99 for n, record in enumerate(truth)}
    run = dataset(400, predictions=predictions(made, truth, scores))
    review = review_create(
        made, tmp_path / "r", predictions=run, which="all", sample=100, stratify="uncertainty"
    )
    items = pl.read_parquet(review.folder / ITEMS)
    assert items.height == 100
    doubtful = items.filter(pl.col("uncertainty") > 0.4)
    assert doubtful.height > 45  # a quarter of the records
    assert doubtful["chance"].min() > 2 * items["chance"].min()
    assert (1 / items["chance"]).sum() == pytest.approx(400, rel=0.1)


def test_what_is_decided_so_far_is_a_sample_only_in_random_order(tmp_path: Path) -> None:
    made = dataset()
    given = decided(review_create(made, tmp_path / "a", per_item=1), truth_of(made), most=30)
    with pytest.raises(DataError, match="not a random sample"):
        cl.estimate(given)
    random = review_create(made, tmp_path / "b", per_item=1, order="random")
    assert cl.estimate(decided(random, truth_of(made), most=30)).annotated == 30


def test_the_least_certain_are_not_a_sample(tmp_path: Path) -> None:
    made = dataset()
    sure = dict.fromkeys(truth_of(made), 0.7)
    run = dataset(predictions=predictions(made, truth_of(made), sure))
    options = {"predictions": run, "which": "uncertain", "sample": 25, "per_item": 1}
    review = review_create(made, tmp_path / "r", **options)
    with pytest.raises(DataError, match="not drawn at random"):
        cl.estimate(decided(review, truth_of(made)))


def test_nothing_decided_and_answers_that_are_no_choice(tmp_path: Path) -> None:
    made = dataset()
    review = review_create(made, tmp_path / "r", order="random")
    with pytest.raises(DataError, match="Nothing is decided yet"):
        cl.estimate(review)
    with pytest.raises(UsageError, match="are not a choice"):
        cl.estimate(review_create(made, tmp_path / "p", task="note"))


def test_the_command_says_when_annotating_may_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = dataset()
    folder = tmp_path / "r"
    review = review_create(made, folder, per_item=1, order="random")
    decided(review, truth_of(made), most=30).close()
    assert command(["review", "estimate", str(folder), "--width", "0.1"]) == 0
    shown = capsys.readouterr().out
    assert "30 of 60 records annotated" in shown
    assert "annotate about 30 more records" in shown
    assert command(["review", "estimate", str(folder), "--width", "0.9", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["shares"][0]["more"] == 0


def test_the_status_of_a_review_of_a_finding_says_how_often_it_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 300 records of a finding a third has a wrong label; 100 of them are annotated."""
    made = dataset(300)
    truth = truth_of(made)
    folder = tmp_path / "r"
    review = review_create(made, folder, per_item=1, order="random")
    chosen = {**review.project.origin.chosen, "finding": "label-errors"}
    wrong = {
        record: ("true" if label == "false" else "false") if number % 3 == 0 else label
        for number, (record, label) in enumerate(truth.items())
    }
    given = decided(review, wrong, most=100)
    assert cl.estimate(given).precision() is None, "no audit found these"
    review.project.origin.chosen.update(chosen)
    shares = cl.estimate(given)
    said = shares.precision()
    assert said is not None
    low, high = (int(word) for word in said.split("errors', ")[1].split("%")[0].split(" to "))
    assert low <= 33 <= high < 60, said
    given.close()
    assert command(["review", "status", str(folder)]) == 0
    assert "With 95% intervals" in capsys.readouterr().out
