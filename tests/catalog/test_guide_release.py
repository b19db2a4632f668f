"""The variant `guide`: a dataset as the authors of the 75-dataset guide release it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.errors import UnreadableFile


def test_the_guides_release_as_one_file_for_all_datasets(tmp_path: Path) -> None:
    columns = {
        "claim": ["a", "b", "c"],
        "label": ["true", "false", "true"],
        "dataset": ["twitter16", "x_fact", "Twitter16"],
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "train.parquet")
    pl.DataFrame(columns).write_csv(tmp_path / "validation.csv")
    found = load("twitter16", tmp_path, variant="guide")
    assert found.records["text"].to_list() == ["a", "c", "a", "c"]
    assert found.records["split"].to_list() == ["train", "train", "dev", "dev"]
    assert found.records["group"].n_unique() == 2
    assert any("random draw" in note for note in found.notes)


def test_the_guides_release_keeps_dates_ids_and_languages(tmp_path: Path) -> None:
    row: dict[str, str | None] = {
        "claim": "x",
        "label": "false",
        "tweet_id": "1212092628029698048",
        "date": "7/5/2017",
        "language": "pt",
    }
    (tmp_path / "x_fact").mkdir()
    pl.DataFrame([{**row, "date": None, "tweet_id": "1.2E+18"}]).write_parquet(
        tmp_path / "x_fact/x_fact_train.parquet"
    )
    pl.DataFrame([row]).write_parquet(tmp_path / "x_fact/x_fact_test.parquet")
    records = load("x-fact", tmp_path, variant="guide").records
    assert records["date"].to_list() == [None, datetime(2017, 7, 5)]
    assert records["date_source"].to_list() == [None, "date column"]
    assert records["tweet_id"].to_list() == [None, "1212092628029698048"]
    assert records["language"].to_list() == ["por", "por"]


def test_a_folder_without_the_guides_files_says_what_to_give(
    tmp_path: Path, sample: Callable[..., Path]
) -> None:
    sample("rumors", tmp_path, without=("parquet",))
    with pytest.raises(UnreadableFile, match=r"rumors_train\.parquet.*Hugging Face"):
        load("rumors", tmp_path)
