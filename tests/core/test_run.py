"""The run folder: what it opens, whom it keeps out, what it refuses, what it keeps for a later
start.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.budget import Amount, Caps
from claimlab.core.dataset import Dataset
from claimlab.core.edits import accept_edits
from claimlab.core.errors import (
    BudgetSpent,
    FileChanged,
    OutputBusy,
    OutputExists,
    SchemaError,
    UsageError,
)
from claimlab.core.lock import Lock
from claimlab.core.run import Run


def small(n: int = 5, name: str = "small") -> Dataset:
    ids = [f"r{i}" for i in range(n)]
    records = pl.DataFrame(
        {"id": ids, "text": [f"Claim {i}." for i in range(n)], "veracity": ["true"] * n}
    )
    asked = pl.DataFrame(
        {"record_id": ids, "annotator": ["a"] * n, "question": ["q"] * n, "value": ["yes"] * n}
    )
    return Dataset.build(name, records, {"annotations": asked})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    small().write(tmp_path / "in")
    return tmp_path / "in"


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name.startswith("."))


def test_a_limit_keeps_the_rows_of_side_tables_and_says_so_in_the_lineage(source: Path) -> None:
    with Run("test", source, limit=2) as run:
        assert run.dataset.tables["annotations"]["record_id"].to_list() == ["r0", "r1"]
        assert run.dataset.lineage[-1].step == "limit"


def test_what_is_read_is_never_replaced(source: Path) -> None:
    for force in (True, False):
        with (
            pytest.raises(UsageError, match="is the input"),
            Run("test", source, source, force=force),
        ):
            pass
        with (
            pytest.raises(UsageError, match="is the input"),
            Run("test", Dataset.open(source), source, force=force),
        ):
            pass
    assert len(Dataset.open(source)) == 5
    assert leftovers(source.parent) == []


def test_a_file_of_the_user_is_not_removed(source: Path, tmp_path: Path) -> None:
    small().write(tmp_path / "out")
    (tmp_path / "out" / "my_notes.txt").write_text("mine", encoding="utf-8")
    with (
        pytest.raises(OutputExists, match=r"my_notes\.txt"),
        Run("test", source, tmp_path / "out", force=True),
    ):
        pass
    assert (tmp_path / "out" / "my_notes.txt").read_text(encoding="utf-8") == "mine"


def test_finish_writes_the_output_and_leaves_nothing_beside_it(
    source: Path, tmp_path: Path
) -> None:
    with Run("test", source, tmp_path / "out") as run:
        run.journal(a=1).write("000", [1])
        run.calls.budget.try_reserve(Amount(calls=1))
        assert (tmp_path / ".out.work" / "lock").is_file()
        result = run.finish(run.dataset)
    assert result.path == tmp_path / "out"
    assert leftovers(tmp_path) == []
    assert len(Dataset.open(tmp_path / "out")) == 5


def test_a_failed_run_keeps_its_shards_for_the_same_call_only(source: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Run("test", source, tmp_path / "out", seed=1) as run:
        run.journal(a=1).write("000", {"done": True})
        raise ZeroDivisionError
    seen = {}
    for seed, a in ((1, 1), (2, 1), (1, 2)):
        with Run("test", source, tmp_path / "out", seed=seed) as run:
            seen[seed, a] = run.journal(a=a).read("000")
    assert seen == {(1, 1): {"done": True}, (2, 1): None, (1, 2): None}


def test_a_journal_never_meets_an_edited_input(source: Path, tmp_path: Path) -> None:
    with Run("test", source, tmp_path / "out") as run:
        run.journal().write("000", 1)
    edited = Dataset.open(source).records.with_columns(pl.lit("false").alias("veracity"))
    Dataset("small", edited, Dataset.open(source).tables).write(source, force=True)
    with Run("test", source, tmp_path / "out") as run:
        assert run.journal().read("000") is None


def test_two_processes_never_write_one_output(source: Path, tmp_path: Path) -> None:
    with Run("first", source, tmp_path / "out"):
        code = (
            "import sys; from claimlab.core.run import Run; from claimlab.core.errors import OutputBusy\n"
            "try:\n    Run('second', sys.argv[1], sys.argv[2]).__enter__()\n"
            "except OutputBusy as error: print(error)"
        )
        env = {**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1])}
        command = [sys.executable, "-c", code, str(source), str(tmp_path / "out")]
        told = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert f"is being written by claimlab first, process {os.getpid()}" in told
    with Run("third", source, tmp_path / "out") as run:
        run.finish(run.dataset)
    assert leftovers(tmp_path) == []


def test_who_has_just_taken_a_lock_is_named_once_it_has_written_its_name(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with file.open("wb", buffering=0) as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        name = {"pid": 17, "host": socket.gethostname(), "verb": "clean"}
        late = threading.Timer(0.3, lambda: first.write(json.dumps(name).encode()))
        late.start()
        with pytest.raises(OutputBusy, match="claimlab clean, process 17"):
            Lock(file, tmp_path / "out", "clean")
        late.join()


def test_one_process_cannot_open_the_same_output_twice(source: Path, tmp_path: Path) -> None:
    with (
        Run("a", source, tmp_path / "out"),
        pytest.raises(OutputBusy),
        Run("b", source, tmp_path / "out"),
    ):
        pass


def test_a_cap_holds_over_starts(source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with Run("test", source, tmp_path / "out", caps=Caps(calls=3)) as run:
            while (hold := run.calls.budget.try_reserve(Amount(calls=1))) is not None:
                hold.settle(Amount(calls=1))
                if run.calls.budget.spent.calls == 3:
                    break
        if run.calls.budget.spent.calls == 3:
            break
    with (
        Run("test", source, tmp_path / "out", caps=Caps(calls=3)) as run,
        pytest.raises(BudgetSpent, match="3 of 3 calls"),
    ):
        run.calls.budget.try_reserve(Amount(calls=1))


def test_an_estimate_needs_no_free_output_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    small().write(tmp_path / "out")
    with Run("test", source, tmp_path / "out", estimate=True) as run:
        assert len(run.dataset) == 5
        assert run.output is None
    assert leftovers(tmp_path) == []


# hashes


def tamper(folder: Path) -> None:
    records = pl.read_parquet(folder / "records.parquet")
    records.with_columns(pl.lit("false").alias("veracity")).head(3).write_parquet(
        folder / "records.parquet"
    )


def test_an_edited_file_is_named(source: Path) -> None:
    tamper(source)
    with pytest.raises(FileChanged, match=r"records\.parquet"):
        Dataset.open(source)


@pytest.mark.parametrize("files", [{}, {"records.parquet": "0" * 64}])
def test_a_manifest_that_does_not_fit_its_tables_is_refused(
    source: Path, files: dict[str, str]
) -> None:
    manifest = json.loads((source / "dataset.json").read_text(encoding="utf-8"))
    (source / "dataset.json").write_text(json.dumps({**manifest, "files": files}), encoding="utf-8")
    with pytest.raises(FileChanged):
        Dataset.open(source)


@pytest.mark.parametrize("version", [-1, 0, 99])
def test_another_schema_version_is_refused(source: Path, version: int) -> None:
    manifest = json.loads((source / "dataset.json").read_text(encoding="utf-8"))
    (source / "dataset.json").write_text(
        json.dumps({**manifest, "schema_version": version}), encoding="utf-8"
    )
    with pytest.raises(SchemaError, match=f"schema version {version}"):
        Dataset.open(source)


def test_an_edit_can_be_accepted_and_is_recorded(source: Path) -> None:
    tamper(source)
    accept_edits(source, "labels checked by hand")
    dataset = Dataset.open(source)
    step = dataset.lineage[-1]
    assert (len(dataset), step.step, step.parameters["why"]) == (
        3,
        "edit",
        "labels checked by hand",
    )
    assert step.inputs["records.parquet"] != dataset.digest()


def test_an_edit_that_breaks_the_schema_is_not_accepted(source: Path) -> None:
    pl.DataFrame({"id": ["a", "a"], "text": [1, 2]}).write_parquet(source / "records.parquet")
    with pytest.raises(SchemaError, match="wrong or missing columns"):
        accept_edits(source, "because")


@pytest.mark.parametrize("meta", ["{oops", "[1]", "3"])
def test_an_edit_with_meta_that_is_not_an_object_is_not_accepted(source: Path, meta: str) -> None:
    records = pl.read_parquet(source / "records.parquet").with_columns(pl.lit(meta).alias("meta"))
    records.write_parquet(source / "records.parquet")
    with pytest.raises(SchemaError, match="'meta' of record 'r0' is not a JSON object"):
        accept_edits(source, "because")


def test_an_edited_side_table_is_checked_too(source: Path) -> None:
    table = pl.read_parquet(source / "annotations.parquet").with_columns(pl.lit(1).alias("value"))
    table.write_parquet(source / "annotations.parquet")
    with pytest.raises(SchemaError, match="'annotations' has wrong or missing columns"):
        accept_edits(source, "because")


def test_wrong_counts_are_refused_until_they_are_accepted(source: Path) -> None:
    manifest = json.loads((source / "dataset.json").read_text(encoding="utf-8"))
    (source / "dataset.json").write_text(
        json.dumps({**manifest, "counts": {"records": 9}}), encoding="utf-8"
    )
    with pytest.raises(FileChanged, match=r"dataset\.json"):
        Dataset.open(source)
    accept_edits(source, "counted again")
    assert Dataset.open(source).manifest().counts["records"] == 5


def test_calls_are_recorded_beside_the_output(source: Path, tmp_path: Path) -> None:
    with Run("test", source, tmp_path / "out") as run:
        assert (run.calls.mode, run.calls.cache) == ("record", tmp_path / "out.cache")
    with Run("test", source) as run:
        assert (run.calls.mode, run.calls.cache) == ("live", None)
    with (
        Run("test", source, mode="replay") as run,
        pytest.raises(UsageError, match="needs a folder"),
    ):
        _ = run.calls.recording


@pytest.mark.parametrize(
    "change", [{"name": "another"}, {"licence": "CC0"}, {"notes": ["no notes"]}, {"card": "liar"}]
)
def test_an_edited_manifest_is_named(source: Path, change: dict[str, object]) -> None:
    manifest = json.loads((source / "dataset.json").read_text(encoding="utf-8"))
    assert {**manifest, **change} != manifest
    (source / "dataset.json").write_text(json.dumps({**manifest, **change}), encoding="utf-8")
    with pytest.raises(FileChanged, match=r"dataset\.json"):
        Dataset.open(source)
    if "name" in change:
        with pytest.raises(SchemaError, match="calls it 'another'"):
            accept_edits(source, "a better name")
    else:
        accept_edits(source, "it is so")
        assert Dataset.open(source).lineage[-1].parameters == {
            "why": "it is so",
            "files": ["dataset.json"],
        }


def test_a_manifest_of_an_earlier_claimlab_is_read(source: Path) -> None:
    manifest = json.loads((source / "dataset.json").read_text(encoding="utf-8"))
    del manifest["digest"]
    (source / "dataset.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert len(Dataset.open(source)) == 5


@pytest.mark.parametrize("split", ["Train", "validation", "banana"])
def test_an_edit_with_a_split_that_no_verb_would_use_is_not_accepted(
    source: Path, split: str
) -> None:
    records = pl.read_parquet(source / "records.parquet")
    records.with_columns(pl.lit(split).alias("split")).write_parquet(source / "records.parquet")
    with pytest.raises(
        SchemaError, match=f"'split' holds \\['{split}'\\]. Use only: dev, test, train"
    ):
        accept_edits(source, "because")
    records.with_columns(pl.lit("dev").alias("split")).write_parquet(source / "records.parquet")
    accept_edits(source, "all for tuning")
    assert set(Dataset.open(source).records["split"]) == {"dev"}
