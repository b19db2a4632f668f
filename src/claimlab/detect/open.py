"""From the words of a command to what a detector needs: models and searches, called as `calls` says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.llm.open import open_provider
from claimlab.search.named import named_chain


@contextmanager
def open_handles(
    calls: Calls,
    *,
    profile: str | None = None,
    model: str | None = None,
    search_profile: str | None = None,
    search_model: str | None = None,
    providers: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """The handles that are named: `model`, `search_model`, `search`; the others are left out. `profile` and
    `search_profile` name models, `providers` where to search, each the fallback of the one before."""
    handles: dict[str, Any] = {}
    if profile is not None:
        handles["model"] = open_provider(profile, model=model, calls=calls)
    if search_profile is not None:
        handles["search_model"] = open_provider(search_profile, model=search_model, calls=calls)
    if providers:
        handles["search"] = named_chain(providers, calls)
    with ExitStack() as stack:
        for handle in handles.values():
            stack.callback(_close, handle)
        yield handles


def _close(handle: Any) -> None:
    sync.run(handle.close())
