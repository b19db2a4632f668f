"""The careful call: retries, waits, sizes, packing, secrets and the budget."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from claimlab.core.budget import Amount, Budget
from claimlab.core.calls.pace import TokenBucket
from claimlab.core.errors import BudgetSpent, SearchFailed, UsageError
from claimlab.search.http import RETRIES, Call, Http, HttpReply
from claimlab.search.terms import terms

FREE = TokenBucket(1e9, burst=1000)


def call(stand_in: Any, **more: Any) -> Call:
    return Call("somebody", "GET", stand_in.url, **more)


def get(http: Http, asked: Call) -> HttpReply:
    return asyncio.run(http.json(asked, FREE))


def test_waits_grow_and_are_jittered(stand_in: Any, waits: list[float]) -> None:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    for chance, expected in ((0.0, [0.25, 0.5, 1.0]), (1.0, [0.5, 1.0, 2.0])):
        waits.clear()
        stand_in.will(stand_in.says({}, status=502))
        with pytest.raises(SearchFailed, match="502"):
            get(
                Http(retries=replace(RETRIES, sleep=sleep, chance=lambda c=chance: c)),
                call(stand_in),
            )  # type: ignore[misc]
        assert waits == expected


def test_a_date_in_retry_after_is_understood(stand_in: Any, http: Http, waits: list[float]) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    stand_in.will(stand_in.says({}, status=429, Retry_After=soon), stand_in.says({"ok": 1}))
    assert get(http, call(stand_in)).answer == {"ok": 1}
    assert 20 < waits[0] <= 30


def test_nonsense_in_retry_after_falls_back_to_our_own_wait(
    stand_in: Any, http: Http, waits: list[float]
) -> None:
    stand_in.will(stand_in.says({}, status=429, Retry_After="soon"), stand_in.says({"ok": 1}))
    get(http, call(stand_in))
    assert waits == [0.25]


def test_the_providers_own_words_are_shown_without_the_key(stand_in: Any, http: Http) -> None:
    stand_in.will(
        stand_in.says(
            {"error": {"code": 400, "message": "key s3cret-key is\nnot valid " + "x" * 500}},
            status=400,
        )
    )
    with pytest.raises(SearchFailed) as caught:
        get(http, call(stand_in, secret="s3cret-key"))
    assert "(key [key] is not valid x" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_an_answer_that_repeats_the_key_is_read_without_it(stand_in: Any, http: Http) -> None:
    secret = "s3cret-key"
    stand_in.will(
        stand_in.says(
            {"results": [{"title": f"for {secret}", "url": f"https://x.example/{secret[::-1]}"}]}
        )
    )
    answer = get(http, call(stand_in, secret=secret)).answer
    assert answer == {"results": [{"title": "for [key]", "url": "https://x.example/[key]"}]}


def test_an_error_that_never_ends_is_cut_and_named_by_its_status(stand_in: Any, http: Http) -> None:
    http.timeout = 5
    stand_in.will(stand_in.send(b"x" * (20 << 20), "text/html", status=503))
    with pytest.raises(SearchFailed, match="503") as caught:
        get(http, call(stand_in))
    assert (caught.value.kind, caught.value.tries) == ("server-error", 4)


def test_a_packed_answer_is_unpacked_and_a_bomb_is_cut(stand_in: Any, http: Http) -> None:
    http.timeout = 5
    stand_in.will(stand_in.packed(b'{"ok": 1}'))
    assert get(http, call(stand_in)).answer == {"ok": 1}
    bomb = b'{"x": "' + b"a" * (50 << 20) + b'"}'
    assert len(gzip.compress(bomb)) < 100_000
    stand_in.will(stand_in.packed(bomb))
    with pytest.raises(SearchFailed, match="more than 5 MB") as caught:
        get(http, call(stand_in))
    assert caught.value.kind == "too-large"


@pytest.mark.parametrize("headers", [{"Content_Encoding": "br"}, {"Content_Encoding": "gzip"}])
def test_an_answer_packed_wrongly_is_named(
    headers: dict[str, str], stand_in: Any, http: Http
) -> None:
    stand_in.will(stand_in.send(b"{}", "application/json", **headers))
    with pytest.raises(SearchFailed, match="packed its answer"):
        get(http, call(stand_in))


def test_deeply_nested_json_is_a_failure_not_a_crash(stand_in: Any, http: Http) -> None:
    http.timeout = 5
    stand_in.will(stand_in.send(b"[" * 200_000, "text/plain"))
    with pytest.raises(SearchFailed, match="not JSON"):
        get(http, call(stand_in))


def test_redirects_are_not_followed_with_a_key_in_hand(
    stand_in: Any, second_stand_in: Any, http: Http
) -> None:
    stand_in.will(stand_in.moves_to(second_stand_in.url))
    with pytest.raises(SearchFailed, match="302"):
        get(http, call(stand_in, headers={"X-Key": "s"}))
    assert second_stand_in.asked == []


def test_one_client_may_be_used_closed_and_used_in_another_loop(stand_in: Any, http: Http) -> None:
    stand_in.will(stand_in.says({"ok": 1}))

    async def twice() -> list[Any]:
        answers = [(await http.json(call(stand_in), FREE)).answer for _ in range(2)]
        await http.close()
        return answers

    assert asyncio.run(twice()) == [{"ok": 1}, {"ok": 1}]
    assert get(http, call(stand_in)).answer == {"ok": 1}
    assert get(http, call(stand_in)).answer == {"ok": 1}


def test_every_try_is_counted_and_only_answers_are_charged(stand_in: Any, http: Http) -> None:
    http.budget = Budget(money=1.0, calls=10)
    stand_in.will(stand_in.says({}, status=500), stand_in.says({"cost": 0.25}))
    reply = get(http, call(stand_in, most=0.5, cost_of=lambda answer: answer["cost"]))
    assert reply.cost == 0.25
    assert http.budget.spent == Amount(money=0.25, calls=2)
    assert http.budget.assumed == Amount()


def test_a_try_that_nobody_answered_counts_as_paid(stand_in: Any, http: Http) -> None:
    http.budget, http.timeout, http.retries = (
        Budget(money=1.0),
        0.1,
        replace(http.retries, faults=1),
    )
    stand_in.will(stand_in.hangs())
    with pytest.raises(SearchFailed):
        get(http, call(stand_in, most=0.2))
    assert http.budget.spent == Amount(money=0.4, calls=2)
    assert http.budget.assumed == Amount(money=0.4, calls=2)


def test_the_cap_holds_before_the_call_is_made(stand_in: Any, http: Http) -> None:
    http.budget = Budget(money=0.012)
    stand_in.will(stand_in.says({"ok": 1}))
    for _ in range(2):
        get(http, call(stand_in, most=0.005))
    with pytest.raises(BudgetSpent):
        get(http, call(stand_in, most=0.005))
    assert len(stand_in.asked) == 2


def test_many_calls_at_once_stay_under_the_cap(stand_in: Any, http: Http) -> None:
    http.budget, http.timeout = Budget(calls=5), 5
    stand_in.will(stand_in.says({"ok": 1}))

    async def many() -> list[Any]:
        return await asyncio.gather(
            *(http.json(call(stand_in), FREE) for _ in range(12)), return_exceptions=True
        )

    done = asyncio.run(many())
    assert sum(isinstance(d, HttpReply) for d in done) == 5
    assert sum(isinstance(d, BudgetSpent) for d in done) == 7
    assert len(stand_in.asked) == 5


def test_an_unknown_price_cannot_be_capped_in_money(stand_in: Any, http: Http) -> None:
    stand_in.will(stand_in.says({"ok": 1}))
    http.budget = Budget(money=1.0)
    with pytest.raises(UsageError, match="price of a call to somebody is not known"):
        get(http, call(stand_in, most=None))
    http.budget = Budget(calls=1)
    assert get(http, call(stand_in, most=None)).cost is None


def test_the_bucket_spaces_calls_out() -> None:
    clock = [0.0]
    bucket = TokenBucket(2.0, burst=2, clock=lambda: clock[0])
    assert [bucket.reserve() for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    clock[0] = 10.0
    assert [bucket.reserve() for _ in range(3)] == [0.0, 0.0, 0.5], (
        "idle time gives at most a burst"
    )


def test_terms_of_a_stranger_are_cautious_and_priceless() -> None:
    assert (terms("nobody").price, terms("nobody").rate) == (None, 2.0)


def test_failures_survive_a_process_boundary() -> None:
    import pickle

    failure = SearchFailed("brave", "timeout", "It hung.", "Wait.", tries=3)
    again = pickle.loads(pickle.dumps(failure))
    assert (again.provider, again.kind, again.tries, str(again)) == (
        "brave",
        "timeout",
        3,
        "It hung. Wait.",
    )
    assert json.dumps(str(again))
