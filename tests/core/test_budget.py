"""The cap holds however many spend at once, and what nobody reported counts as spent."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path

import pytest

from claimlab.core.budget import Amount, Budget
from claimlab.core.errors import BudgetSpent
from claimlab.core.ledger import Ledger


def test_sixty_four_spenders_never_pass_the_cap() -> None:
    budget = Budget(money=1.0)
    most, seen = Amount(money=0.03, calls=1), []

    async def spend(seed: int) -> int:
        draw, calls = random.Random(seed), 0
        while True:
            try:
                hold = await budget.reserve(most)
            except BudgetSpent:
                return calls
            await asyncio.sleep(0)
            hold.settle(Amount(money=draw.uniform(0, 0.03), calls=1))
            seen.append(budget.spent.money)
            calls += 1

    async def everyone() -> list[int]:
        return await asyncio.gather(*(spend(i) for i in range(64)))

    calls = asyncio.run(everyone())
    assert max(seen) <= 1.0
    assert budget.spent.money > 1.0 - 0.03, "stopped although another call still fitted"
    assert sum(calls) == budget.spent.calls == len(seen)


def test_a_call_waits_for_running_ones_before_it_gives_up() -> None:
    async def story() -> None:
        budget = Budget(money=1.0)
        first = await budget.reserve(Amount(money=0.9))
        second = asyncio.create_task(budget.reserve(Amount(money=0.5)))
        await asyncio.sleep(0.01)
        assert not second.done()
        first.settle(Amount(money=0.1))
        (await second).settle(Amount(money=0.5))
        assert budget.spent.money == pytest.approx(0.6)

    asyncio.run(story())


def test_unknown_cost_counts_in_full_and_is_shown_as_assumed() -> None:
    budget = Budget(tokens=100, calls=2)
    hold = budget.try_reserve(Amount(tokens=80, calls=1))
    assert hold is not None
    hold.settle(None)
    hold.settle(Amount(tokens=1))  # a second settling changes nothing
    assert budget.summary()["assumed"] == {"money": 0.0, "tokens": 80, "calls": 1}
    with pytest.raises(BudgetSpent, match="80 of 100 tokens"):
        budget.try_reserve(Amount(tokens=21, calls=1))


def test_exact_cents_are_not_lost_to_rounding() -> None:
    budget = Budget(money=0.3)
    for _ in range(3):  # 0.1 + 0.1 + 0.1 > 0.3 in floats
        hold = budget.try_reserve(Amount(money=0.1))
        assert hold is not None
        hold.settle(Amount(money=0.1))
    with pytest.raises(BudgetSpent):
        budget.try_reserve(Amount(money=0.000001))


def test_threads_and_tasks_share_one_budget() -> None:
    budget = Budget(calls=1000)

    def search() -> None:
        try:
            while True:
                hold = budget.try_reserve(Amount(calls=1))
                if hold is not None:
                    hold.settle(Amount(calls=1))
        except BudgetSpent:
            return

    async def models() -> None:
        try:
            while True:
                (await budget.reserve(Amount(calls=1))).settle(Amount(calls=1))
                await asyncio.sleep(0)
        except BudgetSpent:
            return

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    asyncio.run(models())
    for thread in threads:
        thread.join()
    assert budget.spent.calls == 1000


def test_a_cancelled_waiter_leaves_no_trace() -> None:
    async def story() -> None:
        budget = Budget(calls=1)
        hold = await budget.reserve(Amount(calls=1))
        waiting = asyncio.create_task(budget.reserve(Amount(calls=0, tokens=0, money=0.0)))
        assert (await waiting) is not None  # wants nothing, so it need not wait
        stuck = asyncio.create_task(_reserve_one(budget))
        await asyncio.sleep(0.01)
        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)
        assert budget._waiting == []
        hold.settle(Amount())
        (await budget.reserve(Amount(calls=1))).settle(Amount(calls=1))

    asyncio.run(story())


async def _reserve_one(budget: Budget) -> None:
    await budget.reserve(Amount(calls=1))


def test_a_cap_holds_over_every_start_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "spent.jsonl"
    Budget(calls=3, ledger=Ledger(file))
    assert not file.exists(), "a run that spends nothing leaves no file"

    first = Budget(money=1.0, calls=3, ledger=Ledger(file))
    for _ in range(2):
        hold = first.try_reserve(Amount(money=0.3, calls=1))
        assert hold is not None
        hold.settle(Amount(money=0.1, calls=1))

    second = Budget(money=1.0, calls=3, ledger=Ledger(file))
    assert second.spent == Amount(0.2, 0, 2)
    assert second.try_reserve(Amount(money=0.3, calls=1)) is not None  # killed before it settles
    with file.open("a") as torn:
        torn.write('["hold", 2, [1')

    ledger = Ledger(file)
    third = Budget(money=1.0, calls=3, ledger=ledger)
    assert third.spent == Amount(0.5, 0, 3), "what was under way counts in full"
    assert third.assumed == Amount(0.3, 0, 1)
    with pytest.raises(BudgetSpent):
        third.try_reserve(Amount(calls=1))
    ledger.close(complete=True)
    assert not file.exists()


@pytest.mark.parametrize(
    ("most", "amount", "argument"),
    [
        (
            Amount(money=0.5, calls=1),
            "$0.8000 of $1.0000 (the next call could cost $0.5000)",
            "`max_cost`",
        ),
        (Amount(tokens=50, calls=1), "60 of 100 tokens (the next could take 50)", "`max_tokens`"),
        (Amount(calls=9), "2 of 10 calls", "`max_calls`"),
        (
            Amount(money=0.3, calls=9),
            "$0.8000 of $1.0000 (the next call could cost $0.3000); 2 of 10 calls",
            "`max_cost` and",
        ),
    ],
)
def test_the_cap_that_was_reached_is_named_and_no_other(
    most: Amount, amount: str, argument: str
) -> None:
    budget = Budget(money=1.0, tokens=100, calls=10)
    for spent in (Amount(money=0.5, tokens=40, calls=1), Amount(money=0.3, tokens=20, calls=1)):
        with asyncio.run(budget.reserve(spent)) as hold:
            hold.settle(spent)
    with pytest.raises(BudgetSpent) as caught:
        budget.try_reserve(most)
    assert caught.value.problem == f"The budget is spent: {amount}."
    assert argument in caught.value.todo


def test_a_reservation_that_is_left_without_a_word_counts_as_spent() -> None:
    budget = Budget(calls=2)
    with pytest.raises(LookupError), asyncio.run(budget.reserve(Amount(calls=1))):
        raise LookupError
    assert (budget.spent, budget.assumed) == (Amount(calls=1), Amount(calls=1))
