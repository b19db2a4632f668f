"""`claimlab evaluate`: the folder it writes, what it prints, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import claimlab as cl
from claimlab.cli.app import app
from claimlab.core.dataset import Dataset
from claimlab.core.errors import OutputExists, UsageError
from claimlab.core.progress import reporting

Maker = Callable[..., Dataset]
FILES = {
    "call.json",
    ".claimlab.json",
    "evaluation.json",
    "scores.csv",
    "index.html",
    "leaderboard.html",
    "report.md",
    "leaderboard.png",
    "leaderboard.tex",
    "leaderboard-document.tex",
    "plots",
}


@pytest.fixture
def folders(make_data: Maker, make_run: Maker, tmp_path: Path) -> list[str]:
    data = make_data(300)
    for name, skill, seed in (("good", 0.9, 0), ("again", 0.9, 1), ("poor", 0.6, 2)):
        detector = "coin" if name != "poor" else "dice"
        make_run(data, skill, seed=seed, detector=detector).write(tmp_path / name)
    data.write(tmp_path / "data")
    return [str(tmp_path / name) for name in ("good", "again", "poor")]


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["evaluate", *arguments])
    return done.exit_code, done.stdout


def test_the_folder(folders: list[str], tmp_path: Path) -> None:
    code, printed = call(
        *folders, "-o", str(tmp_path / "report"), "--by", "language", "--draws", "300", "--compare"
    )
    assert code == 0
    assert "good: macro-F1" in printed
    assert "(majority class)" in printed.replace("\n", " ") or "(majority" in printed
    assert {p.name for p in (tmp_path / "report").iterdir()} == FILES
    saved = json.loads((tmp_path / "report" / "evaluation.json").read_text(encoding="utf-8"))
    assert [r["name"] for r in saved["runs"]] == ["good", "again", "poor"]
    assert len(saved["comparisons"]) == 3
    (seeds,) = saved["seeds"]
    assert seeds["seeds"] == [0, 1]
    html = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    first = html.split('<p class="conclusion"')[1].split("</p>")[0]
    assert "good and again cannot be told apart (p " in first
    assert "; both are above poor." in first
    assert "1-2" in printed
    assert " points of macro-F1 are often missed" in " ".join(printed.split())
    assert "points above the best trivial baseline" in first
    board = (tmp_path / "report" / "leaderboard.html").read_text(encoding="utf-8")
    for page in (html, board):
        assert "(majority class)" in page
        assert "(random guess)" in page
        assert "http://" not in page.replace("http://www.w3.org", "")
    assert "By language" in html
    assert "By source" not in html
    table = pl.read_csv(tmp_path / "report" / "scores.csv")
    assert table.height == 3 * (1 + 5)
    plots = {p.name for p in (tmp_path / "report" / "plots").iterdir()}
    assert {"01-leaderboard.png", "01-good-by-language.svg", "01-good-calibration.svg"} <= plots


def test_json_is_one_object_and_the_same_every_time(folders: list[str]) -> None:
    first, second = (
        call(*folders, "--json", "--draws", "200", "--by", "family")[1] for _ in range(2)
    )
    assert first == second
    found = json.loads(first)
    run = found["runs"][0]
    assert {"name", "task", "scores", "intervals", "baselines", "slices", "left_out"} <= set(run)
    assert {b["name"] for b in run["baselines"]} == {"majority", "stratified"}
    (family,) = run["slices"]
    assert family["by"] == "family"


def test_python_says_the_same_as_the_command_line(folders: list[str]) -> None:
    found = cl.evaluate(folders, by=["language"], draws=200)
    printed = json.loads(call(*folders, "--json", "--draws", "200", "--by", "language")[1])
    assert json.loads(json.dumps(found.to_json())) == printed


def test_data_cannot_write_markup_or_formulas(
    make_data: Maker, make_run: Maker, tmp_path: Path
) -> None:
    data = make_data(200)
    nasty = data.records.with_columns(pl.lit("=1+1<script>alert(1)</script>").alias("source"))
    make_run(Dataset.build("made-up", nasty), 0.8).write(tmp_path / "run")
    assert (
        call(str(tmp_path / "run"), "-o", str(tmp_path / "r"), "--by", "source", "--draws", "200")[
            0
        ]
        == 0
    )
    assert "<script>alert" not in (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert ",=1+1" not in (tmp_path / "r" / "scores.csv").read_text(encoding="utf-8")


def test_predictions_from_elsewhere_on_the_command_line(folders: list[str], tmp_path: Path) -> None:
    data = Dataset.open(tmp_path / "data")
    said = data.records.select("id", label="veracity")
    said.write_csv(tmp_path / "oracle.csv")
    arguments = (
        folders[2],
        "--predictions",
        str(tmp_path / "oracle.csv"),
        "--data",
        str(tmp_path / "data"),
    )
    found = json.loads(call(*arguments, "--json", "--draws", "200", "--by", "language")[1])
    assert [r["name"] for r in found["runs"]] == ["poor", "oracle"]
    assert found["runs"][1]["scores"]["macro_f1"] == 1.0
    assert found["comparisons"][0]["better"] == "oracle"


@pytest.mark.parametrize(
    "arguments", [("--by", "language"), ("--predictions", "x.csv"), ("--data", "d")]
)
def test_what_does_not_go_together(arguments: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(app, ["evaluate", *arguments]).exception
    assert isinstance(refused, UsageError)


def test_a_folder_that_is_taken_is_not_replaced(folders: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    refused = (
        CliRunner()
        .invoke(app, ["evaluate", folders[0], "-o", str(tmp_path / "mine"), "--force"])
        .exception
    )
    assert isinstance(refused, OutputExists)
    assert (tmp_path / "mine" / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_the_terminal_tells_what_was_not_scored(
    make_data: Maker, make_run: Maker, tmp_path: Path
) -> None:
    data = make_data(120)
    labels = [("banana", "no evidence", "true")[i % 3] for i in range(120)]
    run = make_run(data, 1, labels=labels)
    run.write(tmp_path / "run")
    code, printed = call(str(tmp_path / "run"), "--draws", "200")
    assert code == 0
    for said in (
        "80 answers outside the classes",
        "40 of them say: no evidence",
    ):
        assert said in printed


def test_as_many_records_are_not_the_same_records(
    make_data: Maker, make_run: Maker, tmp_path: Path
) -> None:
    kinds = make_data(600).records.partition_by("veracity")
    halves = [
        Dataset.build("made-up", pl.concat([part[i:200:2] for part in kinds])) for i in (0, 1)
    ]
    sizes = [h.records["veracity"].value_counts().sort("veracity").rows() for h in halves]
    assert sizes[0] == sizes[1], "or the test shows nothing"
    for i, half in enumerate(halves):
        make_run(half, 0.8, seed=i).write(tmp_path / f"run{i}")
    code, printed = call(
        str(tmp_path / "run0"),
        str(tmp_path / "run1"),
        "--draws",
        "200",
        "-o",
        str(tmp_path / "out"),
    )
    assert code == 0
    assert "not scored on the same records" in printed
    assert "not scored on the same records" in (tmp_path / "out" / "leaderboard.html").read_text(
        encoding="utf-8"
    )


def test_a_test_set_of_one_class_has_no_macro_f1_anywhere(
    make_data: Maker, make_run: Maker, tmp_path: Path
) -> None:
    """Answering with the only class every time would score 100: nothing is shown as if it were
    measured.
    """
    data = make_data(300)
    data.records = data.records.filter(pl.col("veracity") == "false")
    names = [f"run{seed}" for seed in (1, 2)]
    for seed, name in enumerate(names, 1):
        make_run(data, 0.9, seed=seed).write(tmp_path / name)
    code, printed = call(
        *(str(tmp_path / name) for name in names), "-o", str(tmp_path / "report"), "--draws", "200"
    )
    assert code == 0
    assert "run1: macro-F1 not measured: only one class, accuracy " in printed
    raw = json.loads((tmp_path / "report" / "evaluation.json").read_text(encoding="utf-8"))
    for run in raw["runs"]:
        assert run["scores"]["accuracy"] > 0.8
        measured = [run["scores"][key] for key in ("macro_f1", "answered_macro_f1", "auroc")]
        assert measured + [b["macro_f1"] for b in run["baselines"]] == [None] * 5
        assert [c["f1"] for c in run["scores"]["per_class"]] == [None]
        assert run["intervals"]["macro_f1"] is None
    assert [c["why"] for c in raw["comparisons"]] == ["Macro-F1 is not measured: only one class."]
    assert (raw["seeds"], raw["drops"]) == ([], [])
    for page in ("index.html", "leaderboard.html", "report.md", "leaderboard.tex"):
        assert "not measured: only one class" in (tmp_path / "report" / page).read_text(
            encoding="utf-8"
        )


def test_progress_moves_within_a_run_and_over_comparisons(folders: list[str]) -> None:
    reports: list[tuple[str, int, int | None]] = []
    with reporting(lambda *stage: reports.append(stage)):
        cl.evaluate(folders[:2], by=["language", "month"], draws=300)
    scores = [
        (label, done, total) for label, done, total in reports if label.startswith("scores: ")
    ]
    assert [done for _, done, _ in scores] == list(range(12))
    assert {total for _, _, total in scores} == {12}
    names = ["intervals", "chance", "AUROC", "by language", "by month", "abstentions"]
    for run in ("good", "again"):
        assert [label for label, _, _ in scores if f" {run}, " in label] == [
            f"scores: {run}, {name}" for name in names
        ]
    assert ("comparisons", 0, 1) in reports
