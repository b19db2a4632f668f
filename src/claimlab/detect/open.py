"""From the words of a command to what a detector must be handed: models and searches behind one budget, recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.budget import Budget
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.llm.cache import Cache
from claimlab.llm.open import open_provider
from claimlab.llm.validate import Validated
from claimlab.search.cache import Mode, Recording
from claimlab.search.http import Http
from claimlab.search.named import named_chain


@dataclass(frozen=True)
class Access:
    """`profile` and `search_profile` name models, `providers` where to search, each the fallback of the one before.
    `cache` is the folder of recordings; `budget` holds for models and searches together."""

    profile: str | None = None
    model: str | None = None
    search_profile: str | None = None
    search_model: str | None = None
    providers: Sequence[str] = ()
    cache: Path | None = None
    mode: Mode = "record"
    budget: Budget = field(default_factory=Budget)
    progress: Progress = silent


@contextmanager
def open_handles(access: Access) -> Iterator[dict[str, Any]]:
    """The handles that `access` names: `model`, `search_model`, `search`; those it does not name are left out."""
    with ExitStack() as stack:
        found: dict[str, Any] = {}
        if access.profile is not None:
            found["model"] = _model(access, access.profile, access.model, stack)
        if access.search_profile is not None:
            found["search_model"] = _model(access, access.search_profile, access.search_model, stack)
        if access.providers:
            found["search"] = _search(access, stack)
        yield found


def recordings(access: Access) -> Path:
    """The folder of recordings; a replay of what was never recorded is a sentence."""
    if access.cache is None:
        raise UsageError(f"Mode '{access.mode}' needs a folder for the recordings.", "Name one with --cache DIR.")
    return access.cache


def _model(access: Access, profile: str, model: str | None, stack: ExitStack) -> Validated:
    file = recordings(access) / "llm.sqlite" if access.mode != "live" else None
    if access.mode == "replay" and file is not None and not file.is_file():
        raise UnreadableFile(f"There is no recording '{file}'.", "Make one first, with mode 'record'.")
    cache = Cache(file) if file is not None else None
    opened = open_provider(profile, model=model, mode=access.mode, cache=cache, budget=access.budget)
    stack.callback(lambda: sync.run(opened.close()))
    return opened


def _search(access: Access, stack: ExitStack) -> Any:
    recording = None
    if access.mode != "live":
        recording = Recording(recordings(access) / "search.sqlite", must_exist=access.mode == "replay")
        stack.callback(recording.close)
    http = Http(budget=access.budget)
    sync.run(http.__aenter__())
    stack.callback(lambda: sync.run(http.__aexit__()))
    return named_chain(access.providers, http=http, mode=access.mode, recording=recording, progress=access.progress)
