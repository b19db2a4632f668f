"""The patient layer: what failed in passing is tried again, with growing, jittered waits, a bounded number of times."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, replace

from claimlab.llm.gate import Gate
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider


@dataclass(frozen=True)
class Retries:
    """How patient to be. "Too many requests" is the endpoint pacing us, not failing, and is given more tries."""

    faults: int = 5  # tries after the first, for timeouts, lost connections, 5xx and garbled replies
    too_many: int = 20  # tries after the first, for 429
    first: float = 0.5  # seconds; doubled for every further try
    longest: float = 30.0
    patience: float = 120.0  # an endpoint that says "come back later than this" is not waited for

    def wait(self, nth: int, told: float | None) -> float:
        """Seconds before retry `nth`: never sooner than the endpoint said, never all callers at one instant."""
        backoff = min(self.longest, self.first * 2**nth) * random.uniform(0.5, 1.0)
        return backoff if told is None else told * random.uniform(1.0, 1.1) + random.uniform(0.0, 0.05)


class Patient:
    def __init__(self, inner: Provider, *, concurrency: int, retries: Retries) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.gate = Gate(concurrency)
        self.retries = retries

    async def ask(self, request: Request[T]) -> Answer[T]:
        calls, seconds, faults, refused = 0, 0.0, 0, 0
        while True:
            answer, wait = await self._once(request, faults + refused)
            calls, seconds = calls + answer.calls, seconds + answer.seconds
            if answer.failure == "http-429":
                refused += 1
            else:
                faults += 1
            over = faults > self.retries.faults or refused > self.retries.too_many or wait > self.retries.patience
            if not answer.transient or over:
                return replace(answer, calls=calls, seconds=seconds)
            await asyncio.sleep(wait)

    async def _once(self, request: Request[T], nth: int) -> tuple[Answer[T], float]:
        entered = await self.gate.enter()
        try:
            answer = await self.inner.ask(request)
            wait = self.retries.wait(nth, answer.retry_after) if answer.transient else 0.0
            if answer.failure == "http-429":
                self.gate.too_many(entered, min(answer.retry_after or 0.0, self.retries.patience))
            elif not answer.transient:
                self.gate.went_well()
            return answer, wait
        finally:
            self.gate.leave()

    async def close(self) -> None:
        await self.inner.close()
