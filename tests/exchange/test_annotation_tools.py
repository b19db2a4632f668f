"""Exports of annotation tools, made here in the layout of each: several annotators are read as
annotators, and what they chose under the name of the question.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimlab.core.types import JsonObject
from claimlab.exchange.importer import import_files

N = 24
TEXTS = [f"The council of town {i} bought {i + 2} buses for the school" for i in range(N)]
PEOPLE = ("ana", "ben", "eva")


def vote(item: int, person: int) -> str:
    """Two of three always agree."""
    return ("fake", "real")[(item + (person == 2 and item % 3 == 0)) % 2]


def label_studio(item: int) -> list[JsonObject]:
    choices = [
        {
            "completed_by": {"id": person, "email": f"{name}@x.example"},
            "was_cancelled": False,
            "result": [
                {
                    "from_name": "veracity",
                    "type": "choices",
                    "value": {"choices": [vote(item, person)]},
                }
            ],
        }
        for person, name in enumerate(PEOPLE)
    ]
    cancelled = {"completed_by": 9, "was_cancelled": True, "result": []}
    return [{"id": item, "data": {"text": TEXTS[item]}, "annotations": [*choices, cancelled]}]


def argilla(item: int) -> list[JsonObject]:
    responses = [
        {
            "user_id": name,
            "status": "submitted",
            "values": {"veracity": {"value": vote(item, person)}},
        }
        for person, name in enumerate(PEOPLE)
    ]
    return [{"id": str(item), "fields": {"text": TEXTS[item]}, "responses": responses}]


def prodigy(item: int) -> list[JsonObject]:
    options = [{"id": "fake", "text": "Fake"}, {"id": "real", "text": "Real"}]
    return [
        {
            "text": TEXTS[item], "_task_hash": item, "options": options, "accept": [vote(item, person)],
            "answer": "accept", "_annotator_id": name,
        }
        for person, name in enumerate(PEOPLE)
    ]  # fmt: skip


def potato(item: int) -> list[JsonObject]:
    return [
        {
            "user_id": name, "instance_id": f"i{item}", "displayed_text": TEXTS[item],
            "label_annotations": {"veracity": {vote(item, person): "1"}},
        }
        for person, name in enumerate(PEOPLE)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("Label Studio", label_studio),
        ("Argilla", argilla),
        ("Prodigy", prodigy),
        ("Potato", potato),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_several_annotators_are_read_as_such(name: str, rows: object, tmp_path: Path) -> None:
    items = [row for item in range(N) for row in rows(item)]  # type: ignore[operator]
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    dataset, report = import_files(file)
    assert dataset["text"].to_list() == TEXTS
    assert dataset["label_raw"].to_list() == [vote(item, 0) for item in range(N)]
    assert dataset.tables["annotations"].height == 3 * N
    assert any(f"export of {name}" in note for note in report.notes)
    assert "72 rows: one for each annotator" in report.understood[0]


def test_documents_of_inception_have_their_text_and_layer(tmp_path: Path) -> None:
    for i, text in enumerate(TEXTS):
        structures = [
            {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": text},
            {"%ID": 2, "%TYPE": "webanno.custom.Verdict", "verdict": ("fake", "real")[i % 2]},
        ]
        words = json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": {}})
        (tmp_path / f"doc{i:02}.json").write_text(words, encoding="utf-8")
    dataset, report = import_files(tmp_path)
    assert sorted(dataset["text"]) == sorted(TEXTS)
    assert report.labels == {"false": N // 2, "true": N // 2}


def test_files_of_one_annotator_each_are_offered_as_annotators(tmp_path: Path) -> None:
    """As doccano writes them: a file for each user, each label in a list."""
    for person, name in enumerate(PEOPLE):
        rows = [{"id": i, "text": text, "label": [vote(i, person)]} for i, text in enumerate(TEXTS)]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(Exception, match="rater='from_file'"):
        import_files(tmp_path)
    dataset, report = import_files(tmp_path, rater="from_file")
    assert dataset["text"].to_list() == TEXTS
    assert report.labels == {"false": N // 2, "true": N // 2}


def test_fields_of_the_same_names_are_left_as_they_are(tmp_path: Path) -> None:
    rows = [
        {"text": text, "answer": "yes", "accept": "no", "verdict": ("fake", "real")[i % 2]}
        for i, text in enumerate(TEXTS)
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    dataset, _ = import_files(file)
    assert dataset["label_raw"].to_list() == ["fake", "real"] * (N // 2)
