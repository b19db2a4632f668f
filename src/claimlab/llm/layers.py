"""The layers around a provider, from the inside out: each has its one method and one job.

`Metered` sets the worst cost of a call aside first, bounds its time and settles the true cost
after. `Patient` tries again what failed in passing, at the pace that the endpoint takes.
`Remembered` answers from the recording what was answered before, at no cost. `Validated` reads the
reply by its schema and asks once more when it does not fit; then the value is null. A refusal is a
result: it is recorded and counted, and the question is not put again in other words.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace

from pydantic import BaseModel

from claimlab.core.budget import Amount, Budget
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.pace import Gate
from claimlab.core.calls.recording import CallQuestion, CallReply
from claimlab.core.calls.retries import Passing, Retries, patiently
from claimlab.core.errors import EndpointRefused, UsageError
from claimlab.core.types import JsonObject
from claimlab.llm.messages import CUT, Answer, Request, T, Unread, Usage
from claimlab.llm.profiles import Profile
from claimlab.llm.provider import Provider
from claimlab.llm.schema import Unfit, in_words, read, wire_schema

_TOKENS_PER_MESSAGE = 16  # tokens that a chat template adds around a message, with room to spare
_HOPELESS_REPLIES = 5  # unusable replies of one kind in a row, over all questions
_ALIKE_CHARACTERS = 60  # characters of the reason that make two replies one kind
_FINAL = (None, "refusal")  # what a provider itself reports as the model's own last word
_CHARACTERS_SHOWN_BACK = 4000  # characters of an unusable reply shown back to the model
_REFUSES = re.compile(
    r"^\W*+(?:(?:i['’]?m|i am)\s+(?:very\s+)?sorry|sorry|i"
    r" apologi[sz]e|unfortunately)?[\s,.;:—-]*+(?:but\s+)?"
    r"i\s*(?:can(?:no|['’]?)t|can not|won['’]?t|will not|must decline to|(?:['’]?m|am)"
    r" (?:unable|not able) to)"
    r"\s+(?:help|assist|comply|provide|answer|fulfil|generate|create|write|produce|engage|do"
    r" that|continue|support)",
    re.IGNORECASE,
)


class Layer:
    """What every layer has: the provider inside it, whose profile it shows and whom it closes."""

    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self.profile = inner.profile

    async def close(self) -> None:
        await self.inner.close()


class Metered(Layer):
    def __init__(self, inner: Provider, budget: Budget) -> None:
        super().__init__(inner)
        if budget.money is not None and self.profile.price is None:
            raise UsageError(
                f"A cap in money needs a price, and none is known for '{self.profile.model}' "
                f"in the profile '{self.profile.name}'.",
                "Write a profile with its price (docs/llm.md), or cap tokens or calls instead.",
            )
        if budget.money is not None:
            self.profile.granted("price")  # a cap means nothing where a stranger says it is free
        self.budget = budget

    async def ask(self, request: Request[T]) -> Answer[T]:
        with await self.budget.reserve(most(request, self.profile)) as hold:
            started = time.monotonic()
            try:
                async with asyncio.timeout(request.timeout or self.profile.timeout):
                    answer = await self.inner.ask(request)
            except TimeoutError:
                waited = time.monotonic() - started
                reason = f"no whole reply in {waited:.1f} s"
                return self.profile.failed("timeout", reason, seconds=waited, transient=True)
            hold.settle(actual(answer))
            return replace(answer, seconds=round(time.monotonic() - started, 6))


def most(request: Request[BaseModel], profile: Profile) -> Amount:
    """The most that one call can cost. A tokenizer makes at most one token of a byte, so bytes
    bound the input.
    """
    schema = len(in_words(request.schema).encode()) if request.schema is not None else 0
    text = sum(
        len(message.content.encode("utf-8", "surrogatepass")) + _TOKENS_PER_MESSAGE
        for message in request.messages
    )
    tokens_in = text + schema + _TOKENS_PER_MESSAGE
    money = profile.price.cost(tokens_in, request.max_tokens) if profile.price else 0.0
    return Amount(money=money, tokens=tokens_in + request.max_tokens, calls=1)


def actual(answer: Answer[BaseModel]) -> Amount | None:
    """What a call cost; null if unknown."""
    if answer.failure is not None and (
        answer.failure.startswith("http-") or answer.failure == "unreachable"
    ):
        return Amount(calls=answer.calls)  # turned away before a model saw it: not charged for
    if answer.usage.total is None:
        return None
    return Amount(money=answer.cost or 0.0, tokens=answer.usage.total, calls=answer.calls)


class Patient(Layer):
    """An endpoint that gives the same unusable reply again and again (a page of HTML, an empty list
    of choices) will go on so: the run stops with the cause, instead of spending its cap on it.
    """

    def __init__(self, inner: Provider, *, concurrency: int, retries: Retries) -> None:
        super().__init__(inner)
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

    def _count(self, answer: Answer[BaseModel], question: str) -> None:
        """Stop where the endpoint is not what the profile takes it for: two questions are enough
        where it has answered none so far, five where it has."""
        self._answered |= answer.failure in _FINAL
        kind = f"{answer.failure}: {answer.detail}" if answer.failure == "bad-response" else ""
        if not kind or kind[:_ALIKE_CHARACTERS] != self._kind[:_ALIKE_CHARACTERS]:
            self._kind, self._in_a_row, self._questions = kind, 0, set()
        if not kind:
            return
        self._in_a_row += 1
        self._questions.add(question)
        enough = _HOPELESS_REPLIES if self._answered else 2
        if self._in_a_row >= _HOPELESS_REPLIES and len(self._questions) >= enough:
            raise EndpointRefused(
                f"The endpoint of '{self.profile.name}' gave {self._in_a_row} unusable replies in a"
                f" row ({kind}).",
                "Check base_url and model of the profile; what was answered before is kept.",
            )


def _passing(answer: Answer[BaseModel]) -> Passing | None:
    return Passing(answer.retry_after, answer.failure == "http-429") if answer.transient else None


class Remembered(Layer):
    """It sits on single exchanges, below the re-ask: both the unusable first reply and the second
    one are kept, so a run that is killed between them pays for neither again. Only a model's own
    words are kept, its refusals and unusable replies among them: a failure in passing is not a
    reply.
    """

    def __init__(self, inner: Provider, calls: Calls) -> None:
        super().__init__(inner)
        self.calls = calls

    async def ask(self, request: Request[T]) -> Answer[T]:
        recording = self.calls.recording
        if recording is None:
            return await self.inner.ask(request)
        fresh: Answer[T] | None = None

        async def ask() -> CallReply | None:
            nonlocal fresh
            fresh = await self.inner.ask(request)
            return CallReply(stored(fresh)) if fresh.failure in _FINAL else None

        answer, recorded = await recording.answer(question(request, self.profile), ask)
        if answer is None:
            assert fresh is not None, "nothing recorded: it was asked"
            return fresh
        return replace(restored(answer), cached=recorded)


def question(request: Request[BaseModel], profile: Profile) -> CallQuestion:
    """Everything that shapes the reply, and nothing that does not (no URL, key, time limit or
    tag).
    """
    bounds = profile.schema_bounds
    schema = (
        wire_schema(request.schema, bounds=bounds)["schema"] if request.schema is not None else None
    )
    model = profile.chosen_model()
    content = {
        "model": model,
        "messages": request.wire(),
        "schema": schema,
        "parameters": {
            "temperature": None if request.temperature is None else float(request.temperature),
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "schema_bound": profile.schema_bound if schema is not None else None,
            "more": profile.parameters,
        },
        "attempt": request.attempt,
    }
    return CallQuestion(f"model {model}", content, f"{request.name()}, attempt {request.attempt}")


def stored(answer: Answer[BaseModel]) -> JsonObject:
    """What is kept of an answer. The value is not kept: it is read from the text again, by the same
    schema.
    """
    record = answer.record()
    del record["value"]
    return record


def restored(record: JsonObject) -> Unread:
    usage = Usage(**record["usage"])
    return Answer(**{**record, "usage": usage, "notes": tuple(record["notes"])})


class Validated(Layer):
    @property
    def standing(self) -> str | None:
        """What results made with this model are worth, where that must be said."""
        return self.profile.standing

    async def ask(self, request: Request[T]) -> Answer[T]:
        request = self.profile.limited(request)
        first = judged(await self.inner.ask(request), request)
        if first.failure not in ("invalid-json", "invalid-schema"):
            return first
        complaint = (
            f"That reply cannot be used: {first.detail}. "
            "Reply again with only the JSON object that was asked for, and nothing else."
        )
        second = await self.inner.ask(
            request.again((first.text or "")[:_CHARACTERS_SHOWN_BACK], complaint)
        )
        return judged(second, request).after(first)


def judged(answer: Answer[T], request: Request[T]) -> Answer[T]:
    """The answer with its value, or with the reason why there is none."""
    if answer.failure is not None:
        return answer
    text = answer.text or ""
    if request.schema is not None:
        try:
            return replace(answer, value=read(text, request.schema))
        except Unfit as unfit:
            if unfit.kind != "invalid-json" or not _REFUSES.match(text):
                detail = f"{unfit}; {CUT}" if CUT in answer.notes else str(unfit)
                return replace(answer, failure=unfit.kind, detail=detail)
    elif not text.strip():
        return replace(answer, failure="empty", detail="the reply has no text")
    elif not _REFUSES.match(text):
        return answer
    return replace(answer, failure="refusal", detail="the reply is a refusal in words")
