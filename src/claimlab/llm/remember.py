"""The remembering layer: a question that was answered before is answered from the cache, at no cost.

It sits on single exchanges, below the re-ask: both the unusable first reply and the second one are kept, so a run that
is killed between them pays for neither again.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from claimlab.llm.cache import Cache, Question, question
from claimlab.llm.messages import Answer, Request, T, Usage
from claimlab.llm.provider import Provider

_FINAL = (None, "refusal")  # what a provider itself reports as the model's own last word


class Remembered:
    def __init__(self, inner: Provider, cache: Cache) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.cache = cache
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}

    async def ask(self, request: Request[T]) -> Answer[T]:
        asked = question(request, self.profile)
        lock, users = self._turns.get(asked.key) or (asyncio.Lock(), 0)
        self._turns[asked.key] = (lock, users + 1)
        try:
            async with lock:  # the same question asked twice at once is paid for once
                return await self._ask(request, asked)
        finally:
            lock, users = self._turns.pop(asked.key)
            if users > 1:
                self._turns[asked.key] = (lock, users - 1)

    async def _ask(self, request: Request[T], asked: Question) -> Answer[T]:
        kept = self.cache.get(asked)
        if kept is not None:
            return restored(kept)
        answer = await self.inner.ask(request)
        if answer.failure not in _FINAL:
            return answer
        return replace(restored(self.cache.put(asked, stored(answer))), cached=False)

    async def close(self) -> None:
        await self.inner.close()


def stored(answer: Answer[Any]) -> dict[str, Any]:
    """What the cache keeps of an answer. The value is not kept: it is read from the text again, by the same schema."""
    record = answer.record()
    del record["value"]
    return record


def restored(record: dict[str, Any]) -> Answer[Any]:
    usage = Usage(**record["usage"])
    return Answer(**{**record, "usage": usage, "notes": tuple(record["notes"])}, cached=True)
