"""From names to a provider that is ready to be asked: built, recorded or replayed, and chained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.core.errors import UsageError
from claimlab.core.registry import Registry
from claimlab.search.cache import Mode, Recording
from claimlab.search.chain import Chain, Policy
from claimlab.search.http import Http
from claimlab.search.providers.replay import Replay
from claimlab.search.recorded import Recorded
from claimlab.search.results import Provider
from claimlab.search.web import WebProvider

PROVIDERS: Registry[Any] = Registry(
    "search provider", package="claimlab.search.providers", attribute="PROVIDER", group="claimlab.search_providers"
)


def connect(
    names: Sequence[str],
    *,
    http: Http | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    mode: Mode = "live",
    recording: Recording | None = None,
    fall_back: Policy = "on-failure-or-empty",
) -> Chain:
    """The providers `names` as one chain. `settings` holds constructor arguments by provider name."""
    if mode != "live" and recording is None:
        raise UsageError(f"Mode '{mode}' needs a recording.", "Name the file that search calls are recorded in.")
    shared = http if http is not None else Http()
    chosen: list[Provider] = []
    for name in names:
        provider = _build(name, shared, dict((settings or {}).get(name, {})))
        if mode == "replay" and recording is not None:
            provider = Replay(recording, of=provider.name, parameters=provider.parameters())
        elif mode == "record" and recording is not None:
            provider = Recorded(provider, recording)
        chosen.append(provider)
    return Chain(chosen, fall_back=fall_back)


def _build(name: str, http: Http, settings: dict[str, Any]) -> Provider:
    factory = PROVIDERS.get(name)
    if isinstance(factory, type) and issubclass(factory, WebProvider):
        settings.setdefault("http", http)
    try:
        provider: Provider = factory(**settings)
    except TypeError as error:
        raise UsageError(f"The search provider '{name}' cannot be set up: {error}.", "Check its settings.") from None
    return provider
