"""What varies independently: hand-counted units, and the level at which labels were given."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.core.units import Units, agreement, label_level


def test_units_are_counted_by_what_they_tell() -> None:
    units = Units.by("source", pl.Series(["a"] * 6 + ["b"] * 3 + [None]))
    assert (units.count, units.enough, units.few) == (3, False, True)
    assert units.effective == pytest.approx(10**2 / (36 + 9 + 1))
    assert units.words == "10 records of 3 publishers (largest 60%)"
    assert units.why_not == "10 records of 3 publishers (largest 60%); at least 6 are needed"
    assert units.to_json() == {
        "column": "source",
        "records": 10,
        "units": 3,
        "effective": 2.2,
        "largest": 0.6,
    }


def test_one_large_unit_among_many_tells_little() -> None:
    units = Units.by("author", pl.Series(["one"] * 60 + [f"author {i}" for i in range(40)]))
    assert units.count == 41
    assert not units.enough
    assert units.why_not is not None
    assert "which tell as much as 2.7 of equal size" in units.why_not


def test_records_by_themselves_are_only_counted() -> None:
    assert Units.records(300).words == "300 records"
    assert Units.records(300).enough
    assert Units.records(1).words == "1 record"


def test_agreement_by_hand() -> None:
    """Of six records that share a value, a and b agree always and c never: pairs agree in 4 of 6
    places; shuffled, 3 records of each of two classes agree in 12 of 30."""
    codes = np.array([0, 0, 1, 1, 2, 2, 3])
    labels = np.array([1, 1, 0, 0, 1, 0, 1])
    expected = (4 / 6 - 12 / 30) / (1 - 12 / 30)
    assert agreement(codes, labels) == (pytest.approx(expected), pytest.approx(6 / 7))
    assert agreement(np.arange(5), np.array([0, 1, 0, 1, 0])) == (0.0, 0.0)


def test_shuffled_labels_agree_no_more_than_by_chance() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(200), 5)
    shares = [agreement(codes, (rng.random(1_000) < 0.8).astype(int))[0] for _ in range(50)]
    assert abs(np.mean(shares)) < 0.01


def test_labels_are_given_to_the_coarsest_column_that_agrees() -> None:
    author = np.repeat(np.arange(60), 5)
    source = author // 10
    columns = {
        "author": pl.Series(author).cast(pl.String),
        "source": pl.Series(source).cast(pl.String),
    }
    by_source, by_author = source % 2, np.random.default_rng(1).integers(0, 2, 60)[author]
    by_record = np.random.default_rng(2).integers(0, 2, 300)
    assert label_level(columns, by_source).column == "source"
    assert label_level(columns, by_author).column == "author"
    assert label_level(columns, by_record).column is None
    assert label_level(columns, by_record, named="source").column == "source"


def test_a_column_that_says_little_of_the_records_carries_no_label() -> None:
    few = pl.Series(["a", "a", "b", "b", *[None] * 96])
    labels = np.array([1, 1, 0, 0, *([0, 1] * 48)])
    assert label_level({"source": few}, labels).column is None
