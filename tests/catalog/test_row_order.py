"""What splits and published scores rest on: groups that must stay together, and the order of
rows.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load


def published_temporal_score(records: pl.DataFrame) -> float:
    """The guide's own recipe, order included: fit a forest on all rows by the id's first three
    digits, score a quarter.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import f1_score
    from sklearn.model_selection import train_test_split

    known = records.filter(pl.col("veracity").is_in(["true", "false"]))
    x = known["tweet_id"].str.slice(0, 3).cast(pl.Int64).to_numpy().reshape(-1, 1)
    y = known["veracity"].to_numpy()
    _, x_test, _, y_test = train_test_split(x, y, test_size=0.25, random_state=42)
    forest = RandomForestClassifier(max_depth=20, random_state=0).fit(x, y)
    return round(100 * float(f1_score(y_test, forest.predict(x_test), average="macro")), 1)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "published"), [("twitter15", 85.6), ("wico", 40.7)])
def test_row_order_reproduces_the_published_temporal_score(
    name: str, published: float, real_data: Path
) -> None:
    assert (
        published_temporal_score(load(name, real_data / f"{name}.zip", map="cdl").records)
        == published
    )


@pytest.mark.realdata
def test_every_event_of_twitter15_has_one_class(real_data: Path) -> None:
    records = load("twitter15", real_data / "twitter15.zip").records
    classes = records.group_by("group").agg(pl.col("label_raw").n_unique())["label_raw"]
    assert classes.len() == 298
    assert set(classes) == {1}
    assert records.filter(pl.col("label_raw") != "unverified")["group"].n_unique() == 217


@pytest.mark.realdata
def test_verite_triplets_hold_one_pair_of_each_kind(real_data: Path) -> None:
    records = load("verite", real_data / "verite.zip").records
    kinds = records.group_by("group").agg(pl.col("label_raw").n_unique().alias("kinds"), pl.len())
    assert (kinds["kinds"] == kinds["len"]).all()
    assert kinds.height == 338
    twice = records.group_by("text").agg(pl.col("veracity").n_unique())
    assert (twice["veracity"] == 2).sum() == 325


@pytest.mark.realdata
def test_pheme_events_are_one_stretch_of_days_each(real_data: Path) -> None:
    """The event of a non-rumour is inferred from the order of rows; its date must then lie with its
    event's rumours.
    """
    records = load("pheme", real_data / "pheme.zip").records
    assert records["group"].null_count() == 0
    assert records["group"].n_unique() == 9
    spans = records.group_by("group").agg(
        (pl.col("date").max() - pl.col("date").min()).dt.total_days().alias("days")
    )
    assert spans["days"].max() < 7


@pytest.mark.realdata
def test_pubhealthtab_claims_are_grouped_by_table(real_data: Path) -> None:
    dataset = load("pubhealthtab", real_data / "pubhealthtab.zip")
    assert dataset.records["group"].n_unique() == 220
    parts = dataset.records.group_by("group").agg(pl.col("split").n_unique())["split"]
    assert (parts == 2).sum() == 63
    assert dataset.tables["evidence"]["text"].null_count() == 0
