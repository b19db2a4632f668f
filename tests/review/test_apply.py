"""Decisions written back: labels, removed and restored records, annotations that checks read,
lineage.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.pages.terminal import to_text
from claimlab.review.apply import review_apply
from claimlab.review.create import review_create
from claimlab.review.review import Review
from claimlab.review.views import agreement_blocks, status_blocks

from .made import dataset, key


def decide(
    review: Review, answers: dict[str, str], people: tuple[str, ...] = ("ana", "ben")
) -> None:
    """Record -> answer, the same by everybody."""
    records = {row.record_id: name for name, row in review.about().items()}
    for who in people:
        for record, answer in answers.items():
            review.decide(who, records[record], answer, key=key())


def test_labels_are_corrected_and_records_removed_with_lineage(tmp_path: Path) -> None:
    made = dataset()
    made.write(tmp_path / "data")
    ids = [f"r{n:03d}" for n in range(6)]
    review = review_create(
        tmp_path / "data",
        tmp_path / "review",
        records=ids,
        people=["ana", "ben"],
        guideline="By the source.",
    )
    decide(review, {"r000": "true", "r001": "true", "r002": "remove", "r003": "mixed"})
    applied = review_apply(review, tmp_path / "out")  # the dataset is found beside the review
    labels = dict(applied.records.select("id", "veracity").iter_rows())
    assert (labels["r000"], labels["r001"], labels["r003"], labels["r004"]) == (
        "true",
        "true",
        "mixed",
        "true",
    )
    assert "r002" not in labels
    assert applied.tables["dropped"].select("id", "step", "reason").rows() == [
        ("r002", "review", "label: Remove the record")
    ]
    assert applied.tables["changes"].select("id", "before", "after").rows() == [
        ("r001", "false", "true"),
        ("r003", "false", "mixed"),
    ]
    step = applied.lineage[-1]
    assert step.counts == {
        "in": 60, "records": 59, "decisions": 8, "relabelled": 2, "dropped": 1, "returned": 0, "doubtful": 0,
    }  # fmt: skip
    assert step.parameters["guideline"] == "By the source."
    assert step.parameters["guideline_sha256"] == review.task.guideline_hash()
    assert step.parameters["items"] == {"agreed": 4, "open": 2}
    assert applied.notes[-1] == "The review 'label' was applied with 2 items open or disputed."
    who = applied.tables["decisions"].filter(id="r002").select("who", "value", "guideline").rows()
    assert who == [(name, "remove", review.task.guideline_hash()) for name in ("ana", "ben")]
    assert applied.tables["decisions"]["at"].null_count() == 0
    assert Dataset.open(tmp_path / "out").records.equals(applied.records)


def test_the_same_decisions_write_the_same_bytes(tmp_path: Path) -> None:
    dataset().write(tmp_path / "data")
    review = review_create(
        tmp_path / "data", tmp_path / "review", sample=5, people=["ana"], per_item=1
    )
    while (item := review.next_item("ana")) is not None:
        review.decide("ana", item.id, "mixed", key=key())
    for name in ("one", "two"):
        review_apply(review, tmp_path / name)
    files = [
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "two")
    ]
    assert files[0] == files[1]


def test_doubtful_records_come_back_or_are_dropped(tmp_path: Path) -> None:
    made = dataset()
    made.tables["doubtful"] = made.records.head(3).with_columns(
        pl.lit("language").alias("step"), pl.lit("looks Danish").alias("reason")
    )
    made.records = made.records.slice(3)
    review = review_create(
        made, tmp_path / "review", task="keep", doubtful=True, people=["ana", "ben"]
    )
    decide(review, {"r000": "keep", "r001": "remove"})
    applied = review_apply(review, tmp_path / "out", made)
    assert applied.records.filter(pl.col("id").is_in(["r000", "r001"]))["id"].to_list() == ["r000"]
    assert applied.tables["doubtful"]["id"].to_list() == ["r002"]
    assert applied.tables["dropped"]["id"].to_list() == ["r001"]
    assert applied.lineage[-1].counts["returned"] == 1


def test_one_of_a_conflicting_pair_is_removed(tmp_path: Path) -> None:
    made = dataset()
    review = review_create(
        made, tmp_path / "review", task="conflict", pairs="conflicts", people=["ana", "ben"]
    )
    decide(review, {"r000": "first"})
    applied = review_apply(review, tmp_path / "out", made)
    assert {"r000", "r003"} & set(applied.records["id"]) == {"r000"}
    votes = applied.tables["annotations"].filter(pl.col("question") == "conflict")
    assert {json.loads(meta)["other_id"] for meta in votes["meta"].to_list()} == {"r003"}


def test_the_audit_reads_what_was_reviewed(tmp_path: Path) -> None:
    """Feasibility votes become a measured finding, with the reviewers' agreement."""
    made = dataset()
    assert cl.audit(made, checks=["feasibility"]).findings[0].verdict == "not-measured"
    review = review_create(made, tmp_path / "review", task="feasibility", people=["ana", "ben"])
    for n, who in enumerate(("ana", "ben")):
        for item in review.queue(who):
            sure = int(item.id) % 4 != 0 or n == 1  # every fourth is a tie
            review.decide(who, item.id, "feasible" if sure else "not feasible", key=key())
    assert review.agreement().bounds == pytest.approx(
        {"items": 60, "lower": 0.75, "average": 0.875, "upper": 1.0}
    )
    finding = cl.audit(
        review_apply(review, tmp_path / "out", made), checks=["feasibility"]
    ).findings[0]
    assert finding.score == pytest.approx(0.875)
    assert finding.details["agreement"]["agreement"] == pytest.approx(0.75)


def test_a_planted_defect_is_gone_after_its_review(tmp_path: Path) -> None:
    defects, _ = planted(size=240)
    defects.write(tmp_path / "data")
    before = cl.audit(tmp_path / "data", checks=["near-duplicates"], output=tmp_path / "audit")
    assert "fail" in {f.verdict for f in before.findings}
    review = review_create(
        tmp_path / "data",
        tmp_path / "review",
        task="duplicate",
        pairs="near-duplicates",
        people=["ana", "ben"],
    )
    for who in ("ana", "ben"):
        for item in review.queue(who):
            review.decide(who, item.id, "same", key=key())
    review_apply(review, tmp_path / "out")
    after = cl.audit(tmp_path / "out", checks=["near-duplicates"])
    assert {f.verdict for f in after.findings} == {"pass"}


def test_a_final_decision_speaks_for_all_and_a_model_is_marked(tmp_path: Path) -> None:
    made = dataset()
    review = review_create(
        made,
        tmp_path / "review",
        task="rationale",
        records=["r000"],
        people=["ana", "ben"],
        adjudication="third",
    )
    review.add_person("ola", "owner")
    review.add_person("gpt", "model")
    for who, answer in {"ana": "wrong", "ben": "open", "gpt": "not wrong"}.items():
        review.decide(who, "1", answer, key=key(), comment=f"{who} says so")
    review.adjudicate("ola", "1", "wrong", key=key())
    table = (
        review_apply(review, tmp_path / "out", made)
        .tables["annotations"]
        .select("annotator", "annotator_kind", "value", "rationale")
    )
    assert table.rows() == [
        ("ana", "human", "wrong", "ana says so"),
        ("ben", "human", "open", "ben says so"),
        ("gpt", "model", "not wrong", "gpt says so"),
        ("resolution", "human", "wrong", None),
    ]


def test_discarded_batches_are_dropped_and_returned_ones_are_doubtful(tmp_path: Path) -> None:
    made = dataset(60)
    review = review_create(
        made, tmp_path / "review", batch=20, inspect=0.5, people=["ana"], per_item=1, task="keep"
    )
    for item in review.queue("ana"):
        batch = review.about()[item.id].batch
        wrong = (batch == 2 and int(item.id) % 5 == 0) or batch == 3
        review.decide("ana", item.id, "remove" if wrong else "keep", key=key())
    assert review.batches().table["state"].to_list() == ["accepted", "returned", "discarded"]
    applied = review_apply(review, tmp_path / "out", made)
    assert applied.records["id"].to_list() == [f"r{n:03d}" for n in range(20)]
    assert (
        applied.tables["doubtful"].height == 18
    )  # two of the returned batch were removed one by one
    assert set(applied.tables["doubtful"]["reason"]) == {"keep: batch 2 returned"}


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    review = review_create(dataset(), tmp_path / "review", sample=3)
    with pytest.raises(DataError, match="not beside it"):
        review_apply(review, tmp_path / "out")
    with pytest.raises(DataError, match="not the dataset"):
        review_apply(review, tmp_path / "out", dataset(50))
    with pytest.raises(UsageError, match="inside the input"):
        review_apply(review, tmp_path / "review" / "out", dataset())


def test_a_review_in_which_nothing_is_decided_changes_nothing(tmp_path: Path) -> None:
    data = dataset()
    review = review_create(data, tmp_path / "review", sample=3, people=["ana", "ben"])
    with pytest.raises(DataError, match="Nothing is decided"):
        review_apply(review, tmp_path / "out", data)
    assert not (tmp_path / "out").exists()
    assert not review.agreement().measured
    assert "no item has two votes" in to_text(agreement_blocks(review.agreement()))
    assert to_text(status_blocks(review.progress())).split("\n\n")[1].splitlines() == [
        "Name  Role       Done",
        "ana   annotator  0 of 3",
        "ben   annotator  0 of 3",
    ]
