"""Against a real socket with planted faults: nothing is lost, failures are named, and refusals are
left alone.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from parts.standin import StandIn

from claimlab.core.errors import EndpointRefused
from claimlab.llm.asking import Tally

PASSING = ["429", "500", "503", "cut", "html", "empty", "truncated", "no-choices"]


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_is_tried_again(fault: str, lab: Any) -> None:
    with StandIn(fault=lab.faulty(fault, 2)) as server:
        answer = lab.ask(lab.open(server))
    assert answer.ok
    assert answer.calls == 3
    assert server.requests == 3


@pytest.mark.parametrize(
    ("fault", "failure"),
    [("500", "http-500"), ("429", "http-429"), ("cut", "connection"), ("html", "bad-response")],
)
def test_a_lasting_fault_is_named_and_bounded(fault: str, failure: str, lab: Any) -> None:
    with StandIn(fault=lab.faulty(fault), retry_after="0.01") as server:
        answer = lab.ask(lab.open(server))
    assert (answer.value, answer.failure, answer.transient) == (None, failure, True)
    assert server.requests == 1 + (lab.quick.too_many if fault == "429" else lab.quick.faults)


def test_a_hanging_endpoint_times_out(lab: Any) -> None:
    with StandIn(fault=lab.faulty("hang", 1)) as server:
        answer = lab.ask(lab.open(server, settings={"timeout": 0.3}))
    assert answer.ok
    assert answer.calls == 2
    with StandIn(fault=lab.faulty("hang")) as server:
        provider = lab.open(server, settings={"timeout": 60.0})
        answer = lab.ask(provider, "another", timeout=0.1)  # the request's own limit wins
    assert answer.failure == "timeout"


def test_a_huge_reply_is_not_read_to_its_end(lab: Any) -> None:
    with StandIn(fault=lab.faulty("huge")) as server:
        answer = lab.ask(lab.open(server))
    assert (answer.failure, answer.transient, server.requests) == ("too-large", False, 1)


def test_no_server_at_all(lab: Any) -> None:
    answer = lab.ask(lab.open("http://127.0.0.1:9/v1"))
    assert answer.failure == "unreachable"
    assert answer.transient


@pytest.mark.parametrize("fault", ["refusal", "filter"])
def test_a_refusal_is_recorded_and_never_asked_round(fault: str, lab: Any) -> None:
    with StandIn(fault=lab.faulty(fault)) as server:
        answer = lab.ask(lab.open(server))
        again = lab.ask(lab.open(server))
    assert answer.refusal
    assert answer.value is None
    assert again.refusal
    assert server.requests == 1, "a refusal is a result: it is remembered, not asked again"


def test_a_refusal_in_words_is_no_reason_to_ask_again(lab: Any) -> None:
    with StandIn(answer=lab.says("I'm sorry, but I can't help with that request.")) as server:
        answer = lab.ask(lab.open(server))
        plain = lab.ask(lab.open(server), "no schema", schema=None)
    assert answer.refusal
    assert plain.refusal
    assert server.requests == 2


@pytest.mark.parametrize(
    ("status", "words"), [("401", "OPENISH_KEY"), ("404", "`model`"), ("quota", "credit")]
)
def test_what_no_call_can_get_past_stops_with_a_sentence(
    status: str, words: str, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENISH_KEY", "sk-very-secret")
    with (
        StandIn(fault=lab.faulty(status)) as server,
        pytest.raises(EndpointRefused, match=words) as caught,
    ):
        lab.ask(lab.open(server, settings={"key_variable": "OPENISH_KEY"}))
    assert "sk-very-secret" not in str(caught.value)
    assert server.requests == 1


def test_a_call_that_is_wrong_fails_alone(lab: Any) -> None:
    def fault(body: dict[str, Any], seen: int) -> str | None:
        return "400" if body["messages"][0]["content"].startswith("question 3") else None

    with StandIn(fault=fault) as server:
        done = lab.ask_all(lab.open(server), lab.questions(10))
    assert [i for i, a in sorted(done.items()) if not a.ok] == [3]
    assert done[3].failure == "http-400"
    assert server.requests == 10, "a wrong call is not tried again"


def test_broken_characters_are_not_taken_for_a_lost_connection(lab: Any) -> None:
    with StandIn() as server:
        answer = lab.ask(lab.open(server), "half a pair: \ud83d")
    assert (answer.failure, answer.transient, server.requests) == ("unsendable", False, 0)


def test_a_reply_cut_at_the_limit_is_said(lab: Any) -> None:
    with StandIn(answer=lab.says('{"answer": "a long st'), finish="length") as server:
        answer = lab.ask(lab.open(server))
    assert answer.failure == "invalid-json"
    assert "cut at max_tokens" in (answer.detail or "")


def test_invalid_then_valid_is_asked_once_more_and_told_why(lab: Any) -> None:
    def answer(body: dict[str, Any]) -> str:
        return (
            json.dumps({"answer": 7})
            if len(body["messages"]) == 1
            else json.dumps({"answer": "seven"})
        )

    with StandIn(answer=answer) as server:
        found = lab.ask(lab.open(server))
    assert found.value is not None
    assert found.value.answer == "seven"
    assert found.calls == 2
    assert "answer: Input should be a valid string" in server.last["messages"][-1]["content"]
    assert found.usage.input is not None
    assert found.usage.input > len("hello") // 4, "the first call's tokens count too"


@pytest.mark.parametrize(
    ("text", "failure"),
    [("no idea", "invalid-json"), ('{"answer": 7}', "invalid-schema"), ("", "invalid-json")],
)
def test_invalid_twice_is_null_and_counted(text: str, failure: str, lab: Any) -> None:
    with StandIn(answer=lab.says(text)) as server:
        done = lab.ask_all(lab.open(server), lab.questions(4))
    tally = Tally()
    for found in done.values():
        tally.add(found)
    assert {a.value for a in done.values()} == {None}
    assert tally.summary()["failures"] == {failure: 4}
    assert server.requests == 8, "asked once more, not twice"


@pytest.mark.slow
def test_everything_at_once_loses_nothing(lab: Any) -> None:
    plan = ["429", "500", "503", None, None]
    unusable = ["cut", "html", "empty", "truncated"]  # of each four: five in a row stop a run

    def fault(body: dict[str, Any], seen: int) -> str | None:
        number = int(body["messages"][0]["content"].split()[1])
        if number < 16 and seen == 0:
            return unusable[number % len(unusable)]
        return plan[(number + seen) % len(plan)] if seen < 3 else None

    with StandIn(fault=fault, latency=0.005) as server:
        done = lab.ask_all(lab.open(server), lab.questions(120), concurrency=32)
    assert sorted(done) == list(range(120))
    assert {a.failure for a in done.values()} == {None}
    assert len({a.value.answer for a in done.values()}) == 120, "every question got its own answer"
    assert server.served == 120
