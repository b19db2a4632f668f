"""`study check`: what is missing is named before anything is spent."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted
from parts.standin import own_profile

import claimlab as cl
from claimlab.cli.app import run as command
from claimlab.core.extras import packages_of, require_extra
from claimlab.study.check import absent, study_check

HEAD = 'seeds = [0, 1]\n[datasets.data]\nfolder = "data"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=120)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(text: str) -> list[str]:
    Path("study.toml").write_text(HEAD + text, encoding="utf-8")
    return study_check("study.toml", trust=True)[1]


@pytest.mark.usefixtures("place")
def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    own_profile(
        Path("model.toml"),
        '[m]\nbase_url = "https://api.example.org/v1"\nmodel = "m"\nkey_variable = "NO_SUCH_KEY"\n',
    )
    text = '[grid]\ndetector = ["asked"]\n[detector.asked]\ndetector = "llm-zero-shot"\nprofile = "model.toml"\n'
    assert ["NO_SUCH_KEY, which is not set" in problem for problem in problems(text)] == [True]
    monkeypatch.setenv("NO_SUCH_KEY", "x")
    assert problems(text) == []


@pytest.mark.usefixtures("place")
def test_the_key_of_a_search_and_a_missing_folder_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    grid = '[grid]\nenrich = ["{}"]\ndetector = ["tfidf"]\n'
    assert ["'brave' needs" in problem for problem in problems(grid.format("brave"))] == [True]
    assert problems(grid.format("local:nowhere")) == ["enrich: there is no 'nowhere' to search in."]
    assert ["no search provider named 'nobody'" in p for p in problems(grid.format("nobody"))] == [
        True
    ]


def test_a_class_that_a_side_lacks_is_named_with_the_seeds(place: Path) -> None:
    dataset = planted(size=120)[0]
    day = pl.duration(days=pl.int_range(pl.len()))
    late = (pl.col("veracity") == "false") & (pl.int_range(pl.len()) % 2 == 0)
    date = (
        pl.when(late).then(pl.datetime(2024, 1, 1) + day).otherwise(pl.datetime(2019, 1, 1) + day)
    )
    none = pl.lit(None, dtype=pl.String)
    dataset.records = dataset.records.with_columns(
        date=date.cast(pl.Datetime("us")), group=none, split=none
    )
    dataset.write(place / "data", force=True)
    grid = '[grid]\nsplit = ["random", "day"]\ndetector = ["tfidf"]\n[split.day]\nby = "time"\nbefore = {}\n'
    assert problems(grid.format("2022-01-01")) == [
        "dataset data, split day, seeds 0, 1: no record of class true in test."
    ]
    assert sorted(p.name for p in place.iterdir()) == ["data", "study.toml"], "nothing stays"


@pytest.mark.usefixtures("place")
def test_a_step_that_cannot_be_made_is_named() -> None:
    found = problems(
        '[grid]\nsplit = ["topic"]\ndetector = ["tfidf"]\n[split.topic]\nby = "column"\ncolumn = "nothing"\n'
    )
    assert len(found) == 1
    assert "nothing" in found[0]
    assert found[0].startswith("dataset data, split topic, seeds 0, 1: ")


def test_a_side_without_any_record_lacks_every_class() -> None:
    labels = pl.Series(["true", "false", "true", None])
    assert list(absent(pl.Series(["train"] * 4), labels, ("train", "test"))) == [
        "no record of class false, true in test."
    ]
    assert list(
        absent(pl.Series(["train", "train", "test", "test"]), labels, ("train", "test"))
    ) == ["no record of class false in test."]
    assert list(absent(pl.Series([None] * 4, dtype=pl.String), labels, ("train", "test"))) == []


def test_the_packages_of_an_extra_are_known_and_a_missing_one_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "openai" in packages_of("llm")
    require_extra("A model", "llm")
    monkeypatch.setattr(
        "claimlab.core.extras.requires", lambda _: ["no-such-package>=1; extra == 'llm'"]
    )
    with pytest.raises(cl.ClaimlabError, match=r"A model needs packages.*claimlab\[llm\]"):
        require_extra("A model", "llm")


SHOWN = """
[datasets.other]
import = "other.csv"
[grid]
dataset = ["data"]
split = ["random"]
detector = ["tfidf"]
[clean.by-lingua]
recipe = "lingua.toml"
[[show]]
title = "Records in Portuguese"
step = "clean"
values = ["by-lingua"]
datasets = ["other"]
counts = [{ name = "left", table = "records" }, { name = "removed", table = "dropped" }, { name = "changed", table = "changes" }]
"""


@pytest.mark.slow
def test_the_extra_of_a_step_that_is_only_shown_is_named_and_its_reason_printed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {
            "id": i,
            "text": f"A ponte número {i} foi aberta hoje.",
            "verdict": ("true", "false")[i % 2],
        }
        for i in range(80)
    ]
    pl.DataFrame(rows).write_csv("other.csv")
    recipe = 'name = "lingua"\n[[steps]]\nstep = "language"\nmethod = "{}"\nkeep = "por"\n'
    (place / "lingua.toml").write_text(recipe.format("lingua"), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "lingua", None)  # as where the extra is not installed
    (problem,) = problems(SHOWN)
    assert problem.startswith(
        "clean: Language identification by lingua needs packages that are not installed."
    )
    assert "claimlab[lingua]" in problem
    assert command(["study", "run", "study.toml", "-o", "out"]) == 1, "a shown step has no result"
    shown = capsys.readouterr().out
    assert "dataset other: Language identification by lingua needs packages" in " ".join(
        shown.split()
    )
    assert command(["study", "table", "out"]) == 0
    assert "claimlab[lingua]" in capsys.readouterr().out
    (place / "lingua.toml").write_text(recipe.format("vote"), encoding="utf-8")
    assert problems(SHOWN) == []
    grid = cl.study_run("study.toml", "whole")
    ((_, table),) = grid.tables
    assert [row[1].text for row in table.rows] == ["80", "0", "0"], (
        "what was not written was not needed: none"
    )
