"""Batch control as a closed loop: accept above 90 %, return 70 to 90 %, discard below 70 %."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.review.batches import verdict
from claimlab.review.create import review_create
from claimlab.review.review import Review
from claimlab.review.task import Batches

from .made import dataset, key


def spoiled(made: Dataset, wrong: dict[str, int]) -> Dataset:
    """The dataset with that many wrong labels per 10 records from a record on."""
    bad = {
        f"r{int(start[1:]) + 10 * k + i:03d}"
        for start, n in wrong.items()
        for k in range(5)
        for i in range(n)
    }
    flipped = pl.when(pl.col("veracity") == "true").then(pl.lit("false")).otherwise(pl.lit("true"))
    changed = (
        pl.when(pl.col("id").is_in(sorted(bad)))
        .then(flipped)
        .otherwise("veracity")
        .alias("veracity")
    )
    return Dataset.build("made", made.records.with_columns(changed).drop("dataset"))


def inspect(review: Review, truth: Dataset) -> None:
    """An annotator who knows the truth."""
    labels = dict(truth.records.select("id", "veracity").iter_rows())
    review.add_person("ola", "owner")
    while (item := review.next_item("ana")) is not None:
        record = review.item(item.id, "ola").record_id
        assert record is not None
        review.decide("ana", item.id, labels[record], key=key())


@pytest.mark.parametrize(
    ("accuracy", "state"),
    [
        (1, "accepted"),
        (0.91, "accepted"),
        (0.9, "returned"),
        (0.7, "returned"),
        (0.69, "discarded"),
    ],
)
def test_the_limits_are_the_papers(accuracy: float, state: str) -> None:
    assert verdict(accuracy, Batches()) == state


@pytest.mark.slow
def test_the_loop_ends_with_every_batch_accepted_or_discarded(tmp_path: Path) -> None:
    truth = dataset(200)
    first = spoiled(
        truth, {"r050": 2, "r150": 5}
    )  # batches of 50: good, 20 % wrong, good, half wrong
    settings = {"batch": 50, "inspect": 1.0, "per_item": 1}
    one = review_create(first, tmp_path / "one", people=["ana"], **settings)
    assert one.batches().summary()["pending"] == 200
    with pytest.raises(DataError, match="not inspected yet"):
        review_create(truth, tmp_path / "two", again=tmp_path / "one")
    inspect(one, truth)
    table = one.batches()
    assert table.table["accuracy"].to_list() == [1.0, 0.8, 1.0, 0.5]
    assert table.table["state"].to_list() == ["accepted", "returned", "accepted", "discarded"]
    assert table.table["low"][1] < 0.8 < table.table["high"][1]
    before = {
        "initial": 200,
        "accepted": 100,
        "returned": 50,
        "discarded": 50,
        "pending": 0,
        "final": 100,
    }
    assert table.summary() == before
    one.close()

    two = review_create(truth, tmp_path / "two", again=tmp_path / "one", people=["ana"], per_item=1)
    assert two.results()["batch"].unique().to_list() == [2]
    inspect(two, truth)
    after = {**before, "final": 150}
    assert two.batches().summary() == after
    with pytest.raises(DataError, match="returned no batch"):
        review_create(truth, tmp_path / "three", again=tmp_path / "two")


def test_a_tenth_of_each_batch_is_inspected(tmp_path: Path) -> None:
    review = review_create(dataset(250), tmp_path / "r", batch=100)
    counts = review.results()["batch"].value_counts().sort("batch").rows()
    assert counts == [(1, 10), (2, 10), (3, 5)]


def test_a_review_without_batches_says_so(tmp_path: Path) -> None:
    review = review_create(dataset(), tmp_path / "r", sample=5)
    with pytest.raises(UsageError, match="not a review by batches"):
        review.batches()
    with pytest.raises(UsageError, match="not a review by batches"):
        review_create(dataset(), tmp_path / "s", again=tmp_path / "r")
