"""Call async code from plain code: one background event loop for the whole process.

A notebook already runs a loop of its own, and a client that keeps connections open belongs to the
loop it was opened in. So plain callers all share one loop in a daemon thread instead of starting a
new one for every call.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import wait
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
_LISTEN_SECONDS = 0.25  # seconds
_SETTLE_SECONDS = 0.5
_start = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end and return its result; Ctrl-C cancels it, and waits until it has
    cleaned up.
    """
    future = asyncio.run_coroutine_threadsafe(work, _background())
    try:
        while not future.done():
            wait(
                [future], timeout=_LISTEN_SECONDS
            )  # an endless wait would not hear Ctrl-C on every system
        return future.result()
    except BaseException:
        if not future.done():
            future.cancel()
            _settle()
        raise


def iterate(items: AsyncIterator[T]) -> Iterator[T]:
    """The items of an async iterator, one by one; leaving early closes it."""

    async def following() -> tuple[T] | None:
        async for item in items:
            return (item,)
        return None

    try:
        while (item := run(following())) is not None:
            yield item[0]
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            run(close())


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _start:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="claimlab-async", daemon=True).start()
    return _loop


def _forget() -> None:
    """In a forked child the thread is gone, and its loop would be waited for without end."""
    global _loop, _start
    _loop, _start = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _settle() -> None:
    """Let a cancelled task run its `finally` blocks before the caller goes on, for a moment: a user
    who pressed Ctrl-C does not wait for a task that is slow to stop, or for code that keeps the
    loop from running at all.
    """

    async def others() -> None:
        await asyncio.sleep(0)
        tasks = [
            t for t in asyncio.all_tasks() if t is not asyncio.current_task() and t.cancelling()
        ]
        await asyncio.wait(tasks, timeout=_SETTLE_SECONDS) if tasks else None

    with suppress(
        TimeoutError
    ):  # it would pass for a fault of the disk: TimeoutError is an OSError
        asyncio.run_coroutine_threadsafe(others(), _background()).result(timeout=_SETTLE_SECONDS)
