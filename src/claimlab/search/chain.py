"""Several providers in a row: the next is asked when one fails, or, if so chosen, when it finds
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from claimlab.core.errors import SearchFailed, UsageError
from claimlab.core.types import JsonObject
from claimlab.search.http import Http
from claimlab.search.query import Query
from claimlab.search.results import Attempt, Provider, Results

Policy = Literal["on-failure", "on-failure-or-empty"]


class ProviderChain:
    """A provider made of providers. Every answer says who gave it and how those before fared.

    A spent budget or a missing recording ends the search at once: the next provider would break the
    same promise.
    """

    def __init__(
        self,
        providers: Sequence[Provider],
        *,
        fall_back: Policy = "on-failure-or-empty",
        http: Http | None = None,
    ) -> None:
        if not providers:
            raise UsageError("A chain of search providers is empty.", "Name at least one provider.")
        if fall_back not in ("on-failure", "on-failure-or-empty"):
            raise UsageError(
                f"'{fall_back}' is not a way to fall back.",
                "Use 'on-failure' or 'on-failure-or-empty'.",
            )
        self.providers = tuple(providers)
        self.fall_back = fall_back
        self._http = http  # the connections that its providers share

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()

    @property
    def name(self) -> str:
        return " > ".join(p.name for p in self.providers)

    def parameters(self) -> JsonObject:
        return {
            "fall_back": self.fall_back,
            "providers": [{p.name: p.parameters()} for p in self.providers],
        }

    async def search(self, query: Query) -> Results:
        attempts = []
        empty: Results | None = None
        for provider in self.providers:
            try:
                results = await provider.search(query)
            except SearchFailed as failure:
                attempts.append(Attempt(provider.name, "failed", failure.kind, str(failure)))
                continue
            if results.evidence or self.fall_back == "on-failure":
                attempts.append(Attempt(provider.name, "answered" if results.evidence else "empty"))
                return _with_attempts(results, attempts, empty)
            attempts.append(Attempt(provider.name, "empty"))
            empty = _with_attempts(results, attempts, empty)
        if empty is None:
            raise _all_failed(attempts)
        return replace(empty, attempts=tuple(attempts))


def _with_attempts(results: Results, attempts: list[Attempt], before: Results | None) -> Results:
    """`results` with all attempts; the cost of an empty answer before it is added, and results that
    were too new are counted."""
    if before is None:
        return replace(results, attempts=tuple(attempts))
    cost = None if results.cost is None or before.cost is None else results.cost + before.cost
    return replace(results, attempts=tuple(attempts), cost=cost, newer=results.newer + before.newer)


def _all_failed(attempts: list[Attempt]) -> SearchFailed:
    if len(attempts) == 1:
        reason, kind = attempts[0].reason or "", attempts[0].kind or "all-failed"
    else:
        reason, kind = " ".join(f"{a.provider}: {a.reason}" for a in attempts), "all-failed"
    failure = SearchFailed(
        " > ".join(a.provider for a in attempts),
        kind,
        f"No search provider answered. {reason}",
        "Fix one of them, or search without them: the local provider needs no key.",
    )
    failure.attempts = tuple(attempts)
    failure.kinds = frozenset(a.kind or kind for a in attempts)
    return failure
