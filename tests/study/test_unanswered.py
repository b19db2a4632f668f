"""Where every call fails, nothing was measured: no figure anywhere, exit 1, and what was written is
kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted
from parts.standin import Body, StandIn, own_profile

import claimlab as cl
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.stats.streams import share_of
from claimlab.evaluate.evaluation import evaluate_runs
from claimlab.evaluate.scored_run import open_runs
from claimlab.study.saved import saved_study

BROKEN = (400, b'{"error": {"message": "The request cannot be read."}}')
STUDY = """
[datasets.data]
folder = "data"
[grid]
split = ["random"]
detector = ["asked", "tfidf"]
[detector.asked]
detector = "llm-zero-shot"
profile = "model.toml"
"""


def reply(body: Body) -> str:
    return json.dumps({"rationale": "It is in the records.", "label": "true", "confidence": 0.7})


class Faults:
    """Which requests fail: all, a share by their text, or none."""

    def __init__(self) -> None:
        self.share = 1.0

    def __call__(self, body: Body, seen: int) -> tuple[int, bytes] | None:
        return BROKEN if share_of(0, json.dumps(body["messages"])) < self.share else None


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    monkeypatch.chdir(tmp_path)
    chosen = Faults()
    planted(size=120)[0].write("data")
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    with StandIn(answer=reply, fault=chosen) as server:
        own_profile(Path("model.toml"), f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n')
        yield chosen


def asked(*more: str) -> list[str]:
    return [
        "detect",
        "data",
        "-o",
        "run",
        "--detector",
        "llm-zero-shot",
        "--profile",
        "model.toml",
        "--force",
        *more,
    ]


@pytest.mark.usefixtures("faults")
def test_detect_and_evaluate_say_not_measured_and_exit_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(["-q", *asked()]) == 1
    shown = capsys.readouterr()
    assert "not measured: no record was answered" in shown.out
    assert "accuracy" not in shown.out
    kept = Dataset.open("run").tables["predictions"]
    assert kept.height > 0
    assert kept["label"].null_count() == kept.height
    assert command([*asked("--json")]) == 1
    report = json.loads(capsys.readouterr().out)["scores"]
    assert (report["macro_f1"], report["accuracy"], report["failed"]) == (None, None, report["n"])
    for flags in ([], ["-q"]):
        assert command([*flags, "evaluate", "run", "-o", "report", "--force"]) == 1
        assert "macro-F1 not measured: no record was answered on" in capsys.readouterr().out
    assert command(["evaluate", "run", "--json"]) == 1
    (measured,) = json.loads(capsys.readouterr().out)["runs"]
    figures = {
        name: measured["scores"][name]
        for name in ("accuracy", "macro_f1", "auroc", "answered_accuracy")
    }
    assert set(figures.values()) == {None}
    assert all(ends is None for ends in measured["intervals"].values())
    assert all(one["recall"] is None for one in measured["scores"]["per_class"])
    assert (measured["chance"]["p"], measured["chance"]["p_holm"]) == (None, None)
    saved = pl.read_csv("report/scores.csv")
    assert saved["macro_f1"].null_count() == saved["accuracy"].null_count() == saved.height
    assert "not measured: no record was answered" in Path("report/leaderboard.tex").read_text(
        encoding="utf-8"
    )


def test_some_failures_are_counted_in_the_line_that_has_the_score(
    faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    faults.share = 0.5
    assert command(["-q", *asked()]) == 0
    line = capsys.readouterr().out
    failed = Dataset.open("run").tables["predictions"]["label"].null_count()
    assert 0 < failed < Dataset.open("run").records.height
    assert f"; {failed} failed and count as wrong" in line
    assert command(["-q", "evaluate", "run"]) == 0
    of = 52
    assert f"; answered {of - failed} of {of} (" in capsys.readouterr().out


@pytest.mark.usefixtures("faults")
def test_a_run_without_an_answer_is_neither_best_nor_tied_nor_joined() -> None:
    command(["-q", *asked()])
    split = Dataset.open("data")
    words = cl.detect(split, "tfidf")
    runs = [*open_runs("run", name="asked"), *open_runs(words, name="words")]
    done = evaluate_runs(runs)
    assert done.comparisons[0].better is None
    assert done.comparisons[0].why == "Macro-F1 is not measured: no record was answered."
    from claimlab.evaluate.views import conclusion

    text = conclusion(done.runs, done.board("veracity", done.runs[0].dataset))
    assert "asked" not in text
    assert all(
        cell.macro_f1 is None and cell.accuracy is None
        for by in done.runs[0].slices
        for cell in by.cells
    )
    assert all(by.mean is None for by in done.runs[0].slices)


@pytest.mark.slow
def test_a_study_has_no_figure_for_it_exits_1_and_asks_again(
    faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["trust", "study.toml", "--yes"]) == 0
    capsys.readouterr()
    for flags in ([], ["-q"]):
        assert command([*flags, "study", "run", "study.toml", "-o", "out"]) == 1
        shown = capsys.readouterr().out
        assert "1 failed" in shown
        assert "No record was answered" in shown
    assert command(["study", "run", "study.toml", "-o", "out", "--json"]) == 1
    assert "No record was answered" in json.loads(capsys.readouterr().out)["failures"][0]
    entries = {e.axes["detector"]: e for e in saved_study("out")[1]}
    assert (entries["asked"].macro_f1, entries["asked"].accuracy, entries["asked"].chance.p) == (
        None,
        None,
        None,
    )
    assert entries["tfidf"].macro_f1 is not None
    assert "No record was answered" in (Path("out/report/index.html")).read_text(encoding="utf-8")
    assert command(["study", "table", "out"]) == 0
    assert "No record was answered" in capsys.readouterr().out
    faults.share = 0.0
    assert command(["study", "run", "study.toml", "-o", "out"]) == 0
    assert {e.axes["detector"]: e for e in saved_study("out")[1]}["asked"].accuracy is not None


def test_a_judge_without_an_answer_exits_1(
    faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    faults.share = 0.0
    assert command(asked("--limit", "5")) == 0
    ids = Dataset.open("run").records["id"].to_list()
    rows: list[dict[str, Any]] = [
        {"record_id": i, "article": "The archive says that it is not so."} for i in ids
    ]
    pl.DataFrame(rows).write_csv("articles.csv")
    faults.share = 1.0
    judge = [
        "judge",
        "run",
        "-o",
        "judged",
        "--profile",
        "model.toml",
        "--set",
        "articles=articles.csv",
        "--force",
    ]
    capsys.readouterr()
    assert command(["-q", *judge]) == 1
    assert "not measured" in capsys.readouterr().out
    assert command([*judge, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["judge"]["judged"] == 0
