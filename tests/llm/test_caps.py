"""Caps: a run stops inside its cap however many calls are under way, keeps what it has, and goes on
from there.
"""

from __future__ import annotations

from typing import Any

import pytest
from parts.standin import StandIn

from claimlab.core.budget import Amount, Budget
from claimlab.core.errors import BudgetSpent, UsageError
from claimlab.llm.estimate import estimate, rough_count
from claimlab.llm.layers import most
from claimlab.llm.messages import Request
from claimlab.llm.providers.scripted import Scripted


@pytest.mark.slow
@pytest.mark.parametrize("cap", [{"money": 6.0}, {"tokens": 4_500}, {"calls": 110}])
def test_a_cap_that_hits_mid_run_is_never_passed_and_loses_nothing(
    cap: dict[str, Any], lab: Any
) -> None:
    budget = Budget(**cap)
    with StandIn(latency=0.01, fault=lab.faulty("500", 1)) as server:  # every call fails once, too
        done, error = lab.ask_until(
            lab.open(server, budget=budget), lab.questions(150), concurrency=64
        )
        assert isinstance(error, BudgetSpent)
        assert 0 < len(done) < 150
        assert all(answer.ok for answer in done.values())
        assert len(done) == server.served, "every paid answer was delivered"
        truth = {
            "money": sum(a.cost for a in done.values()),
            "tokens": sum(a.usage.total for a in done.values()),
            "calls": server.requests,
        }
        name, limit = next(iter(cap.items()))
        assert truth[name] <= limit
        assert truth[name] == pytest.approx(getattr(budget.spent, name))
        served = server.served
        rest = lab.ask_all(lab.open(server), lab.questions(150), concurrency=64)
    assert sorted(rest) == list(range(150))
    assert server.served == 150, "going on repeats no paid call"
    assert served + sum(not a.cached for a in rest.values()) == 150


def test_money_is_used_up_to_what_one_call_may_cost(lab: Any) -> None:
    budget, request = Budget(money=3.0), lab.questions(1)[0]
    with StandIn() as server:
        lab.ask_until(lab.open(server, budget=budget), lab.questions(500), concurrency=64)
    longest = lab.questions(500)[-1]
    assert most(request, lab.profile(server)).money <= most(longest, lab.profile(server)).money
    assert 3.0 - most(longest, lab.profile(server)).money <= budget.spent.money <= 3.0


def test_search_and_models_share_the_cap(lab: Any) -> None:
    budget = Budget(calls=10)
    for _ in range(7):
        hold = budget.try_reserve(Amount(calls=1))
        assert hold is not None
        hold.settle(Amount(calls=1))
    with StandIn() as server:
        _, error = lab.ask_until(lab.open(server, budget=budget), lab.questions(20))
    assert isinstance(error, BudgetSpent)
    assert server.requests == 3


def test_what_a_timed_out_call_may_have_cost_counts_as_spent(lab: Any) -> None:
    budget = Budget(tokens=100_000)
    with StandIn(fault=lab.faulty("hang")) as server:
        answer = lab.ask(lab.open(server, budget=budget, settings={"timeout": 0.1}))
    assert answer.failure == "timeout"
    request = Request.of("hello", schema=lab.Word, max_tokens=50)
    assert (
        budget.assumed.tokens
        == budget.spent.tokens
        == 4 * most(request, lab.profile(server)).tokens
    )


def test_an_endpoint_that_reports_no_usage_is_charged_the_most(lab: Any) -> None:
    budget = Budget(tokens=100_000)
    with StandIn(usage=False) as server:
        answer = lab.ask(lab.open(server, budget=budget))
    assert answer.ok
    assert (answer.cost, answer.usage.total) == (None, None)
    assert budget.assumed.tokens > 50


def test_a_cap_in_money_needs_a_price(lab: Any) -> None:
    with pytest.raises(UsageError, match="needs a price"):
        lab.open("http://127.0.0.1:9/v1", settings={"prices": {}}, budget=Budget(money=1))


def test_the_reservation_bounds_what_the_tokens_can_be(lab: Any) -> None:
    text = "Ω" * 100 + "语" * 100 + "a" * 100
    bound = most(Request.of(text, max_tokens=7), lab.profile("http://127.0.0.1:9/v1"))
    assert bound.tokens >= len(text.encode()) + 7


def test_an_estimate_counts_spends_nothing_and_knows_the_cache(lab: Any) -> None:
    requests = lab.questions(50)
    with StandIn() as server:
        profile = lab.profile(server)
        lab.ask_all(lab.open(server), requests[:20])
        asked = server.requests
        found = estimate(iter(requests), profile, recording=lab.calls().existing())
    assert server.requests == asked
    assert (found.calls, found.cached, found.output_tokens_most) == (30, 20, 30 * 50)
    assert found.money_most == pytest.approx((found.input_tokens * 1000 + 1500 * 2000) / 1e6)
    assert found.money_least is not None
    assert found.money_least < found.money_most
    assert "30 calls" in found.sentence()
    unknown = estimate(requests, profile.with_model("unheard-of"))
    assert unknown.money_most is None
    assert "cost unknown" in unknown.sentence()


def test_rough_counts_do_not_take_every_script_for_english() -> None:
    assert rough_count("a plain sentence of English words") == round(33 / 4)
    assert rough_count("नमस्ते दुनिया") > 6
    assert rough_count("") == 0


def test_scripted_money_is_counted_like_real_money(lab: Any) -> None:
    from claimlab.llm.open import layered

    budget = Budget(money=100.0)
    scripted = Scripted(lab.profile("https://none.example/v1"), answers=lambda _: '{"answer": "x"}')
    done = lab.ask_all(layered(scripted, lab.calls("live", budget=budget)), lab.questions(10))
    assert budget.spent.money > 0
    assert budget.spent.money == pytest.approx(sum(a.cost for a in done.values()))


@pytest.mark.slow
def test_a_thousand_calls_through_a_storm_of_429_are_paid_once_and_under_the_cap(lab: Any) -> None:
    """Two thirds of the questions are turned away up to three times, and a cap in dollars stops the
    run twice: it goes on from its recording, and no question is answered twice.
    """

    def fault(body: dict[str, Any], seen: int) -> str | None:
        number = int(body["messages"][0]["content"].split()[1])
        return "429" if seen < number % 3 + number % 2 else None

    paid, charged, answers = 0.0, 0.0, {}
    with StandIn(fault=fault) as server:
        for cap in (20.0, 20.0, None):
            budget = Budget() if cap is None else Budget(money=cap)
            done, error = lab.ask_until(
                lab.open(server, budget=budget), lab.questions(1000), concurrency=64
            )
            answers |= {i: a.value.answer for i, a in done.items() if a.value is not None}
            assert (error is None) == (cap is None), error
            assert cap is None or budget.spent.money <= cap
            paid += budget.spent.money
            charged += sum(answer.cost for answer in done.values() if not answer.cached)
    assert sorted(answers) == list(range(1000))
    assert len(set(answers.values())) == 1000
    assert server.served == 1000, "an answer was paid for twice"
    assert server.requests > 1900
    assert paid == pytest.approx(charged)
