"""`claimlab review` on the command line: people and tokens, JSON, and wrong arguments in one
sentence.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import segno
from parts.planted import planted

from claimlab.cli.app import run
from claimlab.review.review import Review


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=240)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["review", *words, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_annotators_get_tokens_that_are_shown_once(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    created = told(
        capsys,
        "create",
        "data",
        "-o",
        "r",
        "--sample",
        "6",
        "--annotator",
        "ana",
        "--annotator",
        "ben",
        "--seed",
        "1",
    )
    assert created["items"] == 6
    assert set(created["tokens"]) == set(created["links"]) == {"ana", "ben"}
    owner = told(capsys, "person", "r", "ola", "--role", "owner")
    assert owner["role"] == "owner"
    assert told(capsys, "person", "r", "ola", "--new-token")["token"] != owner["token"]
    status = told(capsys, "status", "r")
    assert [(p["name"], p["assigned"]) for p in status["people"]] == [
        ("ana", 6),
        ("ben", 6),
        ("ola", 0),
    ]
    assert status["items"] == {"open": 6}
    assert told(capsys, "agreement", "r")["rows"][0]["items"] == 0
    for file in (place / "r").iterdir():
        assert owner["token"].encode() not in file.read_bytes()


def test_links_that_sign_in_are_printed_when_a_review_is_made(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", "create", "data", "-o", "r", "--sample", "6", "--annotator", "ana"]) == 0
    printed = capsys.readouterr().out
    token = re.findall(r"  ana  http://127.0.0.1:8765/reviews/r/sign-in#token=(\S+)", printed)[0]
    person = Review.open(place / "r").person_of(token)
    assert person is not None
    assert person.name == "ana"


def test_a_link_for_a_telephone_is_shown_as_a_qr_code_in_a_terminal(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "create", "data", "-o", "r", "--sample", "6")
    elsewhere = ("--address", "http://192.0.2.7:8765/")
    assert run(["review", "person", "r", "ana", "--address", "192.0.2.7"]) == 2
    assert "not look like a web address" in capsys.readouterr().err
    added = told(capsys, "person", "r", "ana", *elsewhere)
    link = f"http://192.0.2.7:8765/reviews/r/sign-in#token={added['token']}"
    assert added["link"] == link

    def printed(*arguments: str) -> str:
        assert run(["review", "person", "r", *arguments]) == 0
        return capsys.readouterr().out

    assert "\u2580" not in printed("ben", *elsewhere), "a log has no use for it"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\u2580" not in printed("cyn"), "nothing but this machine reaches the default address"
    drawing = printed("dov", *elsewhere).partition("#token=")[2].splitlines()[1:]
    modules = segno.make(link).symbol_size(border=4)[0]
    assert len(drawing) == (modules + 1) // 2, "two rows of modules a line"


def test_tasks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    names = [task["name"] for task in told(capsys, "tasks")["tasks"]]
    assert {
        "label",
        "keep",
        "feasibility",
        "rationale",
        "conflict",
        "rating",
        "spans",
        "note",
    } <= set(names)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("create data -o r --task labels", 2, "Did you mean 'label'"),
        ("create data -o r --set stratify=topic", 2, "Pass --sample too"),
        (
            "create data -o r --doubtful --pairs conflicts",
            2,
            "--doubtful and --pairs both choose records",
        ),
        ("create data -o r --finding length", 2, "Pass --audit (its folder) and --finding"),
        ("create data -o r --set store=mysql://u:secret@h/d", 2, "'mysql://u@h/d' is not a store"),
        ("create none -o r", 1, "There is no folder 'none'"),
        ("status data", 1, "'data' is not a review"),
        ("apply data -o out", 1, "'data' is not a review"),
        ("import data votes.csv", 1, "'data' is not a review"),
    ],
)
@pytest.mark.usefixtures("place")
def test_wrong_arguments_are_sentences(
    words: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["review", *words.split()]) == code
    printed = capsys.readouterr().err
    assert message in " ".join(printed.split())
    assert "Traceback" not in printed
    assert "secret" not in printed
