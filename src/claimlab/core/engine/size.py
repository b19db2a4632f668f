"""How many processes this machine has room for: processors that may be used, and memory that is
free.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from claimlab.core.memory import free_memory

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
    """The environment of a worker: what this process can import, and its share of the
    processors.
    """
    threads = str(max(1, cores() // workers))
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return {**dict.fromkeys(names, threads), **os.environ, "PYTHONPATH": path}
