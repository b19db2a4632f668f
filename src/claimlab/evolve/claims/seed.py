"""Seed claims and non-claims, from contexts by a model.

The model is asked for sentences that the context itself supports, and for sentences that are no
claims, by the six types of data/taxonomy.toml; a share of both is then moved into the gray area.
What comes out is a dataset whose every record says that a machine wrote it, from what, and how it
was changed. The types are the model's own word: no annotator has checked them. Answers are
remembered by the provider, so a stopped run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, Field, create_model

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evolve.claims.contexts import Context, Draft, evidence, records
from claimlab.evolve.claims.model import read_data, types
from claimlab.llm.gather import gather_sync
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.llm.tally import Tally

# The gray area: noise that makes claims and non-claims harder to distinguish, without changing
# which is which.  The kinds of noise are data (data/gray.toml). Which sentences get which is drawn
# from the seed and the sentence's id, so that it does not depend on the model or on other
# sentences. A claim keeps its figures: a rewriting that changes one is not taken.


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
    noises = {draft.id: noise_for(draft, share, seed) for draft in drafts}
    rewrites = {
        draft.id: _with_symbol(draft, seed) for draft in drafts if noises[draft.id] == "symbols"
    }
    asks = [(d, noise) for d in drafts if (noise := noises[d.id]) not in (None, "symbols")]
    requests = [rewrite_request(draft, str(noise), seed, prompt) for draft, noise in asks]
    for index, answer in gather_sync(
        provider, requests, progress=progress, label="Into the gray area"
    ):
        tally.add(answer)
        if answer.value is not None:
            draft, text = asks[index][0], " ".join(answer.value.text.split())
            if fault := _fault(draft, text):
                dropped[fault] += 1
            else:
                rewrites[draft.id] = text
    return [
        replace(draft, text=rewrites[draft.id], noise=noises[draft.id], before=draft.text)
        if draft.id in rewrites
        else draft
        for draft in drafts
    ]


def _fault(draft: Draft, text: str) -> str | None:
    """Why the noise of a sentence is not taken."""
    if text == draft.text:
        return "noise that changed nothing"
    if draft.label == "claim" and figures(text) != figures(draft.text):
        return "noise that changed a figure"
    return None


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


GRAY = 0.25  # the share of sentences moved into the gray area; no share is published
COPIED, COPY_WORDS, COPY_SHARE = "copied from the context", 5, 95  # % of the characters
_PARTS = {"claim": "claim", "non-claim": "other"}


class ClaimSentence(BaseModel):
    text: str = Field(min_length=1, max_length=400)
    type: Literal["quantity", "prediction", "causation", "rule"]


class OtherSentence(BaseModel):
    text: str = Field(min_length=1, max_length=400)
    type: Literal["personal-experience", "not-a-claim"]


@cache
def answer_schema(label: str, count: int) -> type[BaseModel]:
    """At most `count` sentences of a label; without the bound a small model goes on until it is
    cut.
    """
    one = {"claim": ClaimSentence, "non-claim": OtherSentence}[label]
    name = f"{one.__name__}s"
    bound = Field(min_length=1, max_length=count)
    return create_model(name, sentences=(list[one], bound))  # type: ignore[valid-type]


@dataclass(frozen=True, repr=False)
class Seeded(Shown):
    """The dataset, and an account of what did not become part of it: nothing is lost without being
    counted.

    `dropped` counts sentences and noise that were not taken, by reason; `calls` is what became of
    the questions.
    """

    dataset: Dataset
    counts: dict[str, int]
    dropped: dict[str, int] = field(default_factory=dict)
    calls: JsonObject = field(default_factory=dict)

    @property
    def table(self) -> pl.DataFrame:
        return self.dataset.records

    def headline(self) -> str:
        return (
            f"'{self.dataset.name}': {several(len(self.dataset), 'record')},"
            f" {sum(self.dropped.values()):,} dropped"
        )


def wanted_of(claims: int, non_claims: int, gray: float) -> dict[str, int]:
    """How many sentences of each label a context gives."""
    if min(claims, non_claims) < 0 or not claims + non_claims or not 0 <= gray <= 1:
        raise UsageError(
            f"Nothing can be seeded with {claims} claims, {non_claims} non-claims and a gray share"
            f" of {gray:g}.",
            "Ask for at least one sentence and a share from 0 to 1.",
        )
    return {"claim": claims, "non-claim": non_claims}


def draw_seeds(
    contexts: Sequence[Context],
    provider: Provider,
    *,
    wanted: dict[str, int],
    gray: float = GRAY,
    seed: int = 0,
    name: str = "seeds",
    prompts: Prompts | None = None,
    progress: Progress = silent,
) -> Seeded:
    """So many sentences of each label as are `wanted` from every context, a share `gray` of them
    made harder.
    """
    tally, dropped, words = Tally(), Counter[str](), prompts or Prompts()
    drafts = _once(
        _drawn(contexts, provider, wanted, seed, words["seeds"], tally, dropped, progress), dropped
    )
    drafts = grayed(drafts, provider, gray, seed, words["gray"], tally, dropped, progress)
    written = Counter(draft.label for draft in drafts)
    counts = {
        "contexts": len(contexts),
        "claims": written["claim"],
        "non_claims": written["non-claim"],
        "gray": sum(draft.noise is not None for draft in drafts),
        "dropped": dropped.total(),
        "failed_calls": sum(tally.failures.values()),
    }
    model = provider.profile.chosen_model()
    parameters = {
        "model": model,
        "claims": wanted["claim"],
        "non_claims": wanted["non-claim"],
        "gray": gray,
        "prompts": words.lineage("seeds", "gray"),
    }
    step = Lineage(
        step="evolve seed",
        parameters=parameters,
        seed=seed,
        inputs=_digest(contexts),
        counts=counts,
    )
    notes = [f"{model}: {provider.profile.standing}."] if provider.profile.standing else []
    tables = {"evidence": evidence(drafts)}
    dataset = Dataset.build(
        name,
        records(drafts, words["seeds"].sha256[:16]),
        tables,
        synthetic=True,
        notes=notes,
        lineage=[step],
    )
    return Seeded(dataset, counts, dict(sorted((+dropped).items())), tally.summary())


def _drawn(
    contexts: Sequence[Context],
    provider: Provider,
    wanted: dict[str, int],
    seed: int,
    prompt: Prompt,
    tally: Tally,
    dropped: Counter[str],
    progress: Progress,
) -> list[Draft]:
    """What the model said, context after context; a call that failed is counted and gives
    nothing.
    """
    sources = [(context, label) for context in contexts for label, count in wanted.items() if count]
    requests = [
        sentence_request(context, label, wanted[label], seed, prompt) for context, label in sources
    ]
    answers: dict[int, list[Draft]] = {}
    for index, answer in gather_sync(provider, requests, progress=progress, label="Drawing seeds"):
        tally.add(answer)
        context, label = sources[index]
        sentences = answer.value.sentences if answer.value is not None else []
        if answer.ok:
            dropped["asked for, not given"] += max(0, wanted[label] - len(sentences))
        answers[index] = [
            Draft(
                f"{context.id}-{label}-{number}",
                context,
                " ".join(s.text.split()),
                s.type,
                answer.model,
            )
            for number, s in enumerate(sentences, 1)
        ]
    return [draft for index in sorted(answers) for draft in answers[index]]


def sentence_request(
    context: Context, label: str, count: int, seed: int, prompt: Prompt
) -> Request[Any]:
    described = "\n".join(
        f"- {t.name}: {t.definition}" for t in types().values() if t.claim == (label == "claim")
    )
    shown = f"{context.title}\n\n{context.text}" if context.title else context.text
    return Request.of(
        untrusted(shown),
        system=(
            f"{prompt.text('system')}\n\n{prompt.text(_PARTS[label], count=count, types=described)}"
        ),
        schema=answer_schema(label, count),
        max_tokens=150 * count + 100,
        seed=seed,
        tag=context.id,
        prompt_name=prompt.name,
    )


def _once(drafts: Iterable[Draft], dropped: Counter[str]) -> list[Draft]:
    """Each sentence once, none without words, and no non-claim that is a sentence of its context:
    it states a fact.
    """
    seen: set[str] = set()
    distinct = []
    for draft in drafts:
        key = _words(draft.text)
        shown = _words(f"{draft.context.title or ''} {draft.context.text}")
        copied = draft.label == "non-claim" and is_copy(key, shown)
        reason = (
            "no words" if not key else "said before" if key in seen else COPIED if copied else None
        )
        if reason is None:
            distinct.append(draft)
        else:
            dropped[reason] += 1
        seen.add(key)
    return distinct


def _words(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def is_copy(sentence: str, context: str) -> bool:
    """Whether a sentence of five words or more is in the context, but for a letter or two in a
    line.
    """
    from rapidfuzz.fuzz import partial_ratio

    fits = COPY_WORDS <= len(sentence.split()) <= len(context.split())
    return fits and partial_ratio(sentence, context, score_cutoff=COPY_SHARE) > 0


def _digest(contexts: Sequence[Context]) -> dict[str, str]:
    joined = "\n".join(f"{c.id}\t{hashlib.sha256(c.text.encode()).hexdigest()}" for c in contexts)
    return {"contexts": hashlib.sha256(joined.encode()).hexdigest()}
