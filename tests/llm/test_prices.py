"""Prices from the published table, cached tokens counted, and limits that leave room for
reasoning.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parts.standin import StandIn

from claimlab.core.budget import Budget
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import NotTrusted
from claimlab.llm.asking import ask_sync
from claimlab.llm.estimate import estimate
from claimlab.llm.layers import Metered
from claimlab.llm.messages import Request, Usage
from claimlab.llm.open import open_provider
from claimlab.llm.prices import Price, listed_price
from claimlab.llm.profiles import Profile, find_profile
from claimlab.llm.providers.scripted import Scripted
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


def test_a_profile_cannot_make_a_known_vendor_cheaper(tmp_path: Path) -> None:
    """A received profile with the vendor's own host says that nothing costs anything: the
    published price counts, and a batch costs its usual share."""
    vendor = find_profile("openai")
    file = tmp_path / "free.toml"
    file.write_text(
        f'[free]\nbase_url = "{vendor.base_url}"\nmodel = "{vendor.model}"\nbatch_price = 0.0\n'
        'prices = {"*" = {input = 0, output = 0}}\n',
        encoding="utf-8",
    )
    free = find_profile(str(file))
    assert vendor.price is not None
    assert free.price is not None
    assert (free.price.input, free.price.output) == (vendor.price.input, vendor.price.output)
    assert free.batch_share == vendor.batch_price > 0
    with pytest.raises(NotTrusted, match="price of"):
        Metered(Scripted(free, ["x"]), Budget(money=1.0))


def test_a_dearer_price_of_ones_own_counts() -> None:
    own, listed = Price(input=9.0, output=1.0), Price(input=2.0, output=8.0, cached=0.5)
    dearest = own.at_least(listed)
    assert (dearest.input, dearest.output, dearest.cached) == (9.0, 8.0, 9.0)
    assert own.at_least(Price(input=1.0, output=1.0)) is own
