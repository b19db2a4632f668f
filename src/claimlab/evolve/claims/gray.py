"""The gray area: noise that makes claims and non-claims harder to distinguish, without changing
which is which.

The kinds of noise are data (data/gray.toml). Which sentences get which is drawn from the seed and
the sentence's id, so that it does not depend on the model or on other sentences. A claim keeps its
figures: a rewriting that changes one is not taken.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace

from pydantic import BaseModel, Field

from claimlab.core.progress import Progress
from claimlab.core.types import JsonObject
from claimlab.evolve.claims.contexts import Draft
from claimlab.evolve.claims.model import read_data
from claimlab.llm.gather import Tally, gather_sync
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

SYMBOLS = ("🔥", "👀", "!!!", "😮", "…", "⚠️", ">>", "💥")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


class Rewritten(BaseModel):
    text: str = Field(min_length=1, max_length=800)


def grayed(
    drafts: list[Draft],
    provider: Provider,
    share: float,
    seed: int,
    prompt: Prompt,
    tally: Tally,
    dropped: Counter[str],
    progress: Progress,
) -> list[Draft]:
    """The same sentences, some with noise; one whose rewriting fails or is not taken stays as it
    was.
    """
    noises = {
        i: noise
        for i, draft in enumerate(drafts)
        if (noise := noise_for(draft, share, seed)) is not None
    }
    rewrites = {
        i: _with_symbol(drafts[i], seed) for i, noise in noises.items() if noise == "symbols"
    }
    asks = [i for i in noises if i not in rewrites]
    requests = [rewrite_request(drafts[i], noises[i], seed, prompt) for i in asks]
    for index, answer in gather_sync(
        provider, requests, progress=progress, label="Into the gray area"
    ):
        tally.add(answer)
        draft = drafts[asks[index]]
        text = " ".join(answer.value.text.split()) if answer.value is not None else None
        if text == draft.text:
            dropped["noise that changed nothing"] += 1
        elif text is not None and draft.label == "claim" and figures(text) != figures(draft.text):
            dropped["noise that changed a figure"] += 1
        elif text is not None:
            rewrites[asks[index]] = text
    return [
        (
            replace(draft, text=rewrites[i], noise=noises[i], before=draft.text)
            if i in rewrites
            else draft
        )
        for i, draft in enumerate(drafts)
    ]


def noise_for(draft: Draft, share: float, seed: int) -> str | None:
    """Which noise a sentence gets, if any."""
    if _chance(seed, draft, "whether") >= share:
        return None
    kinds = [name for name, table in read_data("gray").items() if table["on"] == draft.label]
    return kinds[int(_chance(seed, draft, "which") * len(kinds))]


def figures(text: str) -> list[str]:
    """The numbers in a text, whatever their order."""
    return sorted(_FIGURE.findall(text))


def rewrite_request(draft: Draft, noise: str, seed: int, prompt: Prompt) -> Request[Rewritten]:
    system = f"{prompt.text('system')} {prompt.text('ask', ask=read_data('gray')[noise]['ask'])}"
    settings: JsonObject = {
        "max_tokens": 300,
        "seed": seed,
        "tag": draft.id,
        "prompt_name": prompt.name,
    }
    return Request.of(untrusted(draft.text), system=system, schema=Rewritten, **settings)


def _with_symbol(draft: Draft, seed: int) -> str:
    """One symbol before or behind the sentence: noise that says nothing."""
    symbol = SYMBOLS[int(_chance(seed, draft, "symbol") * len(SYMBOLS))]
    return (
        f"{symbol} {draft.text}" if _chance(seed, draft, "side") < 0.5 else f"{draft.text} {symbol}"
    )


def _chance(seed: int, draft: Draft, what: str) -> float:
    """A number from 0 to 1 that depends on the seed, the sentence's id and the question alone."""
    return (
        int.from_bytes(hashlib.sha256(f"{seed}:{draft.id}:{what}".encode()).digest()[:8], "big")
        / 2**64
    )
