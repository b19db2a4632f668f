"""Every task reads what its datasets hold, from made-up rows in their layouts and from the real
files.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.tasks import TASKS, own_task


def records(**columns: list[str | None]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    return Dataset.build(
        "made-up", pl.DataFrame({"id": [str(i) for i in range(n)], **columns})
    ).records


def read(task: str, rows: pl.DataFrame) -> list[str | None]:
    return TASKS.get(task).labels(rows).to_list()


@pytest.mark.parametrize("name", TASKS.names())
def test_every_task_says_what_its_classes_mean(name: str) -> None:
    task = TASKS.get(name)
    assert task.name == name
    assert len(task.classes) > 1
    assert set(task.meaning) == set(task.classes)
    assert task.positive is None or (task.positive in task.classes and len(task.classes) == 2)
    empty = records(text=["nothing is known of this one"])
    assert read(name, empty) == [None], "a record without a label is no part of the task"


def test_six_levels_in_every_spelling() -> None:
    raw = [
        "pants-fire",
        "Pants on Fire!",
        "FALSE",
        "barely-true",
        "Mostly False",
        "half-true",
        "mostly_true",
        "True",
    ]
    told = [
        "pants-fire",
        "pants-fire",
        "false",
        "barely-true",
        "barely-true",
        "half-true",
        "mostly-true",
        "true",
    ]
    assert read("veracity-six", records(label_raw=[*raw, "satire", None])) == [*told, None, None]


def test_bluff_tasks_by_verdict_and_author() -> None:
    verdicts = ["true", "false", "true", "false", "true", "false", "mixed", None, "true"]
    authors = ["HWT", "HWT", "MGT", "MGT", "MTT", "HAT", "HWT", "MGT", None]
    rows = records(veracity=verdicts, authorship=authors)
    assert read("bluff-1", rows) == [
        "real",
        "fake",
        "real",
        "fake",
        "real",
        "fake",
        None,
        None,
        "real",
    ]
    two = ["real-HWT", "fake-HWT", "real-MGT", "fake-MGT"]
    assert read("bluff-2", rows) == [*two, None, None, None, None, None]
    assert read("bluff-2-eight", rows) == [*two, "real-MTT", "fake-HAT", None, None, None]
    assert len(TASKS.get("bluff-2").classes) == 4
    assert len(TASKS.get("bluff-2-eight").classes) == 8
    h, m = "human", "machine"
    assert read("bluff-3", rows) == [h, h, m, m, None, None, h, m, None]
    assert read("bluff-3-any", rows) == [h, h, m, m, m, m, h, m, None]
    assert read("bluff-4", rows) == authors


def test_numbers_are_claims_only_where_no_verdict_stands() -> None:
    rows = records(
        label_raw=["1", "0", "claim", "Non-claim", "True", "1", "claim", "maybe"],
        veracity=[None, None, None, None, None, "false", "true", None],
    )
    assert read("claim-detection", rows) == [
        "claim",
        "non-claim",
        "claim",
        "non-claim",
        "claim",
        None,
        "claim",
        None,
    ]


def test_stance_from_meta_or_from_a_label_that_is_no_verdict() -> None:
    label = ["agree", "Against", "comment", "unrelated", "supports", "query"]
    verdict = [None, None, None, None, "true", None]
    assert read("stance", records(label_raw=label, veracity=verdict)) == [
        "agree", "disagree", "discuss", "unrelated", None, None,
    ]  # fmt: skip
    meta = [json.dumps({"stance": "deny"}), None]
    rows = records(label_raw=["true", "agree"], veracity=["true", None], meta=meta)
    assert read("stance", rows) == ["disagree", "agree"]


COUNTS = {
    ("liar", "veracity-six"): {"half-true": 2638, "false": 2511, "mostly-true": 2466, "barely-true": 2108, "true": 2063, "pants-fire": 1050},
    ("afacta", "claim-detection"): {"claim": 1675, "non-claim": 1094},
    ("fnc-1", "stance"): {"unrelated": 18349, "discuss": 4464, "agree": 1903, "disagree": 697},
    ("f3", "bluff-1"): {"real": 7378, "fake": 5973},
    ("f3", "bluff-2"): {"real-HWT": 6413, "fake-HWT": 4402, "fake-MGT": 1571, "real-MGT": 965},
    ("f3", "bluff-3"): {"human": 10815, "machine": 2536},
    ("f3", "bluff-3-any"): {"human": 10815, "machine": 2536},
    ("f3", "bluff-4"): {"HWT": 10815, "MGT": 2536},
}  # fmt: skip


@pytest.mark.realdata
@pytest.mark.parametrize("name", sorted({name for name, _ in COUNTS}))
def test_tasks_on_the_real_files(name: str, real_data: Path) -> None:
    rows = cl.load(name, real_data / f"{name}.zip").records
    for (dataset, task), counts in COUNTS.items():
        if dataset == name:
            found = TASKS.get(task).labels(rows).drop_nulls().value_counts()
            assert dict(found.iter_rows()) == counts


@pytest.mark.realdata
def test_seeds_against_non_claims(real_data: Path) -> None:
    rows = cl.load("evolved-claims", real_data / "evolved-claims.zip", variant="detection").records
    found = TASKS.get("claim-detection").labels(rows).value_counts()
    assert dict(found.iter_rows()) == {"claim": 4900, "non-claim": 4800}


def test_minus_one_of_claimbuster_is_not_worth_checking() -> None:
    rows = records(label_raw=["-1", "0", "1", "Yes", "No", None])
    worth, other = "worth-checking", "not-worth-checking"
    assert read("check-worthiness", rows) == [other, other, worth, worth, other, None]


def test_labels_that_are_not_about_truth_are_read_by_their_own_tasks() -> None:
    assert read("subjectivity", records(label_raw=["OBJ", "SUBJ", "Uncertain"])) == [
        "objective",
        "subjective",
        None,
    ]
    answers = ["True", "false", "partially supported", "not supported", "not_enough_evidence"]
    expected = ["factual", "not-factual", None, None, None]
    assert read("claim-factuality", records(label_raw=answers)) == expected
    verdicts = records(label_raw=["true"], veracity=["true"])
    assert read("claim-factuality", verdicts) == [None], "a verdict is about truth"
    views = ["MISINFORMED_OR_POTENTIALLY_MISLEADING", "NOT_MISLEADING"]
    assert read("misleading-post", records(label_raw=views)) == ["misleading", "not-misleading"]
    stances = ["Supports", "Refutes", "Neutral"]
    assert read("stance", records(label_raw=stances)) == ["agree", "disagree", "discuss"]


def test_a_dataset_of_another_task_is_taken_by_it_where_none_is_named(tmp_path: Path) -> None:
    """From import to evaluation; veracity, where it is named, is still veracity."""
    words = {"SUBJ": "I feel that this is awful", "OBJ": "The report was read on Monday"}
    rows = [
        {"sentence": f"{words[label]}, as case {i} of {i * 37 % 101} shows", "label": label}
        for i in range(60)
        for label in words
    ]
    data, report = cl.import_files(rows, tmp_path / "data", text="sentence")
    assert report.task == "subjectivity"
    audited = cl.audit(data, checks=["one-class", "length"])
    assert (audited.target, audited.labelled) == ("subjectivity", 120)
    assert cl.audit(data, checks=["length"], target="veracity").labelled == 0
    split = cl.split(data, output=tmp_path / "split").dataset
    run = cl.detect(split, "tfidf", output=tmp_path / "run")
    assert run.lineage[-1].parameters["task"] == "subjectivity"
    [scored] = cl.evaluate(tmp_path / "run").runs
    assert scored.task == "subjectivity"
    masked = cl.clean(split, mask="giveaways").dataset
    assert not masked.records["text"].str.contains("awful").any()
    other = Dataset.build("other", data.records)
    other.lineage = data.lineage
    assert own_task(cl.merge([data, other])) == "subjectivity"
    cl.export(split, "inspect", tmp_path / "inspect")
    asked = (tmp_path / "inspect" / "samples.jsonl").read_text(encoding="utf-8")
    assert "subjective" in asked
