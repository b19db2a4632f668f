"""`claimlab detect` from the outside: what it refuses before it starts, and what it says of data
that is not as hoped.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset

Rows = list[dict[str, str | None]]


def rows(n: int = 20) -> Rows:
    """Two classes told apart by a word; twelve rows to train on, the rest to test."""
    words = ("ferry", "cheese")
    return [
        {"id": f"r{i}", "text": f"Claim {i} on {words[i % 2]}.", "veracity": ("false", "true")[i % 2],
         "split": "train" if i < 12 else "test"}
        for i in range(n)
    ]  # fmt: skip


def written(folder: Path, rows: Rows) -> Path:
    Dataset.build("town", pl.DataFrame(rows)).write(folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    captured = capsys.readouterr()
    assert all(word in captured.err for word in words), captured.err
    return captured.err


def test_a_split_without_labels_of_the_task_is_not_sent_away_to_be_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed = [{**row, "veracity": "mixed"} if row["split"] == "test" else row for row in rows()]
    data = written(tmp_path / "mixed", mixed)
    assert run(["detect", str(data), "-o", str(tmp_path / "run")]) == 1
    assert "claimlab split" not in said(
        capsys, "None of the 8 records in split 'test'", "a label of the task 'veracity'", "--task"
    )


def test_no_split_and_a_missing_part_have_each_their_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none = written(tmp_path / "none", [{**row, "split": None} for row in rows()])
    assert run(["detect", str(none), "-o", str(tmp_path / "run")]) == 1
    said(capsys, "has no split", "claimlab split")
    data = written(tmp_path / "all", [row for row in rows() if row["split"] != "test"])
    assert run(["detect", str(data), "-o", str(tmp_path / "run")]) == 1
    said(capsys, "No record is in split 'test'", "claimlab split")


def test_texts_that_are_missing_and_classes_never_seen_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = [{**row, "text": None} if row["id"] in ("r12", "r13", "r0") else row for row in rows()]
    assert run(["detect", str(written(tmp_path / "bare", bare)), "-o", str(tmp_path / "a")]) == 0
    said(capsys, "2 of 8 test records have no text")
    new = [{**row, "veracity": "mixed"} if row["id"] == "r12" else row for row in rows()]
    data = written(tmp_path / "new", new)
    assert run(["detect", str(data), "-o", str(tmp_path / "b"), "--task", "veracity-mixed"]) == 0
    said(capsys, "1 of 8 test records has a class that does not occur in train (mixed 1)")
    assert any("mixed 1" in note for note in Dataset.open(tmp_path / "b").notes)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--model", "other"], "--model"),
        (["--set", "strength=-1"], "above 0"),
        (["--set", "strength=nan"], "above 0"),
        (["--detector", "encoder", "--set", "epochs=0"], "epochs"),
        (["--detector", "encoder", "--set", "batch=0"], "batch"),
        (["--set", "mode=sideways"], "record"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_done(
    more: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", rows())
    assert run(["detect", str(data), "-o", str(tmp_path / "run"), *more]) == 2
    assert "Search calls" not in said(capsys, word)
    assert not (tmp_path / "run").exists()


@pytest.mark.leaf
def test_force_does_not_replace_the_dataset_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", rows())
    before = (data / "records.parquet").read_bytes()
    for words in (
        ["detect"],
        ["evolve", "run"],
        ["evolve", "worth", "--judge", "embedded"],
        ["judge", "--offline"],
    ):
        assert run([*words, str(data), "-o", str(data / ".." / "data"), "--force"]) == 2
        said(capsys, "is the input")
    assert (data / "records.parquet").read_bytes() == before


def test_a_pattern_that_finds_runs_and_their_recordings_evaluates_the_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data", rows())
    assert run(["detect", str(data), "-o", str(tmp_path / "run-a")]) == 0
    Calls(cache=str(tmp_path / "run-a.cache")).recording  # noqa: B018 - opened when first asked for
    found = sorted(map(str, tmp_path.glob("run-*")))
    assert len(found) == 2
    assert run(["evaluate", *found, "--json"]) == 0
    capsys.readouterr()
    assert run(["evaluate", found[1]]) == 1
    said(capsys, "run-a.cache")


def test_published_lists_without_a_test_are_scored_on_dev_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = [{**row, "split": "dev"} if row["split"] == "test" else row for row in rows()]
    data = written(tmp_path / "lists", lists)
    assert run(["detect", str(data), "-o", str(tmp_path / "run")]) == 0
    said(capsys, "Scored on split 'dev', since the data has no test")
    predictions = Dataset.open(tmp_path / "run").tables["predictions"]
    assert set(predictions["record_id"]) == {row["id"] for row in lists if row["split"] == "dev"}
    assert run(["evaluate", str(tmp_path / "run"), "-o", str(tmp_path / "report")]) == 0
