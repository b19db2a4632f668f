"""A model's suggestion at import, from a scripted endpoint: checked against the data, shown with its
reason, and asked all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parts.standin import Body, StandIn

from claimlab.core.errors import ClaimlabError, Question
from claimlab.exchange.importer import import_files
from claimlab.llm.profiles import Profile

TEXTS = [
    f"The council of the town bought {i + 2} buses, said mayor{i}@town.example" for i in range(40)
]
README = "# Posts\n\nEvery post was read by two people. A flagged post was found to be wrong.\n"
RIGHT = {
    "text": "post", "label": "flag", "about": "veracity", "meanings": {"True": "false", "False": "true"},
    "reason": "The README says that a flagged post is wrong.", "quote": "A flagged post was found to be wrong.",
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    place = tmp_path / "d"
    place.mkdir()
    rows = [f'"{text}",{i % 4 == 0}' for i, text in enumerate(TEXTS)]
    (place / "posts.csv").write_text("\n".join(["post,flag", *rows]), encoding="utf-8")
    (place / "README.md").write_text(README, encoding="utf-8")
    return place


def asked_with(
    data: Path, said: Callable[[Body], str], **options: Any
) -> tuple[ClaimlabError, list[Body]]:
    seen: list[Body] = []

    def answer(body: Body) -> str:
        seen.append(body)
        return said(body)

    with StandIn(answer) as server:
        profile = Profile(name="stand-in", base_url=server.url, model="m", timeout=10.0)
        with pytest.raises(ClaimlabError) as asked:
            import_files(data, ask_model=profile, **options)
    return asked.value, seen


def test_a_suggestion_comes_first_with_its_reason_and_is_asked_all_the_same(data: Path) -> None:
    question, seen = asked_with(data, lambda _: json.dumps(RIGHT), label="flag")
    first = question.choices[0]
    assert (first.argument, set(str(first.value).split(","))) == (
        "map",
        {"True=false", "False=true"},
    )
    assert "suggested by the model 'm'" in first.words
    assert "The README says that a flagged post is wrong." in first.words
    assert isinstance(question, Question)
    assert question.about_meaning, "--yes never takes it"
    assert len(question.choices) > 2, "the other answers are still there"
    [body] = seen
    words = json.dumps(body)
    assert "A flagged post was found" in words
    assert not re.search(r"mayor\d+@", words), "personal data is masked"
    assert words.count("[email]") >= 10
    dataset, _ = import_files(data, label="flag", map=str(first.value))
    assert dataset["veracity"].to_list() == ["false", "true", "true", "true"] * 10


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"label": "verdict"}, "there is no column 'verdict'"),
        ({"meanings": {"True": "false", "maybe": "true"}}, "'flag' holds no 'maybe'"),
        ({"meanings": {"True": "false"}}, "does not say what every value means"),
        ({"quote": "Flagged posts are lies."}, "does not have the words that it quotes"),
        ({"about": "stance"}, "the task 'stance' does not read these values"),
    ],
)
def test_a_suggestion_that_the_data_contradict_is_left_out(
    wrong: dict[str, Any], why: str, data: Path
) -> None:
    plain, _ = asked_with(data, lambda _: "{", label="flag")
    question, _ = asked_with(data, lambda _: json.dumps({**RIGHT, **wrong}), label="flag")
    assert why in question.problem
    assert not any("suggested" in choice.words for choice in question.choices)
    assert list(question.choices) == list(plain.choices)
    assert "gave no usable answer" in plain.problem, "a failure is said"


def test_a_model_that_is_not_there_is_said_and_the_question_is_asked(data: Path) -> None:
    profile = Profile(name="gone", base_url="http://127.0.0.1:9/v1", model="m", timeout=2.0)
    with pytest.raises(Question, match="gave no usable answer"):
        import_files(data, label="flag", ask_model=profile)


def test_a_model_is_not_asked_where_nothing_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [
        f"{text},{('true', 'pants on fire', 'half true')[i % 3]}" for i, text in enumerate(TEXTS)
    ]
    path.write_text("\n".join(["claim,verdict", *(row.replace('"', "") for row in rows)]).replace(", said", " said"), encoding="utf-8")  # fmt: skip
    profile = Profile(name="gone", base_url="http://127.0.0.1:9/v1", model="m", timeout=2.0)
    _, report = import_files(path, ask_model=profile)
    assert report.labels
