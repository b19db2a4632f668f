"""The shape of a cascade as a shortcut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset

N = 300


def dataset(*, planted: bool) -> Dataset:
    """Stars of 2 to 21 posts; where planted, those of false records have twice as many."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(["true", "false"] * (N // 2))
    sizes = rng.integers(2, 22, N) * np.where(planted & (labels == "false"), 2, 1)
    records = pl.DataFrame(
        {"id": [f"r{i}" for i in range(N)], "text": [f"text {i}" for i in range(N)]}
    ).with_columns(veracity=pl.Series(labels))
    rows = [
        {"record_id": f"r{i}", "child": str(p), "delay": float(p), "depth": min(p, 1)}
        for i, size in enumerate(sizes)
        for p in range(size)
    ]
    return Dataset.build("stars", records, {"cascade": pl.DataFrame(rows)})


def test_cascades_of_one_class_that_are_larger_are_found() -> None:
    (finding,) = audit(dataset(planted=True), checks=["cascade"]).findings
    assert finding.verdict == "fail"
    assert finding.details["median_posts"]["false"] > finding.details["median_posts"]["true"]


def test_cascades_that_say_nothing_of_the_label_are_no_alarm() -> None:
    (finding,) = audit(dataset(planted=False), checks=["cascade"]).findings
    assert finding.verdict in ("pass", "inconclusive")


def test_records_without_cascades_are_not_applicable() -> None:
    bare = dataset(planted=True)
    bare.tables.clear()
    (finding,) = audit(bare, checks=["cascade"]).findings
    assert finding.verdict == "not-applicable"


@pytest.mark.slow
def test_the_trees_of_twitter15_give_the_label_away(real_data: Path) -> None:
    (finding,) = audit(
        load("twitter15", real_data / "twitter15-trees.zip"), checks=["cascade"]
    ).findings
    assert finding.verdict == "fail"
