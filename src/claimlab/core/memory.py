"""Whether it was memory, or the disk: the message for a run that had too little of it, and for no
other.
"""

from __future__ import annotations

import errno
import re
import sys
from pathlib import Path

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
        return _near_limit() or _machine_is_full()
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


def _machine_is_full() -> bool:
    memory = _kilobytes("/proc/meminfo")
    return memory["MemAvailable"] < _LEFT * memory["MemTotal"]


def _kilobytes(file: str) -> dict[str, int]:
    lines = (
        line.split()
        for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines()
    )
    return {
        words[0].rstrip(":"): int(words[1])
        for words in lines
        if len(words) == 3 and words[2] == "kB"
    }
