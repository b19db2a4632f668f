"""A provider whose answers are recorded and given again: the same question costs one call, ever. A
failure is recorded too, so that a replay fails where the run failed and a chain falls back where it
fell back. Recording again asks again where a failure was recorded.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.recording import CallQuestion, CallReply
from claimlab.core.errors import SearchFailed
from claimlab.core.types import Json, JsonObject
from claimlab.search.evidence import Evidence
from claimlab.search.query import Query
from claimlab.search.results import Provider, Results


class Recorded:
    """Answers from the recording of `calls` where it can, else asks `provider` and keeps what it
    says.
    """

    def __init__(self, provider: Provider, calls: Calls) -> None:
        self.provider = provider
        self.calls = calls

    @property
    def name(self) -> str:
        return self.provider.name

    def parameters(self) -> JsonObject:
        return self.provider.parameters()

    async def search(self, query: Query) -> Results:
        recording = self.calls.recording
        if recording is None:
            return await self.provider.search(query)
        fresh: Results | None = None

        async def ask() -> CallReply:
            nonlocal fresh
            try:
                fresh = await self.provider.search(query)
            except SearchFailed as failure:
                parts = ("kind", "problem", "todo", "tries")
                failed = {name: getattr(failure, name) for name in parts}
                return CallReply({"failed": failed}, final=False)
            return CallReply(_stored(fresh))

        content = {"query": query.to_json(), "parameters": self.parameters()}
        answer, _ = await recording.answer(CallQuestion(self.name, content), ask)
        results = _restored(answer, query, self.name)
        return results if fresh is None else replace(results, cost=fresh.cost)


def _stored(results: Results) -> JsonObject:
    return {
        "evidence": [piece.to_json() for piece in results.evidence],
        "retrieved": results.retrieved.isoformat(),
        "cost": results.cost,
        "malformed": results.malformed,
        "newer": results.newer,
        "notes": list(results.notes),
    }


def _restored(answer: Json, query: Query, provider: str) -> Results:
    """The recorded answer, or the recorded failure again. It costs nothing now; what it cost then
    stays recorded.
    """
    if "failed" in answer:
        raise SearchFailed(provider, **answer["failed"])
    return Results(
        query=query,
        provider=provider,
        evidence=tuple(Evidence.from_json(raw) for raw in answer["evidence"]),
        retrieved=datetime.fromisoformat(answer["retrieved"]),
        cost=0.0,
        malformed=answer["malformed"],
        newer=answer.get("newer", 0),
        notes=tuple(answer["notes"]),
    )
