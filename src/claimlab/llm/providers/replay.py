"""Answers from the cache alone: no key, no network, no cost. A call that was never recorded is an error."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.errors import ReplayMiss
from claimlab.llm.cache import Cache, question
from claimlab.llm.messages import Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.remember import restored


class Replay:
    def __init__(self, profile: Profile, cache: Cache | None = None) -> None:
        self.profile = profile
        place = profile.options.get("cache")
        self.cache = cache or Cache(Path(place) if place else None)

    async def ask(self, request: Request[T]) -> Answer[T]:
        asked = question(request, self.profile)
        kept = self.cache.get(asked)
        if kept is None:
            raise ReplayMiss(
                f"The cache '{self.cache.path}' does not hold the call {request.name()} "
                f"to {asked.model} (attempt {request.attempt}, key {asked.key[:12]}).",
                "Record it first (mode record), or replay with the model, parameters and data of the recorded run.",
            )
        return restored(kept)

    async def close(self) -> None:
        pass


PROVIDER = Replay
