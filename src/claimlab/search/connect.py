"""From the words of a command ("brave", "local:FOLDER") to a chain of search providers that is
ready to be asked: built, recorded or replayed, and each a fallback of the one before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.places import cache_folder
from claimlab.core.registry import Registry
from claimlab.core.remote import to_read
from claimlab.core.types import JsonObject
from claimlab.search.chain import Policy, ProviderChain
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.http import Http
from claimlab.search.local import MANIFEST, LocalIndex, build_index
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
) -> ProviderChain:
    """The providers `names` as one chain. `settings` holds constructor arguments by provider
    name.
    """
    shared = http if http is not None else Http(budget=calls.budget)
    providers = [
        Recorded(_build(name, shared, dict((settings or {}).get(name, {}))), calls)
        for name in names
    ]
    return ProviderChain(providers, fall_back=fall_back, http=shared)


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


Says = Callable[[Path], bool]


def named_chain(
    names: Sequence[str],
    calls: Calls,
    *,
    factcheck: bool | Says = False,
    passage: int | None = None,
    meaning: SentenceEncoder | None = None,
) -> ProviderChain:
    """The providers that `names` name; what "local:FOLDER" points at is indexed first where it is
    not an index yet. With `factcheck`, or where it says so of a folder, what is found there are
    fact-checks, and the labels of a dataset are their ratings. `passage` is how much of a document
    a local index gives, in characters; with `meaning` it is searched by sentence vectors too."""
    plain: list[str] = []
    settings: dict[str, JsonObject] = {}
    for name in names:
        kind, _, place = name.partition(":")
        if kind in plain:
            raise UsageError(
                f"The search provider '{kind}' is in one chain twice.", "Name it once."
            )
        plain.append(kind)
        if kind == "local":
            rated = factcheck if isinstance(factcheck, bool) else factcheck(to_read(place))
            index = LocalIndex(index_at(place, factcheck=rated), meaning)
            settings[kind] = {"index": index}
            settings[kind] |= {"passage": passage} if passage is not None else {}
        elif place:
            raise UsageError(
                f"'{name}' names a place, and only local:FOLDER has one.", f"Write: {kind}"
            )
    return connect(plain, calls, settings=settings)


def index_at(place: str, *, factcheck: bool = False) -> Path:
    """The index at `place`; a dataset, a folder of documents or a file is indexed first, in the
    user's cache folder.
    """
    if not place:
        raise UsageError(
            "The local provider needs a place.", "Write local:FOLDER, an index or what to index."
        )
    path = to_read(place)
    if (path / MANIFEST).is_file():
        if factcheck and not LocalIndex(path).manifest.reviews:
            todo = (
                "Give what it was built from, or build it with build_index(source, folder,"
                " factcheck=True)."
            )
            raise UsageError(f"The index '{path}' holds no fact-checks.", todo)
        return path
    if not path.exists():
        raise UnreadableFile(f"There is no '{path}' to search in.", "Check the path after local:")
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    target = cache_folder() / "indexes" / (f"{name}-factchecks" if factcheck else name)
    build_index(path, target, factcheck=factcheck)
    return target
