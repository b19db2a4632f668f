"""A review as files and back, without loss and without doubling."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.review.files import review_export, review_import
from claimlab.review.review import Review

from .made import key, review, task

ANSWERS: dict[str, list[Any]] = {
    "binary": ["yes", "no"],
    "ordinal": [0, 3, 10],
    "note": ["A note, with a comma", 'and "quotes"\nand lines'],
    "span": [[], [{"start": 0, "end": 4, "label": "yes"}, {"start": 5, "end": 11, "label": "no"}]],
}
TOOLS = ["csv", "jsonl", "label-studio", "potato", "doccano"]


def answered(folder: Path, kind: str = "binary") -> Review:
    """Two annotators with odd names and a model have answered everything, with comments."""
    made = review(folder, task(kind), people=["ana", "Bén, Jr."])
    made.add_person("gpt", "model")
    rng = random.Random(2)
    for who in ("ana", "Bén, Jr.", "gpt"):
        for n in range(1, 7):
            said = f"{who} on {n}: =1+1, ünïcode" if n % 2 else None
            made.decide(
                who, str(n), rng.choice(ANSWERS[kind]), key=key(), comment=said, seconds=n / 2
            )
    return made


def votes(made: Review) -> list[tuple[Any, ...]]:
    return sorted(
        ((b.item, b.name, json.dumps(b.value), b.comment) for b in made.ballots()), key=str
    )


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("to", TOOLS)
def test_what_is_exported_is_imported_again_and_nothing_doubles(
    tmp_path: Path, to: str, kind: str
) -> None:
    made = answered(tmp_path / "one", kind)
    review_export(made, tmp_path / "files", to)
    other = review(tmp_path / "two", task(kind), people=[])
    other.add_person("gpt", "model")
    first = review_import(other, tmp_path / "files")
    expected = votes(made)
    if to in (
        "potato",
        "doccano",
    ):  # these files do not say who is a model: its rows are refused, and counted
        expected = [vote for vote in expected if vote[1] != "gpt"]
        assert {row["annotator"] for row in first.refused} == {"gpt"}
    if (
        to == "doccano"
    ):  # which has no way to say that a text has no span: it looks like an item not worked on
        expected = [vote for vote in expected if vote[2] != "[]"]
    assert first.counts["new"] == len(expected)
    assert votes(other) == expected
    again = review_import(other, tmp_path / "files")
    assert (again.counts["new"], again.counts["known"]) == (0, len(expected))
    assert votes(other) == expected
    assert review_import(made, tmp_path / "files").counts["new"] == 0


def test_files_for_other_tools_hide_what_the_task_hides(tmp_path: Path) -> None:
    made = review(tmp_path / "r", gold={2: "yes"})
    for to in ("label-studio", "potato", "doccano", "html"):
        files = review_export(made, tmp_path / to, to)
        assert files
        for file in files:
            text = file.read_text(encoding="utf-8")
            assert "fake/" not in text
            assert '"false"' not in text
            assert "gold" not in text


def test_label_studios_own_export(tmp_path: Path) -> None:
    made = review(tmp_path / "r", people=[])
    result = [
        {
            "from_name": "answer",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": ["Yes"]},
            "id": "x",
        }
    ]
    rows = [
        {
            "id": 9, "data": {"text": "Text number 1.", "item": "1"}, "project": 3,
            "annotations": [
                {"id": 1, "completed_by": 7, "result": result, "was_cancelled": False, "lead_time": 4.2,
                 "created_at": "2026-01-02T03:04:05.600000Z"},
                {"id": 2, "completed_by": 8, "result": result, "was_cancelled": True},
                {"id": 3, "completed_by": {"email": "eva@example.org"}, "result": result},
            ],
            "predictions": [{"model_version": "m1", "result": result}],
        },
        {"id": 10, "data": {"item": "99"}, "annotations": [{"completed_by": 7, "result": result}]},
    ]  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps(rows), encoding="utf-8")
    found = review_import(made, tmp_path / "export.json")
    assert found.counts == {"new": 3, "known": 0, "older": 0, "refused": 1}
    assert found.refused[0]["why"] == "There is no item '99'."
    assert [(p.name, p.role) for p in made.people()] == [
        ("user 7", "annotator"), ("eva@example.org", "annotator"), ("m1", "model"),
    ]  # fmt: skip
    assert made.ballots()[0].seconds == 4.2


def test_potatos_and_doccanos_own_exports(tmp_path: Path) -> None:
    made = review(tmp_path / "r", people=[])
    state = {
        "user_id": "p1",
        "instance_id_to_label_to_value": {"1": {"answer": {"labels": {"No": True, "Yes": False}}}},
    }
    user = tmp_path / "annotation_output" / "p1"
    user.mkdir(parents=True)
    (user / "user_state.json").write_text(json.dumps(state), encoding="utf-8")
    line = {
        "id": "2",
        "displayed_text": "T",
        "label_annotations": {"answer": {"Yes": "true"}},
        "span_annotations": {},
    }
    (user / "annotated_instances.jsonl").write_text(
        json.dumps({**line, "user_id": "p1"}) + "\n", encoding="utf-8"
    )
    assert review_import(made, tmp_path / "annotation_output").counts["new"] == 2
    with zipfile.ZipFile(tmp_path / "doccano.zip", "w") as archive:
        archive.writestr(
            "eva.jsonl",
            json.dumps({"id": 4, "text": "T", "item": "3", "label": ["Yes"], "Comments": []}),
        )
        archive.writestr(
            "admin.jsonl", json.dumps({"id": 4, "text": "T", "item": "3", "label": []})
        )
    assert review_import(made, tmp_path / "doccano.zip").counts["new"] == 1
    assert [(b.name, b.item, b.value) for b in made.ballots()] == [
        ("p1", "1", "no"),
        ("p1", "2", "yes"),
        ("eva", "3", "yes"),
    ]


def test_the_later_decision_counts_and_the_other_is_kept(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    made.decide("ana", "1", "yes", key=key())
    rows = [
        {"item": "1", "annotator": "ana", "value": "no", "key": key(), "at": "2001-01-01T00:00:00"},
        {"item": "2", "annotator": "ana", "value": "no", "key": key(), "at": "2001-01-01T00:00:00"},
        {
            "item": "2",
            "annotator": "ana",
            "value": "yes",
            "key": key(),
            "at": "2002-01-01T00:00:00",
        },
    ]
    file = tmp_path / "d.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert review_import(made, file).counts == {"new": 2, "known": 0, "older": 1, "refused": 0}
    assert [(b.item, b.value) for b in made.ballots()] == [("1", "yes"), ("2", "yes")]
    assert made.item("2", "ana").status == "done"
    kinds = made.events()["kind"].to_list()
    assert kinds.count("import") == 3
    assert review_import(made, file).counts["known"] == 3


def test_files_that_hold_no_decisions_are_sentences(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    for name, text in {
        "a.json": "{",
        "b.json": "[1, 2]",
        "c.json": '[{"annotations": 3, "data": 4}]',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(DataError):
            review_import(made, tmp_path / name)
    with pytest.raises(DataError, match="no file"):
        review_import(made, tmp_path / "none.json")
    with pytest.raises(UnknownName, match="'excel' is not a choice of `to`"):
        review_export(made, tmp_path / "x", "excel")
    with pytest.raises(UnknownName, match="no person named 'eva'"):
        review_export(made, tmp_path / "x", people=["eva"])
    with pytest.raises(UsageError, match="no annotators yet"):
        review_export(review(tmp_path / "s", people=[]), tmp_path / "x", "html")


def test_an_offline_page_belongs_to_one_review(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    (page,) = review_export(made, tmp_path / "pages", "html", people=["ana"])
    text = page.read_text(encoding="utf-8")
    assert page.name == "ana.html"
    assert "http" not in text.replace("http-equiv", "")
    saved = {
        "review": made.project.schema_name, "annotator": "ana",
        "decisions": [{"key": key(), "item": "1", "value": "yes", "comment": None, "seconds": 1.5, "at": "2026-11-15T12:00:00.000Z"}],
    }  # fmt: skip
    (tmp_path / "ana.json").write_text(json.dumps(saved), encoding="utf-8")
    assert review_import(made, tmp_path / "ana.json").counts["new"] == 1
    assert review_import(made, tmp_path / "ana.json").counts["known"] == 1
    (tmp_path / "other.json").write_text(
        json.dumps({**saved, "review": "review_0"}), encoding="utf-8"
    )
    with pytest.raises(DataError, match="another review"):
        review_import(made, tmp_path / "other.json")
