"""Prices from the published table, cached tokens counted, and limits that leave room for
reasoning.
"""

from __future__ import annotations

import json

import pytest
from parts.standin import StandIn

from claimlab.core.calls.calls import Calls
from claimlab.llm.asking import ask_sync
from claimlab.llm.estimate import estimate
from claimlab.llm.messages import Request, Usage
from claimlab.llm.open import open_provider
from claimlab.llm.prices import Price, listed_price
from claimlab.llm.profiles import Profile, find_profile
from claimlab.llm.reply import read_reply


def test_a_listed_model_has_its_published_price_and_an_own_price_wins() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    known = find_profile("openai").with_model("gpt-4.1-mini")
    table = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1_000_000, cache_read_tokens=400_000, output_tokens=10_000),
        model_ref="gpt-4.1-mini", provider_api_url="https://api.openai.com/v1",
    )  # fmt: skip
    assert known.cost(Usage(1_000_000, 10_000, 400_000)) == pytest.approx(float(table.total_price))
    own = known.model_copy(update={"prices": {"gpt-4.1-mini": Price(input=7, output=9)}})
    assert own.cost(Usage(1_000_000, 0)) == 7
    assert find_profile("openai").with_model("no-such-model").price is None
    assert listed_price("http://127.0.0.1:9/v1", "gpt-4.1-mini") is None, (
        "a server of one's own is no vendor"
    )


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            64,
        ),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 30}, 30),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 900},
            },
            100,
        ),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": None}, None),
    ],
)
def test_cached_tokens_are_read_as_endpoints_report_them(
    usage: dict[str, object], cached: int | None
) -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    reply = read_reply(json.dumps(body).encode(), None)
    assert not isinstance(reply, str)
    assert reply.usage == Usage(100, 5, cached)


def test_cached_tokens_cost_less() -> None:
    price = Price(input=10, output=0, cached=1)
    assert price.cost(1_000_000, 0) == 10
    assert price.cost(1_000_000, 0, 1_000_000) == 1
    assert Price(input=10, output=0).cost(1_000_000, 0, 1_000_000) == 10, (
        "not known: as other input"
    )


def test_limits_of_the_profile_leave_room_for_reasoning() -> None:
    with StandIn() as server:
        profile = Profile(
            name="thinks", base_url=server.url, model="thinker-5", reply_tokens={"zero-shot": 900, "*": 300},
            reasoning_tokens={"thinker-*": 4000},
        )  # fmt: skip
        provider = open_provider(profile, calls=Calls(mode="live"))
        sent = []
        for name in ("zero-shot", "contradiction"):
            ask_sync(provider, Request.of("x", max_tokens=40, prompt_name=name))
            sent.append(server.last["max_tokens"])
        assert sent == [4900, 4300]
        plain = open_provider(profile.with_model("other"), calls=Calls(mode="live"))
        ask_sync(plain, Request.of("x", max_tokens=40, prompt_name="zero-shot"))
        assert server.last["max_tokens"] == 900
    assert estimate([Request.of("x", max_tokens=40)], profile).output_tokens_most == 4300, (
        "the estimate knows it too"
    )
