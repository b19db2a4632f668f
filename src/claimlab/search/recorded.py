"""A provider whose answers are kept and given again: the same question costs one call, ever.

A failure is kept too, so that a replay fails where the run failed and a chain falls back where it fell back. Recording
again asks again where a failure stands.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from claimlab.core.errors import SearchFailed
from claimlab.search.cache import Recording, key_of
from claimlab.search.evidence import Evidence
from claimlab.search.query import Query
from claimlab.search.results import Provider, Results


class Recorded:
    """Answers from `recording` where it can, else asks `provider` and keeps what it says."""

    def __init__(self, provider: Provider, recording: Recording) -> None:
        self.provider = provider
        self.recording = recording
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def name(self) -> str:
        return self.provider.name

    def parameters(self) -> dict[str, Any]:
        return self.provider.parameters()

    async def search(self, query: Query) -> Results:
        question = question_of(query, self.provider.parameters())
        turn = self._turns.setdefault(key_of(self.name, question), asyncio.Lock())
        async with turn:  # datasets repeat themselves: a question asked twice at once is paid for once
            return await self._search(query, question)

    async def _search(self, query: Query, question: dict[str, Any]) -> Results:
        kept = self.recording.get(self.name, question)
        if kept is not None and "failed" not in kept:
            return restored(kept, query, self.name)
        try:
            results = await self.provider.search(query)
        except SearchFailed as failure:
            self.recording.put(self.name, question, stored_failure(failure), replace=True)
            raise
        kept = self.recording.put(self.name, question, stored(results), replace=kept is not None)
        # read back what was kept, so that the first run and its replay give the same bytes
        return replace(restored(kept, query, self.name), replayed=False, cost=results.cost)


def question_of(query: Query, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"query": query.as_json(), "parameters": parameters}


def stored(results: Results) -> dict[str, Any]:
    return {
        "evidence": [piece.as_json() for piece in results.evidence],
        "retrieved": results.retrieved.isoformat(),
        "cost": results.cost,
        "malformed": results.malformed,
        "notes": list(results.notes),
    }


def stored_failure(failure: SearchFailed) -> dict[str, Any]:
    said = {"kind": failure.kind, "problem": failure.problem, "todo": failure.todo, "tries": failure.tries}
    return {"failed": said}


def restored(kept: dict[str, Any], query: Query, provider: str) -> Results:
    """The recorded answer, or the recorded failure again. It costs nothing now; what it cost then stays recorded."""
    if "failed" in kept:
        raise SearchFailed(provider, **kept["failed"])
    return Results(
        query=query,
        provider=provider,
        evidence=tuple(Evidence.from_json(raw) for raw in kept["evidence"]),
        retrieved=datetime.fromisoformat(kept["retrieved"]),
        cost=0.0,
        malformed=kept["malformed"],
        notes=tuple(kept["notes"]),
        replayed=True,
    )
