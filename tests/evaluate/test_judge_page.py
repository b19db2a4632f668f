"""The page of a judged run, what `evaluate` and `report` show of a judge, and what `claimlab judge`
refuses.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import to_side_table
from claimlab.evaluate.front import evaluate
from claimlab.evaluate.judge.judged_run import judge_run
from claimlab.evaluate.judge.opinions import LexicalJudge
from claimlab.evaluate.views import page as evaluation_page
from claimlab.pages.markdown import to_markdown

EVIL = "<script>alert(1)</script>"


def a_run(*, task: str = "veracity", people: int = 0) -> Dataset:
    """Twenty predictions, every other label right; the first ten deny what their article says. One
    abstains.
    """
    ids = [f"r{i}" for i in range(20)]
    rows = [
        {"id": i, "text": f"Claim {i} {EVIL}", "veracity": "false", "topic": "bridges"} for i in ids
    ]
    other = "false" if task == "veracity" else "bridges"
    said: list[dict[str, Any]] = [
        {"record_id": r, "label": other if n % 2 else "true",
         "rationale": f"The bridge was {'not ' if n < 10 else ''}opened in 1931. {EVIL}"}
        for n, r in enumerate(ids)
    ]  # fmt: skip
    said.append(
        {
            "record_id": "a",
            "rationale": "Nothing.",
            "meta": json.dumps({"abstained": "no-evidence"}),
        }
    )
    rows.append({"id": "a", "text": "Other.", "veracity": "true", "topic": "bridges"})
    pieces = [
        {
            "record_id": r,
            "evidence_id": f"e-{r}",
            "rank": 1,
            "text": "The bridge was opened in 1931.",
            "rating": "True",
        }
        for r in [*ids, "a"]
    ]
    tables = {
        "predictions": to_side_table("predictions", pl.DataFrame(said, infer_schema_length=None)),
        "evidence": to_side_table("evidence", pl.DataFrame(pieces)),
    }
    if people:
        told = [
            {"record_id": r, "annotator": "ann", "annotator_kind": "human", "question": "rationale",
             "value": "wrong" if n < 10 else "not wrong"}
            for n, r in enumerate(ids)
            if n % 10 < people
        ]  # fmt: skip
        tables["annotations"] = to_side_table("annotations", pl.DataFrame(told))
    step = Lineage(
        step="detect", parameters={"detector": "x", "settings": {}, "task": task}, seed=0
    )
    return Dataset.build("runs", pl.DataFrame(rows), tables, lineage=[step])


def test_the_page_says_unvalidated_first_and_escapes_what_models_wrote(tmp_path: Path) -> None:
    judge_run(a_run(), LexicalJudge()).save(tmp_path / "judged")
    report = tmp_path / "judged" / "judge-report"
    html, text = ((report / f).read_text(encoding="utf-8") for f in ("index.html", "report.md"))
    for shown in (html, text):
        assert shown.index("UNVALIDATED") < shown.index(
            "label wrong, rationale sound, by the judge"
        )
        assert "agreement is not measured" in shown
        assert "no evidence" in shown
    assert EVIL not in html
    assert "not fitted to this dataset" in text
    assert (report / "plots" / "scores.svg").is_file()
    assert Dataset.open(tmp_path / "judged").tables["annotations"].height == 40, (
        "the folder stays a dataset"
    )


def test_the_page_of_a_judge_held_against_people_gives_the_left_out_figures(tmp_path: Path) -> None:
    done = judge_run(a_run(people=10), LexicalJudge())
    done.save(tmp_path / "judged")
    text = (tmp_path / "judged" / "judge-report" / "report.md").read_text(encoding="utf-8")
    assert "UNVALIDATED" not in text
    assert "each case left out in turn" in text
    assert "flatters" in text
    assert "10 cases that annotators called wrong and 10 not wrong" in text


def test_evaluate_shows_the_judge_of_a_run_that_carries_its_annotations(tmp_path: Path) -> None:
    judge_run(a_run(people=3), LexicalJudge()).save(tmp_path / "judged")
    found = evaluate([tmp_path / "judged"], draws=200)
    (one,) = found.runs[0].about.judged
    assert one["judge"] == LexicalJudge.name
    assert one["verdicts"] == {"not wrong": 10, "wrong": 10}
    assert (
        one["by_judge"]["false_correct"]["rate"] == 0.5
    )  # ten labels are right, five of them for wrong reasons
    assert one["by_judge"]["false_incorrect"]["n"] == 10
    assert one["by_people"]["false_correct"]["n"] == 2  # of the six that people judged
    text = to_markdown(evaluation_page(found))
    assert "Rationales, judged" in text
    assert "does not model meaning" in text
    assert found.to_json()["runs"][0]["about"]["judged"][0]["judge"] == LexicalJudge.name
    a_run().write(tmp_path / "bare")
    assert "Reasons, judged" not in to_markdown(
        evaluation_page(evaluate([tmp_path / "bare"], draws=200))
    )


def test_a_run_is_judged_by_the_task_it_was_made_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(task="topic").write(tmp_path / "run")
    assert (
        command(
            ["judge", str(tmp_path / "run"), "-o", str(tmp_path / "out"), "--offline", "--json"]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)["judge"]["by_judge"]
    assert found["false_correct"]["n"] == 10, "half of the topics are right"


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--offline", "--set", "scale=binary"], "--set scale=VALUE"),
        (["--offline", "--set", "runs=3"], "--set runs="),
        (["--offline", "--model", "other"], "--model"),
        (
            ["--profile", "embedded", "--set", "scale=trinary", "--set", "threshold=3"],
            "--set threshold=",
        ),
        (["--offline", "--set", "mode=sideways"], "record"),
        (["--profile", "embedded", "--set", "mode=live", "--set", "cache=calls"], "--set cache="),
    ],
)
def test_what_would_go_unheard_is_refused(
    more: list[str], word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run().write(tmp_path / "run")
    assert command(["judge", str(tmp_path / "run"), "-o", str(tmp_path / "out"), *more]) == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
