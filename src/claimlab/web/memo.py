"""What was read or worked out before, kept for as long as the files behind it stay the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from claimlab.core.digest import digest_file
from claimlab.core.errors import NotFound

T = TypeVar("T")


class Memo:
    """A cache of the latest results by key; each is computed once, however many threads ask for
    it.
    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._lock = most, threading.Lock()
        self._results: OrderedDict[Any, Any] = OrderedDict()
        self._locks: dict[Any, threading.Lock] = {}

    def get(self, key: Any, work: Callable[[], T]) -> T:
        with self._lock:
            key_lock = self._locks.setdefault(key, threading.Lock())
        with key_lock:
            with self._lock:
                if key in self._results:
                    self._results.move_to_end(key)
                    return self._results[key]  # type: ignore[no-any-return]
            result = work()
            with self._lock:
                self._results[key] = result
                while len(self._results) > self._most:
                    self._locks.pop(self._results.popitem(last=False)[0], None)
            return result

    def clear(self) -> list[Any]:
        """What was kept; from now on, nothing is."""
        with self._lock:
            results = list(self._results.values())
            self._results.clear()
            return results

    def __contains__(self, key: Any) -> bool:
        return key in self._results


_digests = Memo(1_000)


def state_of(file: Path) -> tuple[Path, int, int]:
    """What is another when the file is: its time of change and size. Hashing a large file takes
    longer than a page.
    """
    try:
        now = file.stat()
    except OSError:
        raise NotFound(f"'{file.name}' is not there any more.", "Reload the workspace.") from None
    return file, now.st_mtime_ns, now.st_size


def digest_of(file: Path) -> str:
    """The sha256 of a file, read again when its size or time of change differs."""
    return _digests.get(state_of(file), lambda: digest_file(file))


def digest_known(file: Path) -> bool:
    return state_of(file) in _digests
