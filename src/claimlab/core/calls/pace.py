"""The pace of calls: a gate that learns how many an endpoint takes at once, and a token bucket per
second.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable


class Gate:
    """How many calls run at once: halved when the endpoint says "too many", one more for every
    round that went well, between 1 and `most`; opens at `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._shut_until = 0.0
        self._last_cut = float("-inf")

    async def enter(self) -> float:
        """Wait for a place; returns the time of entry, which `too_many` takes."""
        while True:
            now = time.monotonic()
            if now < self._shut_until:
                await asyncio.sleep(self._shut_until - now)
            elif self.inside < int(self.limit):
                self.inside += 1
                return now
            else:
                await self._queue()

    def leave(self) -> None:
        self.inside -= 1
        self._call_in()

    def went_well(self) -> None:
        self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def too_many(self, entered: float, wait: float) -> None:
        """A call that entered at `entered` was rejected and may be retried in `wait` seconds.

        Calls that were already under way at the last cut say nothing new, so a burst of refusals
        cuts once.
        """
        now = time.monotonic()
        self._shut_until = max(self._shut_until, now + wait)
        if entered > self._last_cut:
            self.limit = max(1.0, self.limit / 2)
            self._last_cut = now

    async def _queue(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._call_in()  # we were called in and go away: the next one may come
            raise

    def _call_in(self) -> None:
        room = int(self.limit) - self.inside
        while self._waiting and room > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                room -= 1


class TokenBucket:
    """At most `rate` calls a second on average, `burst` at once. Shared by every task and thread
    that holds it.
    """

    def __init__(
        self, rate: float, burst: int = 1, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate = rate
        self.burst = max(1, burst)
        self._clock = clock
        self._tokens = float(self.burst)
        self._then = clock()
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take a token, on credit if need be, and say how many seconds to wait before using it."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self.burst, self._tokens + (now - self._then) * self.rate)
            self._then = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self.rate)

    async def wait(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        delay = self.reserve()
        if delay > 0:
            await sleep(delay)
