"""Threads that stay: a search hands out work dozens of times, and starting threads each time would
cost more.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from claimlab.core.errors import UsageError
from claimlab.core.machine import cores

ITEMS_PER_TASK = 1 << 14  # texts or pairs that a thread takes at a time


def count_threads(threads: int | None) -> int:
    """As asked, or one for each processor this process may use: a worker of an engine has its share
    of them.
    """
    if threads is not None:
        if threads < 1:
            raise UsageError(f"{threads} threads cannot work.", "Give 1 or more.")
        return threads
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(share), cores()) if share.isdecimal() and int(share) else cores()


@functools.cache
def pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="neardup")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork


def in_ranges(
    work: Callable[[int, int], None],
    total: int,
    threads: int,
    report: Callable[[int], None] | None = None,
    share: int = ITEMS_PER_TASK,
) -> None:
    """Call `work(start, stop)` on ranges that cover `total`, on several threads; an error in one is
    raised here.
    """
    ranges = [(start, min(start + share, total)) for start in range(0, total, share)]
    if threads == 1 or len(ranges) <= 1:
        for start, stop in ranges:
            work(start, stop)
            if report is not None:
                report(stop)
        return
    running = [pool(threads).submit(work, start, stop) for start, stop in ranges]
    for (_, stop), task in zip(ranges, running, strict=True):
        task.result()
        if report is not None:
            report(stop)
