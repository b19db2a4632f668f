"""The list of ids to leave out is exactly what cleaning does not keep."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.errors import OutputExists, UsageError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ids")
    planted(size=300)[0].write(folder / "data")
    return folder / "data"


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_kept_and_left_out_are_all_records(data: Path, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"ids{suffix}"
    cleaned = cl.clean(data, output=tmp_path / "clean", ids=file)
    if suffix == ".csv":
        rows = pl.read_csv(file).to_dicts()
    else:
        rows = json.loads(file.read_text("utf-8"))["leave_out"]
    assert {tuple(row) for row in rows} == {("id", "decision", "step", "reason")}
    assert all(row["step"] and row["reason"] for row in rows)
    assert {row["decision"] for row in rows} == {"dropped", "doubtful"}
    left_out = {row["id"] for row in rows}
    kept = set(cleaned.dataset.records["id"].to_list())
    assert not left_out & kept
    assert left_out | kept == set(cl.Dataset.open(data).records["id"].to_list())


def test_a_list_of_another_kind_is_refused_before_the_work(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Choose one of: .csv, .json"):
        cl.clean(data, output=tmp_path / "clean", ids=tmp_path / "ids.txt")
    (tmp_path / "mine.csv").write_text("a,b\n", "utf-8")
    for force in (False, True):
        with pytest.raises(OutputExists):
            cl.clean(data, output=tmp_path / "clean", ids=tmp_path / "mine.csv", force=force)
    assert not (tmp_path / "clean").exists()


@pytest.mark.slow
@pytest.mark.needs("datasets")
def test_datasets_leaves_them_out_of_its_own_copy(data: Path, tmp_path: Path) -> None:
    import datasets

    file = tmp_path / "ids.json"
    cleaned = cl.clean(data, output=tmp_path / "clean", ids=file)
    records = cl.Dataset.open(data).records.select("id", "text")
    records.write_ndjson(tmp_path / "published.jsonl")
    whole = datasets.load_dataset(
        "json",
        data_files=str(tmp_path / "published.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    leave_out = {row["id"] for row in json.loads(file.read_text("utf-8"))["leave_out"]}
    kept = whole.filter(lambda row: row["id"] not in leave_out)
    assert kept["id"] == cleaned.dataset.records["id"].to_list()
