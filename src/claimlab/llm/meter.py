"""The layer around a single call: its worst cost set aside first, its time bounded, its true cost
settled after.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from claimlab.core.budget import Amount, Budget
from claimlab.core.errors import UsageError
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.provider import Provider
from claimlab.llm.schema import in_words

_PER_MESSAGE = 16  # tokens that a chat template adds around a message, with room to spare


class Metered:
    def __init__(self, inner: Provider, budget: Budget) -> None:
        if budget.money is not None and inner.profile.price is None:
            raise UsageError(
                f"A cap in money needs a price, and none is known for '{inner.profile.model}' "
                f"in the profile '{inner.profile.name}'.",
                "Write a profile with its price (docs/llm.md), or cap tokens or calls instead.",
            )
        self.inner = inner
        self.profile = inner.profile
        self.budget = budget

    async def ask(self, request: Request[T]) -> Answer[T]:
        with await self.budget.reserve(most(request, self.profile)) as hold:
            started = time.monotonic()
            try:
                async with asyncio.timeout(request.timeout or self.profile.timeout):
                    answer = await self.inner.ask(request)
            except TimeoutError:
                waited = time.monotonic() - started
                return Answer(
                    model=self.profile.chosen_model(),
                    failure="timeout",
                    detail=f"no whole reply in {waited:.1f} s",
                    seconds=waited,
                    transient=True,
                )
            hold.settle(actual(answer))
            return replace(answer, seconds=round(time.monotonic() - started, 6))

    async def close(self) -> None:
        await self.inner.close()


def most(request: Request[Any], profile: Profile) -> Amount:
    """The most that one call can cost. A tokenizer makes at most one token of a byte, so bytes
    bound the input.
    """
    schema = len(in_words(request.schema).encode()) if request.schema is not None else 0
    text = sum(
        len(m.content.encode("utf-8", "surrogatepass")) + _PER_MESSAGE for m in request.messages
    )
    tokens_in = text + schema + _PER_MESSAGE
    money = profile.price.cost(tokens_in, request.max_tokens) if profile.price else 0.0
    return Amount(money=money, tokens=tokens_in + request.max_tokens, calls=1)


def actual(answer: Answer[Any]) -> Amount | None:
    """What a call cost; null if unknown."""
    if answer.failure is not None and (
        answer.failure.startswith("http-") or answer.failure == "unreachable"
    ):
        return Amount(calls=answer.calls)  # turned away before a model saw it: not charged for
    if answer.usage.total is None:
        return None
    return Amount(money=answer.cost or 0.0, tokens=answer.usage.total, calls=answer.calls)
