"""Published figures beside those of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.catalog.load import DATASETS
from claimlab.core.errors import ClaimlabError
from claimlab.study.entry import card_figure, with_cards
from claimlab.study.file import paper_table, read_study_file
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
    names = list(rows)
    assert names.index("majority (published)") == names.index("majority") + 1, (
        "beside ours where we have it"
    )
    assert names[-1] == "RoBERTa (published)"
    accuracy = cl.study_table("out", rows="detector", columns="split", cells="accuracy")[0]
    assert [cell(row[0]) for row in accuracy.rows if "published" in cell(row[0])] == [
        "majority (published)"
    ]
    assert "RoBERTa (published)" in (place / "out" / "report" / "table.tex").read_text(
        encoding="utf-8"
    )


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
    assert "to" in lines[2][4] or lines[2][4] == lines[0][4], (
        "a figure that fits two settings has a range"
    )


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ('{ colour = "red", macro_f1 = 1.0 }', "names 'colour'"),
        ('{ split = "random" }', "has no measure"),
    ],
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
    assert (
        json.loads((place / "out" / "report" / "study.json").read_text(encoding="utf-8")) == before
    )


SAMPLES = Path(__file__).parents[1] / "catalog" / "samples"


def test_figures_on_the_cards_of_datasets_are_taken_from_there(place: Path) -> None:
    text = GRID.split("[[published]]")[0].replace(
        "[grid]", "[datasets.liar]\nload = 'liar'\nsource = 'LIAR'\n[grid]"
    )
    text += "[[published]]\nsource = 'Table 2'\ncard = 'offline_f1'\nfigures = [{ detector = 'GPT-4', split = 'random' }]\n"
    (place / "study.toml").write_text(
        text.replace("LIAR", (SAMPLES / "liar" / "raw").as_posix()), encoding="utf-8"
    )
    study = read_study_file("study.toml")
    (part,) = with_cards(study)
    card = DATASETS.get("liar").card.published
    assert card is not None
    assert part.figures == [
        {"dataset": "liar", "detector": "GPT-4", "split": "random", "macro_f1": card.offline_f1}
    ]
    with pytest.raises(ClaimlabError, match="offline"):
        card_figure(study, "liar", "offline")


def test_gap_and_test_records_are_columns(place: Path) -> None:
    view = '[table]\nrows = "detector"\ncolumns = "split"\nrecords = true\n'
    gap = view + 'gap = ["random", "group"]\n'
    (place / "study.toml").write_text(GRID + gap, encoding="utf-8")
    grid = study_run("study.toml", "out")
    at = {(e.axes["detector"], e.axes["split"]): e.macro_f1 for e in grid.entries}
    table = cl.study_table("out")[0]
    assert table.columns[-2:] == ["random less group", "test records"]
    most = max(entry.records for entry in grid.entries)
    for row in (row for row in table.rows if "published" not in cell(row[0])):
        first, second = at[cell(row[0]), "random"], at[cell(row[0]), "group"]
        assert first is not None
        assert second is not None
        assert float(cell(row[-2])) == pytest.approx(100 * (first - second), abs=0.051)
        assert int(cell(row[-1])) == most


PAPER = GRID.split("[[published]]")[0]


@pytest.mark.usefixtures("place")
def test_figures_of_a_paper_are_taken_by_its_table() -> None:
    Path("study.toml").write_text(
        f"{PAPER}[[published]]\nsource = 'T6'\npaper = 'portuguese, Table 6'\n", "utf-8"
    )
    (part,) = read_study_file("study.toml").published
    assert part.figures == paper_table("portuguese, Table 6")["figures"]
    show = "[[show]]\ntitle = 'T2'\nstep = 'dataset'\npaper = 'portuguese, Table 2'\n"
    show += "counts = [{ name = 'x', table = 'records', "
    Path("study.toml").write_text(
        f"{PAPER}{show}published = {{ mumin = 'Language Filtering' }} }}]\n", "utf-8"
    )
    assert read_study_file("study.toml").show[0].counts[0].published == {"mumin": 11801}
    Path("study.toml").write_text(f"{PAPER}{show}published = 'Language Filtering' }}]\n", "utf-8")
    assert read_study_file("study.toml").show[0].counts[0].published == {
        "covid19-br": 8,
        "fake-br": 0,
        "mumin": 11801,
    }


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("paper = 'portuguese, Table 66'", "no paper named"),
        (
            "paper = 'portuguese, Table 6'\nfigures = [{ detector = 'x', macro_f1 = 1.0 }]",
            "both `paper` and `figures`",
        ),
    ],
)
def test_a_paper_that_is_not_known_is_a_sentence(lines: str, words: str) -> None:
    Path("study.toml").write_text(f"{PAPER}[[published]]\nsource = 'T'\n{lines}\n", "utf-8")
    with pytest.raises(ClaimlabError, match=words):
        read_study_file("study.toml")


def test_no_published_macro_f1_but_bertimbaus_is_above_its_accuracy() -> None:
    """With two classes it cannot be: where a paper prints it, its columns are exchanged, and the
    page says so.
    """
    above = {
        (figure["detector"], figure["dataset"], figure["evidence"])
        for figure in paper_table("portuguese, Table 6")["figures"]
        if figure["macro_f1"] > figure["accuracy"]
    }
    assert len(above) == 4
    assert {detector for detector, *_ in above} == {"Bertimbau base"}


@pytest.mark.parametrize(
    ("rows", "columns"), [("detector", "split"), ("dataset", "split"), ("detector", "dataset")]
)
def test_figures_of_another_dataset_are_in_no_table(place: Path, rows: str, columns: str) -> None:
    mine = '{ dataset = "data", detector = "RoBERTa", split = "random", macro_f1 = 71.5 }'
    theirs = '{ dataset = "elsewhere", detector = "RoBERTa", split = "random", macro_f1 = 99.2 }'
    text = GRID.replace(
        '{ detector = "RoBERTa", split = "random", macro_f1 = 88.1 }', f"{mine}, {theirs}"
    )
    (place / "study.toml").write_text(text, encoding="utf-8")
    study_run("study.toml", "out")
    shown = [
        cell(value)
        for table in cl.study_table("out", rows=rows, columns=columns)
        for row in table.rows
        for value in row
    ]
    assert "99.2" not in shown
    assert "71.5" in shown
    assert "99.2" not in (place / "out" / "report" / "index.html").read_text(encoding="utf-8")
