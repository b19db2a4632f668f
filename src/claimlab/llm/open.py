"""Open a model: the provider that a profile names, with the layers around it."""

from __future__ import annotations

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.pace import Retries
from claimlab.llm.batch import Batched
from claimlab.llm.meter import Metered
from claimlab.llm.profiles import Profile, find_profile
from claimlab.llm.provider import PROVIDERS, Provider
from claimlab.llm.remember import Remembered
from claimlab.llm.retry import Patient
from claimlab.llm.validate import Validated


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
