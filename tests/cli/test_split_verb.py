"""`claimlab split` as a person or a program calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parts.planted import planted

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "planted"
    planted(size=240)[0].write(path)
    return path


def test_a_folder_is_written_and_described(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["split", str(folder), "-o", str(tmp_path / "out"), "--by", "group", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"output", "counts", "lineage", "split"} <= set(told)
    assert {
        "name",
        "held_out",
        "left_out",
        "sides",
        "unused",
        "cells",
        "leaks",
        "leaking",
        "notes",
    } <= set(told["split"])
    assert {
        "of",
        "seen_in",
        "rows",
        "exact",
        "near",
        "same_label",
        "other_label",
        "group",
        "records",
    } == set(told["split"]["leaks"][0])
    written = Dataset.open(tmp_path / "out")
    assert told["counts"]["split"] == told["split"]["sides"]
    assert set(written.records["split"].to_list()) == {"train", "dev", "test"}
    assert run(["split", str(folder), "-o", str(tmp_path / "out")]) == 1, (
        "what stands there is not overwritten"
    )
    assert "--force" in capsys.readouterr().err


def test_a_preview_writes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    assert run(["split", str(folder), "--by", "random"]) == 0
    out = capsys.readouterr().out
    assert "test in train" in out
    assert "Wrote" not in out
    assert sorted(folder.rglob("*")) == before
    assert run(["split", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] is None


def test_strict_fails_on_leaks_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["split", str(folder), "--by", "random", "--strict"]) == 3
    assert run(["split", str(folder), "--by", "near-duplicates", "--strict"]) == 0
    capsys.readouterr()


def test_all_writes_a_folder_for_each_value(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "each"
    assert run(["split", str(folder), "--by", "language", "--all", "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {p.name for p in out.iterdir() if p.is_dir()} == {
        f"language-leave-out-{code}" for code in ("eng", "por", "deu")
    }
    assert told["impossible"] == []
    assert all(
        Dataset.open(one["output"]).lineage[-1].parameters["name"] == one["name"]
        for one in told["splits"]
    )
    assert run(["split", str(folder), "--by", "language", "--all", "-o", str(out)]) == 1
    assert run(["split", str(folder), "--by", "language", "--all", "-o", str(out), "--force"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["--by", "family"], 1, "every row has 'Indo-European'"),
        (["--by", "famly"], 2, "Did you mean 'family'"),
        (["--by", "source", "--set", "mode=train-on"], 2, "train-on-one"),
        (["--by", "source", "--set", "mode=train-on-one"], 2, "--set train_on=VALUE"),
        (["--by", "group", "--set", "keep_together=grop"], 2, "group"),
        (["--by", "external"], 2, "Pass it as --set external=VALUE."),
        (["--shares", "1"], 2, "70/10/20"),
        (["--task", "colour"], 1, "no task and no column 'colour'"),
        (["--by", "family", "--all"], 1, "None of the splits by family"),
    ],
)
def test_errors_are_sentences(
    folder: Path, more: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["split", str(folder), *more]) == code
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err


def test_the_strategies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["split", "--strategies", "--json"]) == 0
    listed = {s["name"]: s["summary"] for s in json.loads(capsys.readouterr().out)["strategies"]}
    assert len(listed) >= 17
    assert all(listed.values())
    assert run(["split", "--strategies"]) == 0
    assert "name it with --column" in capsys.readouterr().out, (
        "what the library calls an argument is a flag here"
    )


def test_a_leaking_test_is_told_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["split", str(folder), "--by", "random"]) == 0
    err = capsys.readouterr().err
    assert (
        "test records have a near-duplicate in train; use --by near-duplicates, or pass --drop-leaks."
        in err
    )


def test_the_front_door_splits_too(folder: Path) -> None:
    import claimlab as cl

    done = cl.split(cl.Dataset.open(folder), by="group", seed=1)
    assert not done.checked.leaking or done.checked.leaks[0].exact == 0
