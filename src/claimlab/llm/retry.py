"""The patient layer: what failed in passing is tried again, at the pace that the endpoint takes."""

from __future__ import annotations

from dataclasses import replace

from claimlab.core.calls.pace import Gate
from claimlab.core.calls.retry import Passing, Retries, patiently
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider


class Patient:
    def __init__(self, inner: Provider, *, concurrency: int, retries: Retries) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.gate = Gate(concurrency)
        self.retries = retries

    async def ask(self, request: Request[T]) -> Answer[T]:
        calls, seconds = 0, 0.0

        async def attempt() -> Answer[T]:
            nonlocal calls, seconds
            answer = await self.inner.ask(request)
            calls, seconds = calls + answer.calls, seconds + answer.seconds
            return answer

        answer = await patiently(attempt, _passing, self.retries, self.gate)
        return replace(answer, calls=calls, seconds=seconds)

    async def close(self) -> None:
        await self.inner.close()


def _passing(answer: Answer[T]) -> Passing | None:
    return Passing(answer.retry_after, answer.failure == "http-429") if answer.transient else None
