"""The one pool: bounded, in any order, nothing lost when it stops, nothing left running when its
reader leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count

import pytest

from claimlab.core.calls.pool import all_of, each
from claimlab.core.errors import BudgetSpent

SPENT = BudgetSpent("The budget is spent.", "Raise it.")


async def double(n: int) -> int:
    await asyncio.sleep(0.001 * (n % 3))
    return 2 * n


def test_results_come_in_the_order_of_the_items() -> None:
    seen: list[tuple[int, int | None]] = []

    def progress(label: str, done: int, total: int | None) -> None:
        assert label == "Doubling"
        seen.append((done, total))

    items = range(10)
    assert asyncio.run(
        all_of(items, double, concurrency=4, progress=progress, label="Doubling")
    ) == [2 * n for n in items]
    assert seen == [(n, 10) for n in range(1, 11)]


def test_no_more_than_so_many_at_once() -> None:
    inside = most = 0

    async def work(n: int) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.001)
        inside -= 1
        return n

    assert asyncio.run(all_of(range(30), work, concurrency=3)) == list(range(30))
    assert most == 3


def test_endless_items_are_read_as_needed() -> None:
    drawn = 0

    def endless() -> Iterator[int]:
        nonlocal drawn
        while True:
            yield drawn
            drawn += 1

    async def read() -> list[int]:
        found = []
        async for _, result in each(endless(), double, concurrency=4):
            found.append(result)
            if len(found) == 5:
                break
        return found

    assert len(asyncio.run(read())) == 5
    assert drawn < 20


def test_a_hopeless_error_is_raised_after_what_is_under_way() -> None:
    async def work(n: int) -> int:
        await asyncio.sleep(0.005 if n == 2 else 0.03)
        if n == 2:
            raise SPENT
        return n

    async def read() -> list[int]:
        found: list[int] = []
        with pytest.raises(BudgetSpent):
            async for _, result in each(range(100), work, concurrency=4):
                found.append(result)
        return found

    assert sorted(asyncio.run(read())) == [0, 1, 3]


def test_leaving_early_cancels_what_is_under_way() -> None:
    cancelled = []

    async def work(n: int) -> int:
        try:
            await asyncio.sleep(0 if n == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(n)
            raise
        return n

    async def read() -> None:
        pool = each(range(9), work, concurrency=3)
        async for _ in pool:
            break
        await pool.aclose()  # type: ignore[attr-defined]

    asyncio.run(asyncio.wait_for(read(), 5))
    assert sorted(cancelled) == [1, 2, 3][: len(cancelled)]
    assert len(cancelled) >= 2


def test_work_that_never_waits_can_be_cancelled() -> None:
    async def at_once(n: int) -> int:
        return n

    async def run() -> None:
        async for _ in each(count(), at_once, concurrency=2):
            pass

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(run(), 0.1))


def test_progress_counts_what_an_earlier_start_did() -> None:
    seen = []

    async def run() -> None:
        async for _ in each(
            [1, 2], double, before=5, progress=lambda _, done, total: seen.append((done, total))
        ):
            pass

    asyncio.run(run())
    assert seen == [(6, 7), (7, 7)]
