"""What a provider charges and how fast it may be asked: facts in data/terms.toml, with the day they were read."""

from __future__ import annotations

import asyncio
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources

CAUTIOUS_RATE = 2.0  # calls a second, for a provider of which nothing is known


@dataclass(frozen=True)
class Terms:
    """`price` is US dollars a call (null: not known). `rate` is calls a second that this client allows itself."""

    price: float | None = None
    rate: float = CAUTIOUS_RATE
    note: str = ""


@cache
def terms(name: str) -> Terms:
    text = (resources.files("claimlab.search") / "data" / "terms.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text).get(name, {})
    return Terms(price=raw.get("price"), rate=raw.get("rate", CAUTIOUS_RATE), note=raw.get("note", ""))


class TokenBucket:
    """At most `rate` calls a second on average, `burst` at once. Shared by every task and thread that holds it."""

    def __init__(self, rate: float, burst: int = 1, *, clock: Callable[[], float] = time.monotonic) -> None:
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


_buckets: dict[str, TokenBucket] = {}


def bucket_of(name: str) -> TokenBucket:
    """The one bucket of a provider in this process: two chains that use it share its limit."""
    if name not in _buckets:
        rate = terms(name).rate
        _buckets[name] = TokenBucket(rate, burst=max(1, int(rate)))
    return _buckets[name]
