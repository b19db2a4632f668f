"""The patient layer: what failed in passing is tried again, at the pace that the endpoint takes.

An endpoint that gives the same unusable reply again and again (a page of HTML, an empty list of choices) will go on
so: the run stops with the cause, instead of spending its cap on it.
"""

from __future__ import annotations

from dataclasses import replace

from claimlab.core.calls.pace import Gate
from claimlab.core.calls.retry import Passing, Retries, patiently
from claimlab.core.errors import EndpointRefused
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider

HOPELESS = 5  # unusable replies of one kind in a row, over all questions
ALIKE = 60  # characters of the reason that make two replies one kind


class Patient:
    def __init__(self, inner: Provider, *, concurrency: int, retries: Retries) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.gate = Gate(concurrency)
        self.retries = retries
        self._kind, self._in_a_row, self._any_reply = "", 0, False

    async def ask(self, request: Request[T]) -> Answer[T]:
        calls, seconds = 0, 0.0

        async def attempt() -> Answer[T]:
            nonlocal calls, seconds
            answer = await self.inner.ask(request)
            calls, seconds = calls + answer.calls, seconds + answer.seconds
            self._count(answer)
            return answer

        answer = await patiently(attempt, _passing, self.retries, self.gate)
        return replace(answer, calls=calls, seconds=seconds)

    def _count(self, answer: Answer[T]) -> None:
        """Stop where the endpoint is not what the profile takes it for. A request that it refuses (HTTP 400) may be
        the fault of one text, so that counts only while no other was answered."""
        failure = answer.failure or ""
        self._any_reply |= failure in ("", "refusal")
        refused = failure.startswith(("http-3", "http-4")) and not answer.transient and not self._any_reply
        kind = f"{failure}: {(answer.detail or 'no reason given')}" if failure == "bad-response" or refused else ""
        same = bool(kind) and kind[:ALIKE] == self._kind[:ALIKE]
        self._kind, self._in_a_row = kind, self._in_a_row + 1 if same else int(bool(kind))
        if self._in_a_row >= HOPELESS:
            raise EndpointRefused(
                f"The endpoint of '{self.profile.name}' gave {HOPELESS} unusable replies in a row ({kind}).",
                "Check base_url and model of the profile; what was answered before is kept.",
            )

    async def close(self) -> None:
        await self.inner.close()


def _passing(answer: Answer[T]) -> Passing | None:
    return Passing(answer.retry_after, answer.failure == "http-429") if answer.transient else None
