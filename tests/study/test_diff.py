"""Two studies compared: a planted change is seen, chance is not, and what is in one only is
named.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.cli.app import run
from claimlab.study.diff import study_diff
from claimlab.study.saved import saved_study

GRID = 'seeds = [0, 1]\n[datasets.data]\nfolder = "data"\n[grid]\nsplit = ["random"]\ndetector = [{detectors}]\n'
BEFORE = GRID.format(detectors='"tfidf", "stratified"')
# What is called tfidf is planted to be the majority, what is called stratified another guess; one
# more fails.
AFTER = (
    GRID.format(detectors='"tfidf", "stratified", "nothing"')
    + '[detector.tfidf]\ndetector = "majority"\n[detector.stratified]\ndetector = "stratified"\nseed = 7\n'
    + '[detector.nothing]\ndetector = "shortcut"\nsettings = { feature = "no-such-column" }\n'
)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(place)
        planted(size=240)[0].write("data")
        for name, text in (("a", BEFORE), ("b", AFTER)):
            Path(f"{name}.toml").write_text(text, encoding="utf-8")
            cl.study_run(f"{name}.toml", name)
    return place


@pytest.mark.slow
def test_a_planted_change_is_seen_and_the_rest_is_the_same(studies: Path) -> None:
    diff = study_diff(studies / "a", studies / "b")
    words = {change.axes["detector"]: change.word for change in diff.changes}
    assert words == {
        "tfidf": "lower", "stratified": "unclear", "majority": "same", "length alone": "same", "nothing": "only after",
    }  # fmt: skip
    fallen = diff.changes[0]
    old, new = (saved_study(studies / name)[1] for name in "ab")
    scores = [
        next(e.macro_f1 for e in side if e.axes["detector"] == "tfidf") for side in (old, new)
    ]
    assert scores[0] is not None
    assert scores[1] is not None
    assert fallen.difference == pytest.approx(scores[1] - scores[0])
    assert fallen.interval is not None
    assert fallen.interval[0] < fallen.difference < fallen.interval[1] < 0
    assert diff.headline() == (
        "From 'a' to 'b', of 5 settings: 1 lower, 1 only after, 1 unclear, 2 same."
    )


def test_a_study_and_itself_are_the_same(studies: Path) -> None:
    diff = study_diff(studies / "a", studies / "a")
    assert diff.counts() == {"same": 4}


def test_the_other_way_round_what_fell_rises(studies: Path) -> None:
    diff = study_diff(studies / "b", studies / "a")
    assert {c.axes["detector"]: c.word for c in diff.changes}["tfidf"] == "higher"
    assert {c.axes["detector"]: c.word for c in diff.changes}["nothing"] == "only before"


def test_without_the_runs_there_is_no_interval_and_no_verdict(
    studies: Path, tmp_path: Path
) -> None:
    shutil.copytree(studies / "a", tmp_path / "a")
    shutil.rmtree(tmp_path / "a" / "steps")
    diff = study_diff(tmp_path / "a", studies / "b")
    fallen = next(c for c in diff.changes if c.axes["detector"] == "tfidf")
    assert (fallen.word, fallen.interval) == ("unclear", None)
    assert any("are not there" in note for note in diff.notes)


def test_an_axis_with_one_value_in_each_is_noted_and_left_out(
    studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(studies)
    text = BEFORE.replace("datasets.data", "datasets.renamed")
    Path("c.toml").write_text(text, encoding="utf-8")
    cl.study_run("c.toml", "c")
    diff = study_diff("a", "c")
    assert diff.counts() == {"same": 4}
    assert diff.notes == ["The studies differ in dataset: 'data' and 'renamed'."]


def test_the_command_writes_what_the_function_writes(
    studies: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(studies)
    assert run(["diff", "a", "b", "-o", str(tmp_path / "verb")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("From 'a' to 'b', of 5 settings: 1 lower,")
    assert "majority" not in printed, "what is the same is counted only"
    study_diff("a", "b", output=tmp_path / "function")
    for file in ("diff.json", "index.html", "report.md", "call.json"):
        assert (tmp_path / "verb" / file).read_bytes() == (
            tmp_path / "function" / file
        ).read_bytes()
    assert run(["diff", "a", "b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["lower"] == 1


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("diff a data", "One of the two is a study"),
        ("diff a b --check length", "--check is for audits"),
    ],
)
def test_what_does_not_go_together_is_refused(
    studies: Path,
    command: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(studies)
    assert run(command.split()) == 2
    assert why in capsys.readouterr().err
