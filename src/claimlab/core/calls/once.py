"""The same question at the same time is asked once: the second caller waits and finds what was
recorded.
"""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class Once:
    """`async with once.turn(key)`: one caller at a time for each key. Locks live only as long as a
    caller waits.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    def turn(self, key: str) -> asyncio.Lock:
        loop = id(asyncio.get_running_loop())  # a lock belongs to the loop that it is waited for in
        return self._locks.setdefault((loop, key), asyncio.Lock())
