"""`claimlab split` on the command line: where it writes, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from claimlab.cli.app import app, run
from claimlab.core.dataset import Dataset
from claimlab.split import run as run_module

from .conftest import Make


def test_values_that_look_alike_as_folders_get_folders_of_their_own(
    make: Make, tmp_path: Path
) -> None:
    def odd(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["source"] = ("a.b", "a b", "x" * 300)[i % 3]

    make(90, change=odd).write(tmp_path / "data")
    command = [
        "split",
        str(tmp_path / "data"),
        "--by",
        "source",
        "--all",
        "-o",
        str(tmp_path / "out"),
        "--json",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    told = {s["output"]: s["held_out"] for s in json.loads(done.stdout)["splits"]}
    assert len(told) == 3
    for folder, held_out in told.items():
        test = Dataset.open(folder).records.filter(pl.col("split") == "test")
        assert test["source"].unique().to_list() == held_out


def test_without_an_output_nothing_is_written(make: Make, tmp_path: Path) -> None:
    make(60).write(tmp_path / "data")
    done = CliRunner().invoke(app, ["split", str(tmp_path / "data")])
    assert done.exit_code == 0, done.output
    assert "the same with -o DIR" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_who_stops_it_is_told_so(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    make(60).write(tmp_path / "data")
    monkeypatch.setattr(run_module, "make", stop)
    assert run(["split", str(tmp_path / "data"), "-o", str(tmp_path / "out")]) == 130
    assert "Stopped. Nothing was left half-written" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
