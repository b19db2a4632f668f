"""Open a model: the provider that a profile names, with the layers around it; and try one."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.retries import Retries
from claimlab.core.types import JsonObject
from claimlab.llm.batch import Batched
from claimlab.llm.layers import Metered, Patient, Remembered, Validated
from claimlab.llm.messages import Answer, Request
from claimlab.llm.profiles import Profile, find_profile
from claimlab.llm.provider import PROVIDERS, Provider

QUESTION = (
    'Which colour is the sky on a clear day? Reply as JSON: {"colour": …, "letters": how many'
    " letters it has}."
)


def open_provider(
    profile: str | Profile,
    *,
    model: str | None = None,
    calls: Calls,
    retries: Retries | None = None,
) -> Validated:
    """A model that is ready to be asked. Its key is read, and the recording of `calls` opened, when
    it first is.
    """
    chosen = (find_profile(profile) if isinstance(profile, str) else profile).with_model(model)
    chosen.chosen_model()
    return layered(PROVIDERS.get(chosen.provider)(chosen), calls, retries)


def layered(provider: Provider, calls: Calls, retries: Retries | None = None) -> Validated:
    """`provider` with budget, patience, memory and validation around it."""
    if calls.mode == "replay":  # the provider is never asked, and nothing is spent
        return Validated(Remembered(provider, calls))
    if calls.deferred is not None:
        return Validated(Remembered(Batched(provider, calls), calls))
    metered = Metered(provider, calls.budget)
    at_once = min(calls.concurrency, provider.profile.concurrency or calls.concurrency)
    return Validated(
        Remembered(Patient(metered, concurrency=at_once, retries=retries or Retries()), calls)
    )


class Colour(BaseModel):
    colour: Literal["red", "green", "blue"]
    letters: int


def try_model(profile: str | Profile, model: str | None = None) -> JsonObject:
    """One tiny request, to see whether a model answers: what `claimlab llm test` shows. It is
    asked past the cache, and the model is loaded before the clock starts."""
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
