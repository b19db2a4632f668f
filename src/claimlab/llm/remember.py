"""The remembering layer: a question that was answered before is answered from the recording, at no
cost.

It sits on single exchanges, below the re-ask: both the unusable first reply and the second one are
kept, so a run that is killed between them pays for neither again. Only a model's own words are
kept, its refusals and unusable replies among them: a failure in passing is not a reply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.recording import Question, Reply
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Request, T, Usage
from claimlab.llm.profiles import Profile
from claimlab.llm.provider import Provider
from claimlab.llm.schema import wire_schema

_FINAL = (None, "refusal")  # what a provider itself reports as the model's own last word


class Remembered:
    def __init__(self, inner: Provider, calls: Calls) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.calls = calls

    async def ask(self, request: Request[T]) -> Answer[T]:
        recording = self.calls.recording
        if recording is None:
            return await self.inner.ask(request)
        fresh: Answer[T] | None = None

        async def ask() -> Reply | None:
            nonlocal fresh
            fresh = await self.inner.ask(request)
            return Reply(stored(fresh)) if fresh.failure in _FINAL else None

        answer, recorded = await recording.answer(question(request, self.profile), ask)
        if answer is None:
            assert fresh is not None, "nothing recorded: it was asked"
            return fresh
        return replace(restored(answer), cached=recorded)

    async def close(self) -> None:
        await self.inner.close()


def question(request: Request[Any], profile: Profile) -> Question:
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
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
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
    return Question(f"model {model}", content, f"{request.name()}, attempt {request.attempt}")


def stored(answer: Answer[Any]) -> JsonObject:
    """What is kept of an answer. The value is not kept: it is read from the text again, by the same
    schema.
    """
    record = answer.record()
    del record["value"]
    return record


def restored(record: JsonObject) -> Answer[Any]:
    usage = Usage(**record["usage"])
    return Answer(**{**record, "usage": usage, "notes": tuple(record["notes"])})
