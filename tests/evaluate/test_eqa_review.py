"""The judgements of annotators beside the example predictions, read from a review."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.evaluate.eqa.write import Assurance

ANSWER = "Claims by the same makers, in three languages."
HEAD = f'title = "Invented claims"\n[formulation]\naim = "{ANSWER}"\nintended_generalisation = "{ANSWER}"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cl.split(planted(size=240)[0], by="random", output="data")
    cl.detect("data", "stratified", output="run")
    return tmp_path


def written(home: Path, run: str = 'path = "run"\n') -> Assurance:
    text = f'{HEAD}[shifts]\ntime = "left open"\n[data]\ndatasets = ["data"]\n[[runs]]\nname = "luck"\n{run}'
    (home / "eqa.toml").write_text(text, encoding="utf-8")
    return cl.report("eqa.toml", "eqa", force=True)


def examples(content: Assurance) -> list[dict[str, object]]:
    (run,) = content["quality"]["runs"]
    return [*run["correct"], *run["wrong"]]


def inspection(content: Assurance) -> list[str]:
    return [limit["sentence"] for limit in content["limits"] if limit["kind"] == "inspection"]


def page() -> str:
    return Path("eqa/index.html").read_text(encoding="utf-8")


def command() -> list[str]:
    """The command that the page shows, as a shell would read it."""
    text = Path("eqa/report.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "claimlab review create" in line)
    return shlex.split(line.lstrip("> ").replace("\\", ""))[1:]


def test_the_command_on_the_page_makes_the_review_whose_decisions_the_page_shows(
    home: Path,
) -> None:
    drawn = examples(written(home))
    assert all(row["judgement"] is None for row in drawn)
    assert "No annotator has judged these examples" in page()
    assert page().count("not judged yet") == len(drawn)
    assert run([*("ana" if word == "NAME" else word for word in command())]) == 0
    review = cl.Review.open("review-luck")
    record = {name: about.record_id for name, about in review.about().items()}
    assert sorted(record[item.id] for item in review.queue("ana")) == sorted(
        str(row["id"]) for row in drawn
    )
    first, second, *_ = review.queue("ana")
    review.decide(
        "ana",
        first.id,
        "mixed",
        key="00000000-0000-4000-8000-000000000001",
        comment="both halves hold",
    )
    review.close()
    content = written(home, 'path = "run"\nreview = "review-luck"\n')
    by_id = {row["id"]: row["judgement"] for row in examples(content)}
    judged = by_id[record[first.id]]
    assert isinstance(judged, dict)
    assert (judged["value"], judged["annotators"]) == ("mixed", "ana")
    undecided = by_id[record[second.id]]
    assert isinstance(undecided, dict)
    assert undecided["value"] is None
    assert "mixed (ana) – ana: both halves hold" in page()
    assert "Judgement: Which label is right?" in page()
    n = len(by_id)
    assert f"No judgement of an annotator on {n - 1} of {n} example predictions." in inspection(
        content
    )
    assert "No notes on the example predictions were given." not in inspection(content)


def test_a_decision_about_another_text_or_prediction_is_not_used(home: Path) -> None:
    drawn = [str(row["id"]) for row in examples(written(home))]
    review = cl.review_create(
        "run", "review", predictions="run", which="all", records=drawn, people=["ana"], per_item=1
    )
    for number, item in enumerate(review.queue("ana")):
        review.decide("ana", item.id, "true", key=f"00000000-0000-4000-8000-{number:012d}")
    review.close()
    run = Dataset.open("run")
    edited = (
        pl.when(pl.col("id") == drawn[0])
        .then(pl.lit("Another text."))
        .otherwise(pl.col("text"))
        .alias("text")
    )
    opposite = {"true": "false", "false": "true"}
    label = pl.col("label").replace(opposite)
    flipped = (
        pl.when(pl.col("record_id") == drawn[1])
        .then(label)
        .otherwise(pl.col("label"))
        .alias("label")
    )
    changed = run.derive(run.records.with_columns(edited), run.lineage[-1])
    changed.tables["predictions"] = run.tables["predictions"].with_columns(flipped)
    changed.write("changed")
    content = written(home, 'path = "changed"\nreview = "review"\n')
    assert "2 judgements of other texts or predictions than this run's: not used." in inspection(
        content
    )
    by_id = {row["id"]: row["judgement"] for row in examples(content)}
    assert all(by_id.get(name) is None for name in drawn[:2])
    assert any(judgement is not None for judgement in by_id.values())


def test_a_review_of_other_records_is_refused(home: Path) -> None:
    ids = Dataset.open("data").records.filter(pl.col("split") == "train")["id"].to_list()
    cl.review_create("data", "review", records=ids[:3]).close()
    with pytest.raises(DataError, match="about none of its records"):
        written(home, 'path = "run"\nreview = "review"\n')
    with pytest.raises(cl.ClaimlabError, match="is not a review"):
        written(home, 'path = "run"\nreview = "data"\n')


def test_named_records_of_a_run_are_reviewed_with_its_predictions(home: Path) -> None:
    ids = Dataset.open("run").records["id"].to_list()[:3]
    review = cl.review_create(
        "run", "review", task="rationale", predictions="run", which="all", records=ids
    )
    assert [about.record_id for about in review.about().values()] == ids
    who, _ = review.add_person("ana")
    assert all(item.payload.model is not None for item in review.queue(who))
    review.close()


def test_a_checklist_is_filled_from_the_folders_and_the_rest_is_open(home: Path) -> None:
    written(home)
    for venue in ("arr", "neurips"):
        content = cl.report("eqa.toml", venue, checklist=venue)
        rows = {one["question"]: one["answer"] for one in content["checklist"]["questions"]}
        answered = {question: answer for question, answer in rows.items() if answer}
        assert (
            "309 records; veracity false 158"
            in answered["How many records are there, by label and split?"]
        )
        assert "licence" in " ".join(rows).lower()
        assert rows["Was the data collection approved by an ethics board?"] is None
        assert any("computing" in question for question in rows.keys() - answered.keys())
        page = (home / venue / "report.md").read_text(encoding="utf-8")
        left = len(rows) - len(answered)
        assert f"{left} questions of {len(rows)} can only be answered by the authors" in page
    agreed = cl.report("eqa.toml", "again", checklist="arr")["checklist"]["questions"]
    assert any("Krippendorff" in (one["answer"] or "") for one in agreed)
    with pytest.raises(UsageError, match="arr"):
        cl.report("eqa.toml", "other", checklist="acl")
