"""From the words of a command to the doors of a run: providers, extractor, budget, recordings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from claimlab.core.budget import Budget
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.enrich.extract import ByModel, Extractor, rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.llm.cache import Cache
from claimlab.llm.open import open_provider
from claimlab.search.cache import Mode, Recording
from claimlab.search.chain import Chain
from claimlab.search.http import Http
from claimlab.search.named import named_chain
from claimlab.search.snapshot import PageFetcher


@dataclass(frozen=True)
class Access:
    """`web` and `factcheck` name providers, each the fallback of the one before: "brave", "local:FOLDER". `extract` is
    "model" (then `profile` says which), "offline", "first-sentence" or "none". `cache` is the folder of recordings."""

    web: Sequence[str]
    factcheck: Sequence[str] = ()
    extract: str = "offline"
    profile: str | None = None
    model: str | None = None
    claims: int = 1
    snapshot: bool = False
    cache: Path | None = None
    mode: Mode = "record"
    budget: Budget = field(default_factory=Budget)
    progress: Progress = silent


@asynccontextmanager
async def open_doors(access: Access) -> AsyncIterator[Doors]:
    """The doors, ready to be asked, with one budget over model and search together."""
    recording = _recording(access)
    extractor, model = _extractor(access)
    async with Http(budget=access.budget) as http:
        try:
            web = _chain(access.web, http, access, recording)
            factcheck = _chain(access.factcheck, http, access, recording) if access.factcheck else None
            pages = PageFetcher(mode=access.mode, recording=recording) if access.snapshot else None
            yield Doors(web, factcheck, extractor, pages)
        finally:
            if model is not None:
                await model.close()
            if recording is not None:
                recording.close()


def _recording(access: Access) -> Recording | None:
    if access.mode == "live":
        return None
    if access.cache is None:
        raise UsageError(f"Mode '{access.mode}' needs a folder for the recordings.", "Name one with --cache DIR.")
    return Recording(access.cache / "search.sqlite", must_exist=access.mode == "replay")


def _extractor(access: Access) -> tuple[Extractor | None, Any]:
    if access.profile is not None and access.extract != "model":
        raise UsageError(
            f"The model profile '{access.profile}' would not be asked: claims are extracted by '{access.extract}'.",
            "Add --extract model, or leave --profile out.",
        )
    if access.extract == "none":
        return None, None
    if access.extract != "model":
        return rule_extractor(access.extract, access.claims), None
    if access.profile is None:
        raise UsageError(
            "Extracting by a model needs a profile.", "Name one with --profile; see: claimlab llm profiles"
        )
    file = access.cache / "llm.sqlite" if access.cache is not None else None
    if access.mode == "replay" and file is not None and not file.is_file():
        raise UnreadableFile(f"There is no recording '{file}'.", "Make one first, with mode 'record'.")
    cache = Cache(file) if access.mode != "live" else None
    provider = open_provider(access.profile, model=access.model, mode=access.mode, cache=cache, budget=access.budget)
    return ByModel(provider, access.claims), provider


def _chain(names: Sequence[str], http: Http, access: Access, recording: Recording | None) -> Chain:
    return named_chain(names, http=http, mode=access.mode, recording=recording, progress=access.progress)


def read_countries(given: Sequence[str]) -> Mapping[str, str]:
    """--country BR, or --country por=BR, as often as needed."""
    from claimlab.core.languages import require

    countries = {}
    for item in given:
        language, _, country = item.rpartition("=")
        if len(country) != 2 or not country.isalpha():
            raise UsageError(f"'{item}' is not a country.", "Write --country BR, or --country por=BR for one language.")
        countries[require(language) if language else "*"] = country.upper()
    return countries
