"""One tiny request, to see whether a model answers: what `claimlab llm test` shows."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.pace import Retries
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Request
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile


class Colour(BaseModel):
    colour: Literal["red", "green", "blue"]
    letters: int


QUESTION = (
    'Which colour is the sky on a clear day? Reply as JSON: {"colour": …, "letters": how many'
    " letters it has}."
)


def try_model(profile: str | Profile, model: str | None = None) -> JsonObject:
    """Ask once, past the cache, and report; the model is loaded before the clock starts."""
    return sync.run(_try(profile, model))


async def _try(profile: str | Profile, model: str | None) -> JsonObject:
    provider = open_provider(
        profile, model=model, calls=Calls(mode="live"), retries=Retries(faults=1, too_many=2)
    )
    try:
        answer: Answer[Colour] = await provider.inner.ask(
            Request.of("Say hello.", schema=None, max_tokens=4)
        )
        if answer.ok or answer.refusal:
            answer = await provider.ask(Request.of(QUESTION, schema=Colour, max_tokens=60, seed=0))
    finally:
        await provider.close()
    out = answer.usage.output
    return {
        "profile": provider.profile.name,
        "base_url": provider.profile.base_url,
        "model": answer.model,
        "failure": answer.failure,
        "detail": answer.detail,
        "answer": None if answer.value is None else answer.value.model_dump(),
        "schema": _schema(answer, provider.profile),
        "seconds": round(answer.seconds, 3),
        "tokens": {"input": answer.usage.input, "output": out},
        "tokens_per_second": round(out / answer.seconds, 2) if out and answer.seconds else None,
        "cost": answer.cost,
        "standing": provider.standing,
    }


def _schema(answer: Answer[Colour], profile: Profile) -> str:
    failure = answer.failure or ""
    how = "bound by the endpoint" if profile.schema_bound else "asked for in words"
    if answer.value is None and not failure.startswith("invalid"):
        return "not measured"
    if answer.value is None:
        return f"does not work ({how})"
    return f"works ({how})" if answer.calls == 1 else f"works after a second try ({how})"
