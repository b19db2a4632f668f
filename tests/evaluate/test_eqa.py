"""The EQA report: refused while the author says nothing, and every gap named by the program."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from parts.planted import clean_twin, planted

import claimlab as cl
from claimlab.audit.check import CHECKS
from claimlab.audit.result import Audit
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import audit
from claimlab.audit.views.page import write_audits
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, OutputExists, UsageError
from claimlab.core.finding import Finding
from claimlab.evaluate.eqa.evidence import StudyEvidence, gather
from claimlab.evaluate.eqa.limits import BEYOND, KINDS, limits
from claimlab.evaluate.eqa.shifts import SHIFTS
from claimlab.evaluate.eqa.study import (
    EXAMPLES_SHOWN,
    QUESTIONS,
    is_answer,
    is_empty,
    new_study,
    read_study,
)
from claimlab.evaluate.eqa.write import report as write_eqa

ANSWER = "Claims by the same makers, a year later, in three languages."
HEAD = 'title = "A detector of invented claims"\n[formulation]\n' + "".join(
    f'{q} = "{ANSWER}"\n' for q in QUESTIONS
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study's folder: two datasets, an audit of one of them, and predictions for its test
    part.
    """
    folder = tmp_path_factory.mktemp("study")
    data = planted()[0]
    data.write(folder / "data")
    clean_twin().write(folder / "other")
    result = audit(
        Dataset.open(folder / "data"),
        checks=["one-class", "source", "time", "url"],
        settings=AuditSettings(repeats=1),
    )
    write_audits([result], folder / "report")
    test = data.records.filter(pl.col("split") == "test")
    said = ["true" if i % 3 else "FALSE " for i in range(test.height)]
    said[0], said[1] = None, "no idea"  # type: ignore[call-overload]
    table = pl.DataFrame(
        {
            "record_id": test["id"],
            "label": said,
        }
    )
    table.write_parquet(folder / "predictions.parquet")
    with_run = Dataset.open(folder / "data")
    with_run.tables["predictions"] = pl.concat(
        [
            table.with_columns(
                pl.lit(f"seed {i}").alias("run"), pl.lit("because").alias("rationale")
            )
            for i in range(2)
        ]
    )
    with_run.write(folder / "run")
    return folder


def study(home: Path, name: str, more: str) -> Path:
    file = home / f"{name}.toml"
    file.write_text(HEAD + more, encoding="utf-8")
    return file


def evidence(home: Path, name: str, more: str) -> StudyEvidence:
    return gather(read_study(study(home, name, more)), home)


def sentences(found: StudyEvidence, kind: str) -> list[str]:
    return [f"{limit.about}: {limit.sentence}" for limit in limits(found) if limit.kind == kind]


WHOLE = """[data]
datasets = ["data", "other"]
audits = ["report"]
[[runs]]
name = "coin"
path = "predictions.parquet"
dataset = "data"
split = "test"
"""


def test_everything_that_was_not_checked_is_named(home: Path) -> None:
    found = evidence(home, "whole", WHOLE)
    assert sentences(found, "not-audited") == [
        "clean-twin: No audit was given. Nothing is known of its shortcuts, leaks and contradictions."
    ]
    ran = {"one-class", "source", "time", "url"}
    not_run = [m for m in limits(found) if m.kind == "not-run"]
    assert len(not_run) == len(CHECKS.names()) - len(ran)
    assert {m.about for m in not_run} == {"planted"}
    assert not any("URL" in s for s in sentences(found, "not-measured")), (
        "not applicable: none has one"
    )
    assert [s.split(":")[1].strip().split(" ")[0] for s in sentences(found, "found")] == [
        "Source",
        "Time",
    ]
    assert "planted: Every audit used one seed (0)." in sentences(found, "protocol")
    assert any("(cdl) was not run" in s for s in sentences(found, "protocol"))
    run = " ".join(sentences(found, "run"))
    for part in (
        "There is one run",
        "1 of ",
        "1 answer outside the labels",
    ):
        assert part in run, part
    assert "gives no rationale" in run
    assert ": No notes on the example predictions were given." in sentences(found, "inspection")
    assert [s.removeprefix(": ") for s in sentences(found, "beyond")] == list(BEYOND)


def test_a_record_with_two_answers_and_one_for_no_record_are_refused(home: Path) -> None:
    table = pl.read_parquet(home / "predictions.parquet")
    twice = pl.concat([table, table.head(1), table.tail(1).with_columns(record_id=pl.lit("x"))])
    twice.write_parquet(home / "twice.parquet")
    with pytest.raises(DataError, match="1 record has several predictions .* 1 prediction is for"):
        evidence(home, "twice", WHOLE.replace("predictions.parquet", "twice.parquet"))


def test_without_audits_and_runs_that_is_what_is_said(home: Path) -> None:
    found = evidence(home, "bare", '[data]\ndatasets = ["data"]\n')
    assert len(sentences(found, "not-audited")) == 1
    assert sentences(found, "run") == [": No evaluation run was given: no prediction was examined."]
    assert {m.kind for m in limits(found)} == {
        "scope",
        "not-audited",
        "run",
        "contamination",
        "beyond",
        "left-out",
    }


def test_an_audit_of_other_rows_does_not_count(home: Path, tmp_path: Path) -> None:
    data = Dataset.open(home / "data")
    data.derive(data.records.head(500), data.lineage[-1]).write(tmp_path / "cut")
    found = evidence(
        home, "cut", f'[data]\ndatasets = ["{tmp_path / "cut"}"]\naudits = ["report"]\n'
    )
    assert found.audits == [[]]
    said = sentences(found, "not-audited")
    assert any("made on other records" in s for s in said)
    assert any("it was not used" in s for s in said)


def test_samples_judges_targets_and_labels_left_out(home: Path) -> None:
    found = evidence(home, "judged", '[data]\ndatasets = ["data"]\n')
    data = found.datasets[0]
    sampled = Finding(
        check="length",
        protocol="cdl",
        verdict="pass",
        why="Fine.",
        details={"sampled_rows": 10, "of_rows": 90},
    )
    judged = Finding(
        check="feasibility", protocol="cdl", verdict="warn", why="Hm.", details={"validated": False}
    )
    one = Audit(data.name, data.digest(), "cdl", "veracity", 1, 969, 900, [sampled, judged])
    told = StudyEvidence(found.study, [data], [[one]])
    assert any("10 of 90 records" in s for s in sentences(told, "protocol"))
    assert any("fair protocol was not used" in s for s in sentences(told, "protocol"))
    assert any("fitted on all rows" in s for s in sentences(told, "protocol"))
    assert any("not compared with annotators" in s for s in sentences(told, "judge"))
    assert any("on 69 of 969 records" in s for s in sentences(told, "left-out"))
    other = Audit(data.name, data.digest(), "fair", "source", 1, 969, 969, [sampled])
    assert any(
        "not for veracity" in s
        for s in sentences(StudyEvidence(found.study, [data], [[other]]), "not-audited")
    )


def test_the_folder_and_its_examples(home: Path, tmp_path: Path) -> None:
    file = study(home, "folder", WHOLE)
    content = write_eqa(file, tmp_path / "eqa")
    saved = json.loads((tmp_path / "eqa" / "eqa.json").read_text(encoding="utf-8"))
    assert saved == json.loads(json.dumps(content.to_json()))
    (run,) = saved["quality"]["runs"]
    assert len(run["correct"]) == len(run["wrong"]) == EXAMPLES_SHOWN
    low, high = run["evaluation"]["intervals"]["macro_f1"]
    assert low < run["scores"]["macro_f1"] < high
    assert "language" in [s["by"] for s in run["evaluation"]["slices"]]
    page = (tmp_path / "eqa" / "index.html").read_text(encoding="utf-8")
    assert f"{100 * low:.1f} to {100 * high:.1f}" in page
    assert "By language" in page
    assert all(row["output"] == row["truth"] for row in run["correct"])
    assert all(row["output"] != row["truth"] and row["output"] for row in run["wrong"])
    records = dict(planted()[0].records.select("id", "text").rows())
    assert all(
        " ".join(records[row["id"]].split()).startswith(row["input"][:40]) for row in run["correct"]
    )
    n, right = run["records"], run["scores"]["accuracy"] * run["records"]
    assert right == round(right)
    assert run["answered"] == n - 1
    assert {limit["kind"] for limit in saved["limits"]} <= set(KINDS)
    page = (tmp_path / "eqa" / "index.html").read_text(encoding="utf-8")
    for part in ("3. Assurance limits", "25 correct predictions", ANSWER, run["wrong"][0]["id"]):
        assert part in page
    assert (tmp_path / "eqa" / "report.md").read_text(encoding="utf-8").count("# ") > 5
    write_eqa(file, tmp_path / "again")
    for name in ("eqa.json", "index.html", "report.md"):
        assert (tmp_path / "eqa" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    with pytest.raises(OutputExists):
        write_eqa(file, tmp_path / "eqa")


def test_a_run_folder_holds_several_runs_and_another_seed_draws_others(home: Path) -> None:
    more = (
        '[data]\ndatasets = ["data"]\naudits = ["report"]\n[[runs]]\nname = "two"\npath = "run"\n'
    )
    one = evidence(home, "several", more)
    assert [r.name for r in one.runs] == ["two: seed 0", "two: seed 1"]
    assert not any("There is one run" in s for s in sentences(one, "run"))
    assert not any("no rationale" in s for s in sentences(one, "run"))
    test = int((planted()[0].records["split"] == "test").sum())
    assert {r.table.height for r in one.runs} == {test}, (
        "without a named split, the test is what counts"
    )
    assert not any("training part" in s or "not audited" in s for s in sentences(one, "run"))
    other = evidence(
        home,
        "seeded",
        more + "[inspection]\nseed = 7\nnotes = 'Most wrong ones are long claims.'\n",
    )
    assert [r["id"] for r in one.runs[0].correct] != [r["id"] for r in other.runs[0].correct]
    assert sentences(other, "inspection") == []


def test_a_run_on_a_part_of_an_audited_dataset_counts_as_audited(
    home: Path, tmp_path: Path
) -> None:
    whole = Dataset.open(home / "run")
    part = whole.records.filter(pl.col("split") == "train").head(60)
    whole.derive(part, whole.lineage[-1]).write(tmp_path / "part")
    table = pl.DataFrame({"record_id": part["id"], "label": part["veracity"]})
    table.write_parquet(tmp_path / "p.parquet")
    more = f'[data]\ndatasets = ["data"]\naudits = ["report"]\n[[runs]]\nname = "r"\npath = "{tmp_path}/p.parquet"\n'
    found = evidence(home, "part", more + f'dataset = "{tmp_path}/part"\n')
    assert found.runs[0].digest == found.datasets[0].digest()
    said = " ".join(sentences(found, "run"))
    assert "60 of 60 scored records are in the training set" in said
    assert "were not audited" not in said


def test_macro_f1_counts_silence_as_wrong(home: Path) -> None:
    (run,) = evidence(home, "scored", WHOLE).runs
    truth, said = run.table["truth"].to_list(), run.table["said"].to_list()
    scores = []
    for name in ("true", "false"):
        hits = sum(t == s == name for t, s in zip(truth, said, strict=True))
        gaps = sum(
            s not in ("true", "false") and t != name for t, s in zip(truth, said, strict=True)
        )
        scores.append(2 * hits / (truth.count(name) + said.count(name) + gaps))
    assert run.scores()["macro_f1"] == pytest.approx(sum(scores) / 2)
    assert run.scores()["accuracy"] == pytest.approx(run.hits / len(truth))


@pytest.mark.parametrize(
    "text", ["", "  ", "TODO", "tbd.", "...", "?", "-", "n/a", "Lorem ipsum dolor", "<your answer>", "[to be written]",
             "aaaaaaaaaaaaaaaa", "TODO: write this down later", "xxx"],
)  # fmt: skip
def test_placeholders_are_no_answers(text: str) -> None:
    assert not is_answer(text, "What is it?")


def test_answers_are_answers() -> None:
    for text in (
        ANSWER,
        "Que o método generalize para o português.",
        "该方法应推广到一年后的中文帖子上。",
    ):
        assert is_answer(text, "What is it?")
    assert not is_answer(QUESTIONS["aim"], QUESTIONS["aim"])
    assert is_empty("None")
    assert not is_empty("None of the wrong ones is short.")


def test_a_new_study_file_is_refused_until_it_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "new" / "eqa.toml"
    new_study(file)
    with pytest.raises(
        DataError, match="leaves open: title; aim .*; time, source, topic, language, platform under"
    ):
        read_study(file)
    with pytest.raises(OutputExists):
        new_study(file)
    text = file.read_text(encoding="utf-8")
    assert all(
        question in text or question.split(" does it ")[0] in text
        for question in QUESTIONS.values()
    )
    for name in ("title", *QUESTIONS):
        text = text.replace(f'{name} = ""', f'{name} = "{ANSWER}"')
    for name in SHIFTS:
        text = text.replace(f'\n{name} = ""', f'\n{name} = "left open"')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="names no dataset"):
        read_study(file)
    file.write_text(text.replace("datasets = []", 'datasets = ["data"]'), encoding="utf-8")
    assert read_study(file).data.datasets == ["data"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[data]\ndatasets = 3\n", "wrong fields"),
        ("[nonsense]\nx = 1\n", "wrong fields"),
        ("x = [", "not valid TOML"),
        ('[data]\ndatasets = ["nowhere"]\n', "There is no folder"),
        ('[data]\ndatasets = ["data"]\naudits = ["data"]\n', "not a saved audit"),
        ('[data]\ndatasets = ["data"]\n[[runs]]\nname = "r"\npath = "data"\n', "no table of predictions"),
        ('[data]\ndatasets = ["data"]\n[[runs]]\nname = "r"\npath = "predictions.parquet"\n', "without records"),
        ('[data]\ndatasets = ["data"]\n[[runs]]\nname = "r"\npath = "no.parquet"\ndataset = "data"\n', "cannot be read"),
        ('[data]\ndatasets = ["data"]\n[[runs]]\nname = "r"\npath = "run"\nsplit = "tset"\n', "no records in the split"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(more: str, message: str, home: Path) -> None:
    with pytest.raises(DataError, match=message):
        gather(read_study(study(home, "wrong", more)), home)


def test_a_missing_study_file_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Start one with `new_study`"):
        read_study(tmp_path / "none.toml")


def test_runs_stand_beside_each_other_and_what_needs_no_detector(
    home: Path, tmp_path: Path
) -> None:
    more = (
        WHOLE
        + '[[runs]]\nname = "other coin"\npath = "predictions.parquet"\ndataset = "data"\nsplit = "test"\n'
    )
    content = write_eqa(study(home, "beside", more), tmp_path / "eqa")
    (compared,) = content["quality"]["together"]["comparisons"]
    assert {compared["first"], compared["second"]} == {"coin", "other coin"}
    assert compared["difference"] == 0
    page = (tmp_path / "eqa" / "index.html").read_text(encoding="utf-8")
    assert "(majority class)" in page
    assert "Run against run" in page


def test_a_contamination_report_is_in_the_assurance_and_its_absence_too(home: Path) -> None:
    unchecked = "Whether a pre-trained model has met the test records before was not checked."
    (home / "web.jsonl").write_text('{"text": "Nothing of the kind."}\n', encoding="utf-8")
    cl.overlap(home / "data", corpus=home / "web.jsonl", output=home / "known", force=True)
    data = '[data]\ndatasets = ["data", "other"]\n'
    without = write_eqa(study(home, "unknown", data))
    assert [m["about"] for m in without["limits"] if m["sentence"] == unchecked] == [
        "planted",
        "clean-twin",
    ]
    content = write_eqa(
        study(home, "known", f'{data}contamination = ["known"]\n'), home / "eqa-known"
    )
    mine = [m for m in content["limits"] if m["kind"] == "contamination"]
    assert [m["about"] for m in mine if m["sentence"] == unchecked] == ["clean-twin"]
    assert any(m["sentence"].startswith("Word sequences in corpora (pass)") for m in mine)
    assert "Completion by the model: not measured." in [m["sentence"] for m in mine]
    assert content["quality"]["contamination"][0]["findings"][0]["check"] == "overlap"
    assert "Contamination of &#39;planted&#39;: Word sequences" in (
        home / "eqa-known" / "index.html"
    ).read_text(encoding="utf-8")


def test_a_defence_is_in_the_report(home: Path) -> None:
    """The paragraph, the row and a bar that is drawn again: nothing of a file is taken as markup."""
    run = Dataset.open(home / "run")
    run.tables["predictions"] = run.tables["predictions"].filter(run="seed 0")
    cl.defend(run, output=home / "defence", draws=200, force=True)
    file = home / "defence" / "defence.json"
    known = json.loads(file.read_text(encoding="utf-8"))
    known["paragraph"] += " <script>alert(1)</script>"
    known["copied"]["segments"] = [{"name": "guessing", "share": 0.5}]
    file.write_text(json.dumps(known), encoding="utf-8")
    parts = '[data]\ndatasets = ["data"]\ndefences = ["defence"]\n'
    content = write_eqa(study(home, "defended", parts), home / "eqa-defended")
    assert content["quality"]["defences"][0]["row"] == known["row"]
    page = (home / "eqa-defended" / "index.html").read_text(encoding="utf-8")
    assert "is made of" in page
    assert "guessing +50.0" in page
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read as a defence"):
        write_eqa(study(home, "defended", parts))
