"""A study from a run that was made by hand: run, it gives that run's figure."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.settings import as_toml
from claimlab.generate.planted import planted


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    records = planted(size=240)[0].records
    rows = records.filter(pl.col("veracity").is_in(["true", "false"])).select(
        "id", body="text", verdict="veracity"
    )
    rows.write_csv(tmp_path / "rows.csv", separator=";")
    monkeypatch.chdir(tmp_path)
    cl.import_files("rows.csv", "rows", text="body", label="verdict", options={"delimiter": ";"})
    cl.clean("rows", output="clean")
    cl.split("clean", "near-duplicates", output="splits", shares="60/20/20", seed=5)
    cl.detect("splits", "shortcut", settings={"feature": "length"}, seed=3, output="run")
    return tmp_path


def figure(folder: str) -> float | None:
    return cl.evaluate(folder).runs[0].scores.macro_f1


def test_the_study_gives_the_figure_of_the_run(place: Path) -> None:
    assert run(["study", "new", "study.toml", "--from", "run"]) == 0
    study = tomllib.loads((place / "study.toml").read_text(encoding="utf-8"))
    assert study["seeds"] == [3]
    assert study["datasets"] == {
        "rows": {"import": "rows.csv", "text": "body", "label": "verdict", "delimiter": ";"}
    }
    assert study["split"]["near-duplicates"] == {
        "by": "near-duplicates",
        "shares": "60/20/20",
        "seed": 5,
    }
    assert cl.study_check("study.toml")[1] == []
    entries = cl.study_run("study.toml", "out").entries
    mine = next(e for e in entries if e.axes["detector"] == "shortcut")
    assert mine.macro_f1 == figure("run")
    again = cl.Dataset.open(next(p for p in Path("out/steps").glob(mine.runs[0])))
    assert again.tables["predictions"].equals(cl.Dataset.open("run").tables["predictions"])


def test_a_dataset_whose_file_is_gone_comes_in_as_a_folder(place: Path) -> None:
    (place / "rows.csv").unlink()
    cl.study_new("study.toml", run="run")
    assert tomllib.loads((place / "study.toml").read_text(encoding="utf-8"))["datasets"] == {
        "rows": {"folder": "rows"}
    }


def test_steps_in_another_order_than_that_of_a_study_are_taken_as_a_folder(place: Path) -> None:
    cl.clean("splits", output="cleaned-later")
    cl.detect("cleaned-later", "tfidf", output="later")
    cl.study_new("study.toml", run="later")
    study = tomllib.loads((place / "study.toml").read_text(encoding="utf-8"))
    assert study["grid"] == {"clean": ["default"], "detector": ["tfidf"]}
    assert study["datasets"] == {"splits": {"folder": "splits"}}
    entries = cl.study_run("study.toml", "out").entries
    assert next(e for e in entries if e.axes["detector"] == "tfidf").macro_f1 == figure("later")


@pytest.mark.usefixtures("place")
def test_what_is_not_a_run_is_refused() -> None:
    with pytest.raises(cl.ClaimlabError, match="'splits' is not a run that says how it was made"):
        cl.study_new("study.toml", run="splits")
    with pytest.raises(cl.ClaimlabError, match="from a preset or from a run"):
        cl.study_new("study.toml", "compare", run="run")
    assert not Path("study.toml").exists()


@pytest.mark.parametrize(
    "value", ['a "b" \\ \n\t\x7f é', 3, 0.5, True, ["a", "b"], {"a b": 1, "c": ["x"]}, []]
)
def test_a_value_is_written_so_that_it_is_read_back(value: object) -> None:
    assert tomllib.loads(f"x = {as_toml(value)}") == {"x": value}
