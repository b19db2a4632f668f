"""Work on several threads, for what leaves the interpreter free meanwhile: drawing numbers,
sorting, reading.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from claimlab.core.machine import cores

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    finished: Callable[[int], None] | None = None,
) -> list[Result]:
    """`function` of each item, in order; the first error is raised here. `finished` is told how
    many are done.

    The threads end with the program: Ctrl-C does not wait for them, as it would for those of an
    executor.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    results_waiting: SimpleQueue[tuple[int, Result] | BaseException] = SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                try:
                    results_waiting.put((number, function(items[number])))
                except BaseException as error:  # raised in the thread that waits
                    results_waiting.put(error)
                    return

    threads = min(cores(), len(items))
    if threads == 1:
        work()
    for _ in range(threads if threads > 1 else 0):
        # in the context of the caller: what is done there reports progress to the same listener
        Thread(target=copy_context().run, args=(work,), daemon=True).start()
    results: dict[int, Result] = {}
    try:
        while len(results) < len(items):
            answer = _next(results_waiting)
            if isinstance(answer, BaseException):
                raise answer
            results[answer[0]] = answer[1]
            if finished is not None:
                finished(len(results))
    finally:
        with suppress(Empty):  # after an error nothing more is begun
            while True:
                waiting.get_nowait()
    return [results[number] for number in range(len(items))]


def _next(queue: SimpleQueue[Item]) -> Item:
    while True:
        with suppress(Empty):
            return queue.get(timeout=0.1)  # a wait without an end would not hear Ctrl-C
