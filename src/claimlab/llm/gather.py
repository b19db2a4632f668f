"""Many questions at once, answers as they come: a failing record never stops the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.pool import each
from claimlab.core.errors import ClaimlabError
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.provider import Provider


def gather(
    provider: Provider,
    requests: Iterable[Request[T]],
    *,
    label: str = "Asking the model",
    **settings: Any,
) -> AsyncIterator[tuple[int, Answer[T]]]:
    """Yield (index of the request, its answer) in the order the answers come; `settings` are those
    of `each`.
    """

    async def ask(request: Request[T]) -> Answer[T]:
        try:
            return await provider.ask(request)
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
