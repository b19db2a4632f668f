"""Open a model: the provider that a profile names, with the layers around it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from claimlab.core.budget import Budget
from claimlab.core.errors import UsageError
from claimlab.llm.cache import Cache
from claimlab.llm.meter import Metered
from claimlab.llm.profiles import Profile, find_profile
from claimlab.llm.provider import PROVIDERS, Provider
from claimlab.llm.remember import Remembered
from claimlab.llm.retry import Patient, Retries
from claimlab.llm.validate import Validated

Mode = Literal["live", "record", "replay"]
MODES: tuple[Mode, ...] = ("live", "record", "replay")


def open_provider(
    profile: str | Profile,
    *,
    model: str | None = None,
    mode: Mode = "record",
    cache: Cache | Path | None = None,
    budget: Budget | None = None,
    concurrency: int = 64,
    retries: Retries | None = None,
) -> Validated:
    """A model that is ready to be asked.

    `mode`: "record" answers from the cache what it holds and keeps what is new (so a stopped run goes on where it
    stopped); "replay" answers from the cache alone, with no key and no network, and a call it does not hold is an
    error; "live" neither reads nor writes it. `cache` is the file (null: the user's own). `budget` caps this and
    everything else that was handed the same one.
    """
    chosen = (find_profile(profile) if isinstance(profile, str) else profile).with_model(model)
    chosen.chosen_model()
    if mode not in MODES:
        raise UsageError(f"There is no cache mode '{mode}'.", f"Choose one of: {', '.join(MODES)}.")
    if mode == "replay":
        from claimlab.llm.providers.replay import Replay

        return Validated(Replay(chosen, _cache(cache)))
    return Validated(layered(PROVIDERS.get(chosen.provider)(chosen), mode, cache, budget, concurrency, retries))


def layered(
    provider: Provider,
    mode: Mode = "record",
    cache: Cache | Path | None = None,
    budget: Budget | None = None,
    concurrency: int = 64,
    retries: Retries | None = None,
) -> Provider:
    """`provider` with budget, patience and memory around it."""
    metered = Metered(provider, budget or Budget())
    at_once = min(concurrency, provider.profile.concurrency or concurrency)
    patient = Patient(metered, concurrency=at_once, retries=retries or Retries())
    return patient if mode == "live" else Remembered(patient, _cache(cache))


def _cache(cache: Cache | Path | None) -> Cache:
    return cache if isinstance(cache, Cache) else Cache(cache)
