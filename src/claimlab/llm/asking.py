"""Many questions at once, answers as they come, and what became of them: a failing record never
stops the others, and failures are never hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from claimlab.core import sync
from claimlab.core.calls.pool import each
from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider

Fault = Callable[[Request[T], Answer[T]], str | None]


async def ask_again(provider: Provider, request: Request[T], fault: Fault[T]) -> Answer[T]:
    """The answer; where `fault` has something to say against it, a second one, with what both
    cost. The first stands where the second fails."""
    first = await provider.ask(request)
    complaint = fault(request, first) if first.ok else None
    if complaint is None:
        return first
    second = await provider.ask(request.again(first.text or "", complaint))
    return second.after(first) if second.ok else replace(first, calls=first.calls + second.calls)


def gather(
    provider: Provider,
    requests: Iterable[Request[T]],
    *,
    fault: Fault[T] = lambda _request, _answer: None,
    label: str = "Asking the model",
    **settings: Any,
) -> AsyncIterator[tuple[int, Answer[T]]]:
    """Yield (index of the request, its answer) in the order the answers come; `settings` are those
    of `each`.
    """

    async def ask(request: Request[T]) -> Answer[T]:
        try:
            return await ask_again(provider, request, fault)
        except ClaimlabError:
            raise
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            return Answer(
                model=provider.profile.model or provider.profile.name,
                failure="crash",
                detail=detail,
            )

    return each(requests, ask, label=label, **settings)


def ask_sync(provider: Provider, request: Request[T]) -> Answer[T]:
    """`provider.ask` for plain code and notebooks."""
    return sync.run(provider.ask(request))


def gather_sync(
    provider: Provider, requests: Iterable[Request[T]], **settings: Any
) -> Iterator[tuple[int, Answer[T]]]:
    """`gather` for plain code and notebooks."""
    return sync.iterate(gather(provider, requests, **settings))


class Tally:
    """What became of the questions: answers, failures by reason, refusals, tokens and money. Add
    every answer; `summary` is JSON-safe and goes into lineages and reports.

    `cost` is what the answers cost when they were made; `spent` leaves out those that came from the
    cache. Both are null as soon as one answer's cost is unknown, with the number of those beside
    them.
    """

    def __init__(self) -> None:
        self.asked = self.answered = self.cached = self.calls = 0
        self.failures: Counter[str] = Counter()
        self.tokens_in = self.tokens_out = self.tokens_cached = 0
        self._cost = self._spent = 0.0
        self.unpriced = 0
        self.notes: dict[str, None] = {}

    def add(self, answer: Answer[BaseModel]) -> None:
        self.asked += 1
        self.calls += answer.calls
        self.cached += answer.cached
        self.tokens_in += answer.usage.input or 0
        self.tokens_out += answer.usage.output or 0
        self.tokens_cached += answer.usage.cached or 0
        self.notes |= dict.fromkeys(answer.notes)
        if answer.failure is None:
            self.answered += 1
        else:
            self.failures[answer.failure] += 1
        if answer.cost is not None:
            self._cost += answer.cost
            self._spent += 0.0 if answer.cached else answer.cost
        elif answer.text is not None or answer.refusal:
            self.unpriced += 1

    @property
    def refusals(self) -> int:
        return self.failures["refusal"]

    def summary(self) -> JsonObject:
        is_priced = self.unpriced == 0
        return {
            "asked": self.asked,
            "answered": self.answered,
            "refused": self.refusals,
            "failures": dict(sorted(self.failures.items())),
            "from_cache": self.cached,
            "calls": self.calls,
            "tokens": {
                "input": self.tokens_in,
                "cached": self.tokens_cached,
                "output": self.tokens_out,
            },
            "cost": round(self._cost, 9) if is_priced else None,
            "spent": round(self._spent, 9) if is_priced else None,
            "answers_of_unknown_cost": self.unpriced,
            "notes": list(self.notes),
        }
