"""Whether it was memory, or the disk: the message for a run that had too little of it, and for no
other.
"""

from __future__ import annotations

import errno
import re
import sys
from pathlib import Path

_MEMORY_WORDS = re.compile(
    r"memory allocation|out of memory|cannot allocate memory|bad_alloc|can't start new"
    r" thread|failed to map segment",
    re.I,
)
_DISK_WORDS = re.compile(
    # the last is NumPy's
    r"no space left on device|disk quota exceeded|disk is full|\d requested and \d+ written",
    re.I,
)
# of the limit: the allocation that failed is not counted, and may have been as large as all before
_NEAR_LIMIT = 0.5
_FREE_SHARE = 0.05  # of the machine's memory


def was_memory(error: BaseException) -> bool:
    """Whether `error` says that memory was short; compiled packages have their own words for it."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return bool(_MEMORY_WORDS.search(str(error)))


def was_disk(error: BaseException) -> bool:
    """Whether `error` says that the disk, or the user's share of it, is full; packages have their
    own words.
    """
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or bool(
        _DISK_WORDS.search(str(error))
    )


def is_short() -> bool:
    """Whether memory is short now, for an abort that leaves no error: near the limit of the
    process, or of the machine. False where that cannot be known."""
    try:
        memory = kilobytes("/proc/meminfo")
        return _near_limit() or memory["MemAvailable"] < _FREE_SHARE * memory["MemTotal"]
    except (OSError, ValueError, KeyError, ImportError):
        return False


def _near_limit() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return (
        limit != resource.RLIM_INFINITY
        and kilobytes("/proc/self/status")["VmPeak"] * 1024 > _NEAR_LIMIT * limit
    )


def kilobytes(file: str) -> dict[str, int]:
    """What a file of /proc says in kilobytes, by name."""
    text = Path(file).read_text(encoding="ascii", errors="replace")
    return {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M)}
