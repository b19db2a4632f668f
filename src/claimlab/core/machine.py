"""How many processes this machine has room for: processors that may be used, and memory that is
free.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from claimlab.core.grants import handed_on
from claimlab.core.shortage import kilobytes

WORKER_BYTES = 1 << 30  # bytes that a worker may need, where the stage does not say


def free_memory() -> int | None:
    """Bytes that new processes may use: of the machine, or of its container where that has less;
    null if unknown.
    """
    try:
        free = kilobytes("/proc/meminfo")["MemAvailable"] * 1024
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


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def fitting_workers(memory: int = WORKER_BYTES) -> int:
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
    return {**dict.fromkeys(names, threads), **os.environ, **imports, **handed_on()}
