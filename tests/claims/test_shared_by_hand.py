"""Two small datasets with splits: what each holds of the other, counted by hand."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from claimlab.claims.front import overlap
from claimlab.claims.result import Overlap
from claimlab.core.dataset import Dataset

FERRY = "The ferry to Eastham carried four hundred people on Sunday."
BRIDGE = "The stone bridge at Northport was closed for repairs in March."
SCHOOL = "Every school of the county will teach chess from autumn on."
MILL = "An old mill near Westby burned down in the night to Friday."
LAKE = "No fish were caught in the lake of Midford for three weeks."
SHORT = "Bread is free."


def dataset(name: str, rows: list[tuple[str, str | None, str, int, str]]) -> Dataset:
    texts, splits, verdicts, days, languages = zip(*rows, strict=True)
    frame = {
        "id": [f"{name}-{i}" for i in range(len(rows))],
        "text": texts,
        "split": splits,
        "veracity": verdicts,
        "label_raw": verdicts,
        "date": [datetime(2020, 1, day) for day in days],
        "language": languages,
    }
    return Dataset.build(name, pl.DataFrame(frame, schema_overrides={"split": pl.String}))


@pytest.fixture(scope="module")
def found() -> Overlap:
    """Of the four test records of `one`, `two` trains on two; it holds all of its three in train
    but one."""
    one = dataset(
        "one",
        [
            (FERRY, "test", "true", 3, "eng"),
            (BRIDGE, "test", "true", 4, "eng"),
            (MILL, "test", "false", 5, "eng"),
            (LAKE, "test", "false", 6, "eng"),
            (SHORT, "train", "true", 7, "eng"),
            (SCHOOL, "train", "true", 8, "eng"),
            ("Nothing like it is anywhere else in these two datasets.", "train", "true", 9, "eng"),
        ],
    )
    two = dataset(
        "two",
        [
            (FERRY.upper(), "train", "false", 1, "eng"),
            (BRIDGE, "train", "true", 2, "deu"),
            (MILL, "test", "false", 20, "eng"),
            (SHORT, "test", "true", 21, "eng"),
            (SCHOOL, "test", "mixed", 22, "eng"),
        ],
    )
    return overlap([one, two])


def test_the_matrix_counts_records_of_the_row_that_the_column_holds(found: Overlap) -> None:
    rows = {
        (row["dataset"], row["split"], row["other"], row["other_split"]): row
        for row in found.matrix.to_dicts()
    }
    whole = rows["one", None, "two", None]
    assert (whole["records"], whole["shared"], whole["same_text"], whole["short"]) == (7, 5, 5, 1)
    assert (
        rows["two", None, "one", None]["records"],
        rows["two", None, "one", None]["shared"],
    ) == (5, 5)
    test_in_train = rows["one", "test", "two", "train"]
    assert (test_in_train["records"], test_in_train["shared"], test_in_train["short"]) == (4, 2, 0)
    assert rows["one", "train", "two", "train"]["shared"] == 0
    assert rows["two", "test", "one", "train"]["shared"] == 2
    assert ("one", "test", "one", None) not in rows, "a dataset holds its splits"
    assert ("one", "train", "one", "test") in rows
    assert dict(zip(found.whole["dataset"], found.whole["share"], strict=True)) == {
        "one": pytest.approx(5 / 7),
        "two": 1.0,
    }


def test_leaks_are_of_test_records_in_the_other_train(found: Overlap) -> None:
    assert found.leaks.rows() == [
        ("one", "two", 3, 2, pytest.approx(2 / 3)),
        ("two", "one", 4, 2, pytest.approx(0.5)),
    ]


def test_the_history_of_a_shared_claim(found: Overlap) -> None:
    claims = found.clusters
    assert claims["claim"].n_unique() == 5
    ferry = claims.filter(pl.col("text").str.to_lowercase() == FERRY.lower())
    assert ferry["id"].to_list() == ["two-0", "one-0"], "the oldest first"
    first, last = ferry["first"].unique().to_list(), ferry["last"].unique().to_list()
    assert ([day.day for day in first], [day.day for day in last]) == ([1], [3])
    assert ferry["verdicts"].unique().to_list() == ["false; true"]
    assert ferry["records"].to_list() == [2, 2]
    bridge = claims.filter(text=BRIDGE)
    assert bridge["languages"].unique().to_list() == ["deu; eng"]
    assert bridge["datasets"].unique().to_list() == ["one; two"]


def test_the_sentences(found: Overlap) -> None:
    assert found.pairs() == 1
    assert found.headline() == "of 2 datasets, 12 records: 1 of 1 pair shares claims"
    assert found.sentences() == [
        "one holds 5 of 5 records of two (100%).",
        "Trained on one and tested on two, a detector has seen 2 of 3 test records (67%).",
        "one and two disagree on 2 of 5 claims with the same text (too few for an interval), on 1"
        " as true against false: at least 10% of their labels on these claims are wrong, a floor"
        " for label noise.",
    ]


def test_a_near_copy_is_shared_but_is_not_the_same_text() -> None:
    one = dataset("one", [(FERRY, None, "true", 1, "eng"), (LAKE, None, "true", 1, "eng")])
    two = dataset("two", [(FERRY.replace("Sunday", "Monday"), None, "true", 1, "eng")])
    row = overlap([one, two]).whole.row(0, named=True)
    assert (row["records"], row["shared"], row["same_text"], row["near_duplicate"]) == (2, 1, 0, 1)
