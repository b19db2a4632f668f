"""The recording: first answers stay, failures are replaced, the same question at once is asked
once.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from claimlab.core.calls.recording import CallQuestion, CallReply, Recording
from claimlab.core.errors import ReplayMiss, SchemaError, UnreadableFile

QUESTION = CallQuestion("brave", {"text": "ß and \ud800", "n": 3}, label="a claim")


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path / "calls.sqlite")


def test_the_first_answer_stays(recording: Recording) -> None:
    assert recording.put(QUESTION, CallReply({"n": 1})) == {"n": 1}
    assert recording.put(QUESTION, CallReply({"n": 2})) == {"n": 1}
    assert recording.put(QUESTION, CallReply("failed", final=False)) == {"n": 1}


def test_a_failure_gives_way_to_whatever_comes_next(recording: Recording) -> None:
    recording.put(QUESTION, CallReply("first", final=False))
    assert recording.put(QUESTION, CallReply("second", final=False)) == "second"
    assert recording.put(QUESTION, CallReply("answer")) == "answer"


def test_the_label_is_not_part_of_the_question(recording: Recording) -> None:
    recording.put(QUESTION, CallReply(1))
    assert recording.require(CallQuestion(QUESTION.kind, QUESTION.content)) == 1
    assert recording.get(CallQuestion("exa", QUESTION.content)) is None


def test_the_same_question_at_once_is_asked_once(recording: Recording) -> None:
    asked: list[str] = []

    async def ask() -> CallReply:
        asked.append("x")
        await asyncio.sleep(0.02)
        return CallReply({"n": len(asked)})

    async def both() -> list[tuple[object, bool]]:
        return list(await asyncio.gather(*(recording.answer(QUESTION, ask) for _ in range(5))))

    answers = asyncio.run(both())
    assert len(asked) == 1
    assert {str(answer) for answer, _ in answers} == {"{'n': 1}"}
    assert [recorded for _, recorded in answers].count(False) == 1


def test_recording_again_asks_again_where_a_failure_was_recorded(recording: Recording) -> None:
    async def fails() -> CallReply:
        return CallReply("timeout", final=False)

    async def answers() -> CallReply:
        return CallReply("yes")

    assert asyncio.run(recording.answer(QUESTION, fails)) == ("timeout", False)
    assert asyncio.run(recording.answer(QUESTION, answers)) == ("yes", False)
    assert asyncio.run(recording.answer(QUESTION, fails)) == ("yes", True)


def test_what_is_not_to_be_kept_is_not(recording: Recording) -> None:
    async def nothing() -> None:
        return None

    assert asyncio.run(recording.answer(QUESTION, nothing)) == (None, False)
    assert len(recording) == 0


def test_a_replay_never_asks_and_names_what_is_missing(recording: Recording) -> None:
    async def ask() -> CallReply:
        raise AssertionError("a replay asked")

    recording.put(QUESTION, CallReply("timeout", final=False))
    replay = Recording(recording.path, replay=True)
    assert asyncio.run(replay.answer(QUESTION, ask)) == ("timeout", True)
    with pytest.raises(ReplayMiss, match="exa to a claim"):
        asyncio.run(replay.answer(CallQuestion("exa", {}, label="a claim"), ask))


def test_two_processes_share_a_file(recording: Recording) -> None:
    script = """
import sys
from claimlab.core.calls.recording import CallQuestion, CallReply, Recording
recording = Recording(sys.argv[1])
for n in range(100):
    recording.put(CallQuestion("k", {"n": n}), CallReply(sys.argv[2]))
"""
    command = [sys.executable, "-c", script, str(recording.path)]
    processes = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [p.wait(60) for p in processes] == [0, 0]
    assert recording.counts() == {"k": 100}


def test_another_layout_or_another_file_is_refused(tmp_path: Path) -> None:
    for version, whose in ((1, "claimlab 0.1"), (99, "a newer claimlab")):
        path = tmp_path / f"{version}.sqlite"
        with sqlite3.connect(path) as database:
            database.execute(f"PRAGMA user_version={version}")
        with pytest.raises(SchemaError, match=whose):
            Recording(path)
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 40)
    with pytest.raises(UnreadableFile, match="cannot be used as a recording"):
        Recording(tmp_path / "text")
