"""Whether it was memory, or the disk: the message for a run that had too little of it, and for no
other.

How many processes this machine has room for: processors that may be used, and memory that is
free.

Work on several threads, for what leaves the interpreter free meanwhile: drawing numbers,
sorting, reading.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

_WORDS = re.compile(
    r"memory allocation|out of memory|cannot allocate memory|bad_alloc|can't start new"
    r" thread|failed to map segment",
    re.I,
)
_FULL = re.compile(
    # the last is NumPy's
    r"no space left on device|disk quota exceeded|disk is full|\d requested and \d+ written",
    re.I,
)
# of the limit: the allocation that failed is not counted, and may have been as large as all before
_NEAR = 0.5
_LEFT = 0.05  # of the machine's memory


def was_memory(error: BaseException) -> bool:
    """Whether `error` says that memory was short; compiled packages have their own words for it."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return bool(_WORDS.search(str(error)))


def was_disk(error: BaseException) -> bool:
    """Whether `error` says that the disk, or the user's share of it, is full; packages have their
    own words.
    """
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or bool(
        _FULL.search(str(error))
    )


def free_memory() -> int | None:
    """Bytes that new processes may use: of the machine, or of its container where that has less;
    null if unknown.
    """
    try:
        free = _kilobytes("/proc/meminfo")["MemAvailable"] * 1024
    except (OSError, ValueError, KeyError):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        limit, used = (
            (group / f"memory.{name}").read_text(encoding="ascii").strip()
            for name in ("max", "current")
        )
        return min(free, max(int(limit) - int(used), 0))
    except (OSError, ValueError):
        return free


def is_short() -> bool:
    """Whether memory is short now, for an abort that leaves no error: near the limit of the
    process, or of the machine. False where that cannot be known."""
    try:
        memory = _kilobytes("/proc/meminfo")
        return _near_limit() or memory["MemAvailable"] < _LEFT * memory["MemTotal"]
    except (OSError, ValueError, KeyError, ImportError):
        return False


def _near_limit() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return (
        limit != resource.RLIM_INFINITY
        and _kilobytes("/proc/self/status")["VmPeak"] * 1024 > _NEAR * limit
    )


def _kilobytes(file: str) -> dict[str, int]:
    text = Path(file).read_text(encoding="ascii", errors="replace")
    return {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}


SHARE = 1 << 30  # bytes that a worker may need, where the stage does not say


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def fitting_workers(memory: int = SHARE) -> int:
    """As many workers as there are processors, but no more than fit into the free memory, and at
    least one.
    """
    free = free_memory()
    return cores() if free is None else max(1, min(cores(), free // max(memory, 1)))


def environment(workers: int) -> dict[str, str]:
    """The environment of a worker: what this process can import and nothing of the folder that it
    is started in, which may be data, and its share of the processors.
    """
    threads = str(max(1, cores() // workers))
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    imports = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return {**dict.fromkeys(names, threads), **os.environ, **imports}


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
    done: SimpleQueue[tuple[int, Result] | BaseException] = SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                try:
                    done.put((number, function(items[number])))
                except BaseException as error:  # raised in the thread that waits
                    done.put(error)
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
            answer = _next(done)
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


def _next(done: SimpleQueue[Item]) -> Item:
    while True:
        with suppress(Empty):
            return done.get(timeout=0.1)  # a wait without an end would not hear Ctrl-C
