"""Repeating a folder: what differs is named, and what cannot be repeated says why."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted
from parts.standin import StandIn, own_profile

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.call import CALL_FILE
from claimlab.core.errors import NotTrusted
from claimlab.study.rerun import TOOL


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=120)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    cl.split("data", "random", output="splits", seed=3)
    return tmp_path


def edited(folder: Path, edit: Callable[[dict[str, object]], object]) -> None:
    call = json.loads((folder / CALL_FILE).read_text(encoding="utf-8"))
    edit(call)
    (folder / CALL_FILE).write_text(json.dumps(call), encoding="utf-8")


def test_the_same_bytes_end_with_status_0(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rerun", "splits"]) == 0
    assert capsys.readouterr().out == "The same bytes in all 4 files.\n"
    assert sorted(p.name for p in place.iterdir()) == ["data", "splits"], "nothing is left behind"


def test_another_seed_is_noticed_with_status_3(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(place / "splits", lambda call: call["arguments"].update(seed=4))  # type: ignore[attr-defined]
    assert run(["rerun", "splits"]) == 3
    assert "- records.parquet: other values in split" in capsys.readouterr().out
    assert run(["rerun", "splits", "--json"]) == 3
    assert set(json.loads(capsys.readouterr().out)["differences"]) == {
        "records.parquet",
        "dataset.json",
        CALL_FILE,
    }


def test_no_path_of_the_machine_is_written(place: Path) -> None:
    assert str(place) not in (place / "splits" / CALL_FILE).read_text(encoding="utf-8")


def test_an_input_that_was_moved_and_renamed_is_found_by_its_digest(place: Path) -> None:
    with pytest.raises(cl.ClaimlabError, match="The input 'data' is not in"):
        shutil.move(place / "data", place.parent / f"{place.name}-kept")
        cl.rerun("splits")
    assert cl.rerun("splits", inputs=place.parent / f"{place.name}-kept").same


def test_a_file_that_was_renamed_is_read_under_its_old_name(place: Path) -> None:
    cl.Dataset.open("data").records.select("text", "veracity").write_csv("rows.csv")
    cl.import_files("rows.csv", "rows", label="veracity")
    (place / "kept").mkdir()
    shutil.move(place / "rows.csv", place / "kept" / "moved.txt")
    with pytest.raises(cl.ClaimlabError, match="'rows.csv' is not in"):
        cl.rerun("rows")
    assert cl.rerun("rows", inputs="kept").same


def test_an_input_that_changed_is_named(place: Path) -> None:
    cl.Dataset.open("data").records.select("text", "veracity").write_csv("rows.csv")
    cl.import_files("rows.csv", "rows")
    (place / "rows.csv").write_text(
        (place / "rows.csv").read_text(encoding="utf-8") + "x,true\n", encoding="utf-8"
    )
    with pytest.raises(
        cl.ClaimlabError, match=r"rows\.csv' is not the input that was read: its content differs"
    ):
        cl.rerun("rows")


def test_a_dataset_in_memory_is_found_where_it_was_written(place: Path) -> None:
    dataset = planted(size=120, seed=5)[0]
    cl.split(dataset, "random", output="other")
    with pytest.raises(cl.ClaimlabError, match="The input 'planted' is not in"):
        cl.rerun("other")
    dataset.write(place / "five")
    assert cl.rerun("other").same


@pytest.mark.usefixtures("place")
def test_what_cannot_be_repeated_says_why() -> None:
    with pytest.raises(
        cl.ClaimlabError, match="does not say which call made it: its last step is 'generate'"
    ):
        cl.rerun("data")
    with pytest.raises(cl.ClaimlabError, match="is not a folder"):
        cl.rerun("nothing")
    cl.clean(
        "data", output="clean", decisions=pl.DataFrame({"id": ["x"], "decision": ["keep"]}).clear()
    )
    with pytest.raises(
        cl.ClaimlabError, match=r"`decisions` was an object of Python \(DataFrame\)"
    ):
        cl.rerun("clean")
    cl.split("data", "language", every=True, output="many")
    part = next(p for p in Path("many").iterdir() if p.is_dir())
    with pytest.raises(cl.ClaimlabError, match="is part of"):
        cl.rerun(part)


@pytest.mark.parametrize(
    "function", ["os.system", "claimlab.web.serve.serve", "claimlab.no.such", "eval"]
)
def test_a_folder_from_elsewhere_calls_nothing_but_what_writes_folders(
    place: Path, function: str
) -> None:
    edited(place / "splits", lambda call: call.update(function=function))
    with pytest.raises(
        cl.ClaimlabError,
        match=r"was made by .*, which is not in claimlab|is not a function whose folders are made again",
    ):
        cl.rerun("splits")


@pytest.mark.parametrize(
    ("argument", "value", "problem"),
    [
        ("report", "written", "an argument that is not recorded: 'report'"),
        ("output", "written", "an argument that is not recorded: 'output'"),
        ("engine", "shared", "an argument that is not recorded: 'engine'"),
        ("seed", {"$date": 5}, "not a call that can be repeated"),
        ("seed", {"$fields": ["a"]}, "not a call that can be repeated"),
        ("data", {"$input": "data", "front": "../"}, "'../' cannot be before the name of a file"),
        ("data", {"$input": "x" * 5_000}, "not a call that can be repeated"),
    ],
)
def test_a_folder_from_elsewhere_writes_nothing_and_waits_for_nobody(
    place: Path, argument: str, value: object, problem: str
) -> None:
    cl.clean("data", output="clean")
    edited(place / "clean", lambda call: call["arguments"].update({argument: value}))
    with pytest.raises(cl.ClaimlabError, match=problem):
        cl.rerun("clean")
    assert not Path("written").exists()


def test_another_version_is_noted(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(place / "splits", lambda call: call.update(tool="claimlab 0.0.1"))
    assert run(["rerun", "splits"]) == 3  # call.json itself says the version
    assert (
        f"The folder was written by claimlab 0.0.1, and repeated by {TOOL}."
        in capsys.readouterr().err
    )


@pytest.mark.usefixtures("place")
def test_the_output_stays_and_the_folder_itself_is_never_replaced() -> None:
    assert cl.rerun("splits", output="again").same
    assert cl.rerun("again", output="splits-2", inputs=".").same
    for output, why in (("splits", "is the input"), ("again", "already exists")):
        with pytest.raises(cl.ClaimlabError, match=why):
            cl.rerun("splits", output=output)


def test_a_model_answers_from_its_recording(place: Path) -> None:
    verdict = json.dumps({"rationale": "It is so.", "label": "true", "confidence": 0.9})
    with StandIn(answer=lambda _: verdict) as server:
        own_profile(place / "model.toml", f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n')
        cl.detect("splits", "llm-zero-shot", profile="model.toml", limit=4, output="asked")
        assert server.requests == 4
    with pytest.raises(NotTrusted, match="claimlab trust asked"):
        cl.rerun("asked")  # it might be somebody else's, and it names a host
    assert cl.rerun("asked", trust=True).differences == {}, "the server is gone"
    shutil.rmtree(place / "asked.cache")
    with pytest.raises(cl.ClaimlabError, match="'asked' cannot be repeated"):
        cl.rerun("asked", trust=True)


def test_a_study_is_repeated_but_not_into_the_folder_of_something_else(place: Path) -> None:
    grid = (
        '[datasets.data]\nfolder = "data"\n[grid]\nsplit = ["random"]\ndetector = ["stratified"]\n'
    )
    (place / "grid.toml").write_text(grid, encoding="utf-8")
    cl.study_run("grid.toml", "study")
    assert cl.rerun("study", output="again").differences == {}
    (place / "mine").mkdir()
    (place / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(cl.ClaimlabError, match="other than a study"):
        cl.rerun("study", output="mine")
    assert [p.name for p in (place / "mine").iterdir()] == ["notes.txt"]
