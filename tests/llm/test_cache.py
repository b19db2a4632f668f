"""Recording and replaying: the same bytes, no network, no cost; a miss names the call; a killed run
pays for nothing twice.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from parts import forked
from parts.standin import StandIn

from claimlab.core.budget import Budget
from claimlab.core.errors import ReplayMiss
from claimlab.llm.asking import Tally
from claimlab.llm.layers import question
from claimlab.llm.messages import Message, Request


def dumped(answers: dict[int, Any]) -> str:
    return json.dumps([answers[i].record() for i in sorted(answers)])


def test_a_replay_gives_the_same_bytes_without_a_server_a_key_or_a_cent(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict[str, Any]) -> str:
        number = int(body["messages"][0]["content"].split()[1])
        if number % 5 == 1 and len(body["messages"]) == 1:
            return "not JSON"  # asked once more, then right
        return (
            "I cannot help with that."
            if number % 5 == 2
            else json.dumps({"answer": f"reply {number}"})
        )

    monkeypatch.setenv("SOME_KEY", "k")
    settings = {"key_variable": "SOME_KEY"}
    with StandIn(answer=answer) as server:
        live = lab.ask_all(lab.open(server, settings=settings), lab.questions(40))
        asked = server.requests
    monkeypatch.delenv("SOME_KEY")
    budget = Budget(calls=0)  # not one call may be made
    replayed = lab.ask_all(
        lab.open(server, settings=settings, mode="replay", budget=budget), lab.questions(40)
    )
    assert dumped(live) == dumped(replayed)
    assert server.requests == asked
    tallies = Tally(), Tally()
    for tally, answers in zip(tallies, (live, replayed), strict=True):
        for found in answers.values():
            tally.add(found)
    assert tallies[0].summary()["cost"] == tallies[1].summary()["cost"] > 0, (
        "what it cost then is still told"
    )
    assert tallies[0].summary()["spent"] > tallies[1].summary()["spent"] == 0
    assert tallies[1].summary()["failures"] == {"refusal": 8}


def test_a_replay_does_not_need_the_sdk(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn() as server:
        lab.ask(lab.open(server))
    monkeypatch.setitem(sys.modules, "openai", None)  # importing it now fails
    assert lab.ask(lab.open("http://127.0.0.1:9/v1", mode="replay")).ok


def test_a_miss_in_replay_names_the_call(lab: Any) -> None:
    with StandIn() as server:
        lab.ask(lab.open(server), "asked before")
    with pytest.raises(ReplayMiss, match=r"record-7: “never asked”.*attempt 2") as caught:
        lab.ask(lab.open(server, mode="replay"), "never asked", tag="record-7", attempt=2)
    assert "mode 'record'" in caught.value.todo


def test_transient_failures_are_not_remembered(lab: Any) -> None:
    with StandIn(fault=lab.faulty("500", lab.quick.faults + 1)) as server:
        assert lab.ask(lab.open(server)).failure == "http-500"
        assert lab.ask(lab.open(server)).ok


def test_live_mode_neither_reads_nor_writes(lab: Any) -> None:
    with StandIn() as server:
        for _ in range(2):
            lab.ask(lab.open(server, mode="live"))
    assert server.requests == 2
    assert not lab.cache.exists()


def test_the_same_question_asked_at_once_is_paid_for_once(lab: Any) -> None:
    with StandIn(latency=0.05) as server:
        done = lab.ask_all(lab.open(server), lab.questions(1) * 20)
    assert len(done) == 20
    assert server.requests == 1


def test_the_key_holds_what_shapes_the_reply_and_nothing_volatile(lab: Any) -> None:
    base = Request.of("q", schema=lab.Word)
    profile = lab.profile("https://one.example/v1")
    key = question(base, profile).key
    same = [
        (Request.of("q", schema=lab.Word, timeout=3.0, tag="t"), profile),
        (Request.of("q", schema=lab.Word, temperature=0), profile),
        (base, lab.profile("https://two.example/v1", name="other", timeout=5.0, key_variable="K")),
    ]
    other = [
        (Request.of("Q", schema=lab.Word), profile),
        (Request.of("q"), profile),
        (Request.of("q", schema=lab.Word, temperature=0.5), profile),
        (Request.of("q", schema=lab.Word, max_tokens=9), profile),
        (Request.of("q", schema=lab.Word, seed=1), profile),
        (Request.of("q", schema=lab.Word, attempt=1), profile),
        (Request((Message("system", "q"),), schema=lab.Word), profile),
        (base, profile.with_model("m2")),
        (base, lab.profile("https://one.example/v1", schema_bound=True)),
        (base, lab.profile("https://one.example/v1", parameters={"reasoning_effort": "low"})),
    ]
    assert {question(*pair).key for pair in same} == {key}
    keys = [question(*pair).key for pair in other]
    assert len({key, *keys}) == len(other) + 1


def test_no_key_lies_in_the_file(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret-value")
    with StandIn() as server:
        lab.ask(lab.open(server, settings={"key_variable": "SOME_KEY"}))
    assert server.last_headers["authorization"] == "Bearer sk-very-secret-value"
    for file in lab.cache.iterdir():
        assert b"sk-very-secret" not in file.read_bytes()


RUN = """
import asyncio, sys
from pathlib import Path
from claimlab.llm.asking import gather
from claimlab.llm.messages import Request
from claimlab.core.calls.calls import Calls
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile

async def main(url, cache):
    provider = open_provider(Profile(name="p", base_url=url, model="m"), calls=Calls(cache=Path(cache)))
    requests = (Request.of(f"question {i}", max_tokens=9) for i in range(250))
    async for index, answer in gather(provider, requests, concurrency=16):
        assert answer.ok, answer
        print(index, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_without_repeating_a_paid_call(lab: Any) -> None:
    with StandIn(latency=0.02) as server:
        command = [sys.executable, "-c", RUN, server.url, str(lab.cache)]
        first = forked.Popen(command, stdout=subprocess.PIPE, text=True)
        assert first.stdout is not None
        delivered = {int(first.stdout.readline()) for _ in range(80)}
        os.kill(first.pid, signal.SIGKILL)
        delivered |= {int(line) for line in first.stdout}  # what it had printed before it died
        first.wait()
        time.sleep(0.1)
        before = dict(server.seen)
        assert 80 <= len(delivered) < 250
        second = forked.run(command, capture_output=True, text=True, check=True)
    assert sorted(int(line) for line in second.stdout.split()) == list(range(250))
    repeated = [key for key, n in server.seen.items() if n > 1]
    assert len(repeated) <= 16, (
        "only calls under way at the kill, whose replies never arrived, may be made again"
    )
    assert server.requests == 250 + len(repeated)
    again = [key for key in before if server.seen[key] == before[key]]
    assert len(again) >= len(delivered), "what was delivered was recorded"
