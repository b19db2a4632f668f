"""Published figures beside those of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.core.errors import ClaimlabError
from claimlab.generate.planted import planted
from claimlab.study.front import study_run

GRID = """
[datasets.data]
folder = "data"
[grid]
split = ["random", "group"]
detector = ["stratified"]
[[published]]
source = "Table 1"
figures = [
    { detector = "RoBERTa", split = "random", macro_f1 = 88.1 },
    { detector = "majority", split = "group", macro_f1 = 30.0, accuracy = 50.0 },
    { detector = "majority", macro_f1 = 30.0 },
]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=240)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(GRID, encoding="utf-8")
    return tmp_path


def test_a_published_detector_is_a_row_below_ours(place: Path) -> None:
    study_run("study.toml", "out")
    table = cl.study_table("out", rows="detector", columns="split")[0]
    rows = {cell(row[0]): [cell(value) for value in row[1:]] for row in table.rows}
    assert rows["RoBERTa (published)"] == ["88.1", ""]
    assert rows["majority (published)"] == ["", "30.0"]
    assert list(rows)[-2:] == ["RoBERTa (published)", "majority (published)"]
    accuracy = cl.study_table("out", rows="detector", columns="split", cells="accuracy")[0]
    assert [cell(row[0]) for row in accuracy.rows if "published" in cell(row[0])] == ["majority (published)"]
    assert "RoBERTa (published)" in (place / "out" / "report" / "table.tex").read_text(encoding="utf-8")


@pytest.mark.usefixtures("place")
def test_where_the_study_has_the_setting_the_difference_is_given() -> None:
    grid = study_run("study.toml", "out")
    ours = {e.axes["split"]: e for e in grid.entries if e.axes["detector"] == "majority"}
    lines = [[cell(value) for value in row] for row in cl.study_table("out")[-1].rows]
    assert [line[1] for line in lines] == [
        "detector majority, split group",
        "detector majority, split group",
        "detector majority",
    ], "a detector that is not part of the study has nothing to be compared with"
    assert ours["group"].macro_f1 is not None
    assert float(lines[0][5]) == pytest.approx(100 * ours["group"].macro_f1 - 30.0, abs=0.051)
    assert "to" in lines[2][4] or lines[2][4] == lines[0][4], "a figure that fits two settings has a range"


@pytest.mark.parametrize(
    ("figure", "words"),
    [('{ colour = "red", macro_f1 = 1.0 }', "names 'colour'"), ('{ split = "random" }', "has no measure")],
)
def test_a_wrong_figure_is_a_sentence(place: Path, figure: str, words: str) -> None:
    text = GRID.replace('{ detector = "majority", macro_f1 = 30.0 },', f"{figure},")
    (place / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ClaimlabError, match=words):
        study_run("study.toml", "out")


def cell(value: object) -> str:
    return str(getattr(value, "text", value))


def test_the_figures_are_the_same_in_every_start(place: Path) -> None:
    study_run("study.toml", "out")
    before = json.loads((place / "out" / "report" / "study.json").read_text(encoding="utf-8"))
    study_run("study.toml", "out")
    assert json.loads((place / "out" / "report" / "study.json").read_text(encoding="utf-8")) == before
