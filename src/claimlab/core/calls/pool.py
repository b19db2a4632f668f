"""Many pieces of work at once, results as they come: bounded memory, and a hopeless error loses
nothing done before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sized
from typing import TypeVar

from claimlab.core.progress import Progress, progress

T = TypeVar("T")
R = TypeVar("R")


async def each(
    items: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    *,
    concurrency: int = 64,
    progress: Progress = progress,
    label: str = "Working",
    total: int | None = None,
    before: int = 0,
) -> AsyncIterator[tuple[int, R]]:
    """Yield (index of the item, its result) in the order the results come.

    `items` may be endless: no more than `concurrency` are held at a time, and a slow reader slows
    the work. `work` turns what concerns one item alone into that item's result; what it raises (a
    spent budget, a refused key, a replay without the call) lets the work under way finish, yields
    it, and is raised last. Leaving the loop early cancels what is under way. `before` items of
    `total` were done by an earlier start.
    """
    if total is None and isinstance(items, Sized):
        total = before + len(items)
    line = enumerate(items)
    results: asyncio.Queue[tuple[int, R] | None] = asyncio.Queue(maxsize=concurrency)
    stopped: list[Exception] = []

    async def worker() -> None:
        try:
            while not stopped and (following := next(line, None)) is not None:
                index, item = following
                result = await work(item)
                await results.put((index, result))
        except (
            Exception
        ) as error:  # of the work, or of the caller's iterator: raised below, after what is done
            stopped.append(error)
        await results.put(None)  # not when cancelled: the queue is no longer read, and may be full

    tasks = [asyncio.create_task(worker()) for _ in range(concurrency)]
    running, finished = len(tasks), before
    try:
        while running:
            item = await results.get()
            if item is None:
                running -= 1
                continue
            finished += 1
            progress(label, finished, total)
            yield item
            await asyncio.sleep(
                0
            )  # a replay never waits: without this, a cancellation would not be heard
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if stopped:
        raise stopped[0]


async def all_of(
    items: Iterable[T],
    work: Callable[[T], Awaitable[R]],
    *,
    concurrency: int = 64,
    progress: Progress = progress,
    label: str = "Working",
) -> list[R]:
    """The results in the order of the items."""
    pool = each(items, work, concurrency=concurrency, progress=progress, label=label)
    results = {index: result async for index, result in pool}
    return [results[index] for index in sorted(results)]
