"""The patient layer: what failed in passing is tried again, at the pace that the endpoint takes.

An endpoint that gives the same unusable reply again and again (a page of HTML, an empty list of
choices) will go on so: the run stops with the cause, instead of spending its cap on it.
"""

from __future__ import annotations

from dataclasses import replace

from claimlab.core.calls.pace import Gate, Passing, Retries, patiently
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
        self._kind, self._in_a_row, self._questions, self._answered = "", 0, set[str](), False

    async def ask(self, request: Request[T]) -> Answer[T]:
        calls, seconds, question = 0, 0.0, str(request.messages)

        async def attempt() -> Answer[T]:
            nonlocal calls, seconds
            answer = await self.inner.ask(request)
            calls, seconds = calls + answer.calls, seconds + answer.seconds
            self._count(answer, question)
            return answer

        answer = await patiently(attempt, _passing, self.retries, self.gate)
        return replace(answer, calls=calls, seconds=seconds)

    def _count(self, answer: Answer[T], question: str) -> None:
        """Stop where the endpoint is not what the profile takes it for: two questions are enough
        where it has answered none so far, five where it has."""
        self._answered |= answer.failure in (None, "refusal")
        kind = f"{answer.failure}: {answer.detail}" if answer.failure == "bad-response" else ""
        if not kind or kind[:ALIKE] != self._kind[:ALIKE]:
            self._kind, self._in_a_row, self._questions = kind, 0, set()
        if not kind:
            return
        self._in_a_row += 1
        self._questions.add(question)
        if self._in_a_row >= HOPELESS and len(self._questions) >= (
            HOPELESS if self._answered else 2
        ):
            raise EndpointRefused(
                f"The endpoint of '{self.profile.name}' gave {self._in_a_row} unusable replies in a"
                f" row ({kind}).",
                "Check base_url and model of the profile; what was answered before is kept.",
            )

    async def close(self) -> None:
        await self.inner.close()


def _passing(answer: Answer[T]) -> Passing | None:
    return Passing(answer.retry_after, answer.failure == "http-429") if answer.transient else None
