"""The guide's unified table in the shapes its hub repository has had."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.errors import UnmappedLabels, UnreadableFile

ROWS = [
    {"dataset": "liar", "claim": "The town has no debt.", "label": "half-true", "veracity": 3},
    {"dataset": "isot", "claim": "Long ago. A bridge.", "label": "true", "veracity": 1},
    {"dataset": "coaid", "claim": "The  town has no DEBT.", "label": "fake", "veracity": 2},
]


def parquet(rows: list[dict[str, object]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).cast({pl.Null: pl.String}).write_parquet(buffer)
    return buffer.getvalue()


def test_rows_are_read_once_though_the_repository_has_them_twice(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path, {"test.parquet": parquet(ROWS[2:])})
    write(tmp_path, {"train.parquet": parquet(ROWS[:2])})
    write(tmp_path, {"train_old.parquet": parquet(ROWS)})
    write(tmp_path, {"liar/liar_train.parquet": parquet(ROWS[:1])})
    records = load("cdl-md", tmp_path).records
    assert records["source"].to_list() == ["liar", "isot", "coaid"], "train before test"
    assert records["split"].to_list() == ["train", "train", "test"]
    assert records["kind"].to_list() == ["claim", "article", "claim"]
    assert records["veracity"].to_list() == ["mixed", "true", "false"]
    assert json.loads(records["meta"][0]) == {"label": "half-true"}


def test_a_repeated_text_is_one_group_even_across_datasets_and_splits(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    dataset = load("cdl-md", write(tmp_path, {"train.parquet": parquet(ROWS)}))
    group = dataset.records["group"].to_list()
    assert group[0] == group[2] is not None
    assert group[1] is None
    assert any("2 rows repeat" in note for note in dataset.notes)


def test_the_two_meanings_of_code_three_are_two_maps(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path, {"train.parquet": parquet(ROWS[:1])})
    assert load("cdl-md", tmp_path).records["veracity"].to_list() == ["mixed"]
    assert load("cdl-md", tmp_path, map="2024").records["veracity"].to_list() == ["unknown"]


def test_one_folder_of_a_dataset_is_enough(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(
        tmp_path,
        {"snopes/snopes_validation.parquet": parquet([{"claim": "A bear.", "veracity": "false"}])},
    )
    records = load("cdl-md", tmp_path).records
    assert records.select("source", "split", "veracity").row(0) == ("snopes", "dev", "false")


def test_the_old_zipped_csv_is_read_and_its_labels_need_the_ratings_map(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    text = "dataset,claim,label\nliar,The town has no debt.,half-true\n"
    write(tmp_path, {"claims_data.csv.gz": gzip.compress(text.encode())})
    with pytest.raises(UnmappedLabels, match="half-true"):
        load("cdl-md", tmp_path)
    assert load("cdl-md", tmp_path, map="ratings").records["veracity"].to_list() == ["mixed"]


def test_ids_that_were_saved_as_floats_are_said_to_be_damaged(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    rows = [{"dataset": "wico", "claim": None, "veracity": 1, "tweet_id": 1.3195e18}]
    dataset = load("cdl-md", write(tmp_path, {"train.parquet": parquet(rows)}))
    assert dataset.records["kind"].to_list() == ["id-only"]
    assert any("last digits are lost" in note for note in dataset.notes)


def test_a_new_verdict_is_not_swallowed(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path, {"train.parquet": parquet([{"dataset": "a", "claim": "b", "veracity": 4}])})
    with pytest.raises(UnmappedLabels, match="'4'"):
        load("cdl-md", tmp_path)


def test_a_table_without_claims_is_refused(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path, {"train.parquet": parquet([{"dataset": "a", "veracity": 1}])})
    with pytest.raises(UnreadableFile, match="no column 'claim'"):
        load("cdl-md", tmp_path)


def test_a_cut_off_archive_is_a_sentence(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path, {"claims_data.csv.gz": gzip.compress(b"dataset,claim,label\n" * 99)[:-9]})
    with pytest.raises(UnreadableFile, match="cannot be unpacked"):
        load("cdl-md", tmp_path)
