"""Many questions at once, answers as they come: bounded memory, and one failing record never stops the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from claimlab.core import sync
from claimlab.core.errors import ClaimlabError
from claimlab.core.progress import Progress, silent
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider


async def gather(
    provider: Provider,
    requests: Iterable[Request[T]],
    *,
    concurrency: int = 64,
    progress: Progress = silent,
    label: str = "Asking the model",
    total: int | None = None,
) -> AsyncIterator[tuple[int, Answer[T]]]:
    """Yield (index of the request, its answer) in the order the answers come.

    `requests` may be endless: no more than `concurrency` are held at a time, and a slow reader slows the asking. An
    error that no further call can get past (a spent budget, a refused key, a replay without the call) lets the calls
    under way finish, yields them, and is raised last. Leaving the loop early cancels what is under way.
    """
    if total is None and hasattr(requests, "__len__"):
        total = len(requests)  # type: ignore[arg-type]
    line = enumerate(requests)
    results: asyncio.Queue[tuple[int, Answer[T]] | None] = asyncio.Queue(maxsize=concurrency)
    stopped: list[Exception] = []

    async def work() -> None:
        try:
            while not stopped and (following := next(line, None)) is not None:
                index, request = following
                answer = await _answer(provider, request)
                await results.put((index, answer))
        except Exception as error:  # ours, or one from the caller's iterator: raised below, after what is done
            stopped.append(error)
        await results.put(None)  # not when cancelled: nobody reads any more, and the queue may be full

    tasks = [asyncio.create_task(work()) for _ in range(concurrency)]
    running, done = len(tasks), 0
    try:
        while running:
            item = await results.get()
            if item is None:
                running -= 1
                continue
            done += 1
            progress(label, done, total)
            yield item
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if stopped:
        raise stopped[0]


async def _answer(provider: Provider, request: Request[T]) -> Answer[T]:
    try:
        return await provider.ask(request)
    except ClaimlabError:
        raise
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        return Answer(model=provider.profile.model or provider.profile.name, failure="crash", detail=detail)


def ask_sync(provider: Provider, request: Request[T]) -> Answer[T]:
    """`provider.ask` for plain code and notebooks."""
    return sync.run(provider.ask(request))


def gather_sync(provider: Provider, requests: Iterable[Request[T]], **settings: Any) -> Iterator[tuple[int, Answer[T]]]:
    """`gather` for plain code and notebooks."""
    return sync.iterate(gather(provider, requests, **settings))
