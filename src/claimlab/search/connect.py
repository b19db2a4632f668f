"""From names to a provider that is ready to be asked: built, recorded or replayed, and chained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import UsageError
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.search.chain import Chain, Policy
from claimlab.search.http import Http
from claimlab.search.recorded import Recorded
from claimlab.search.results import Provider
from claimlab.search.web import WebProvider

PROVIDERS: Registry[Any] = Registry(
    "search provider",
    package="claimlab.search.providers",
    attribute="PROVIDER",
    group="claimlab.search_providers",
)


def connect(
    names: Sequence[str],
    calls: Calls,
    *,
    http: Http | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    fall_back: Policy = "on-failure-or-empty",
) -> Chain:
    """The providers `names` as one chain. `settings` holds constructor arguments by provider
    name.
    """
    shared = http if http is not None else Http(budget=calls.budget)
    providers = [
        Recorded(_build(name, shared, dict((settings or {}).get(name, {}))), calls)
        for name in names
    ]
    return Chain(providers, fall_back=fall_back, http=shared)


def _build(name: str, http: Http, settings: JsonObject) -> Provider:
    factory = PROVIDERS.get(name)
    if isinstance(factory, type) and issubclass(factory, WebProvider):
        settings.setdefault("http", http)
    try:
        provider: Provider = factory(**settings)
    except TypeError as error:
        raise UsageError(
            f"The search provider '{name}' cannot be set up: {error}.", "Check its settings."
        ) from None
    return provider
