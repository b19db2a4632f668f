"""Sentences drawn from contexts by a model: claims that the context supports, and non-claims.

The model is asked for sentences that the context itself supports, and for sentences that are no
claims, by the six types of data/taxonomy.toml. What comes out is a dataset whose every record says
that a machine wrote it, and from what. The types are the model's own word: no annotator has checked
them. Answers are remembered by the provider, so a stopped run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import polars as pl
from pydantic import BaseModel, Field, create_model

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.llm.asking import Tally, gather_sync
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab_simulate.evolve.claims.contexts import SeedContext
from claimlab_simulate.evolve.claims.drafts import Draft, evidence, records
from claimlab_simulate.evolve.claims.model import types

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
    sentence = {"claim": ClaimSentence, "non-claim": OtherSentence}[label]
    name = f"{sentence.__name__}s"
    bound = Field(min_length=1, max_length=count)
    return create_model(name, sentences=(list[sentence], bound))  # type: ignore[valid-type]


@dataclass(frozen=True, repr=False)
class Seeded(Shown):
    """The dataset, and an account of what did not become part of it: nothing is lost without being
    counted.

    `dropped` counts sentences that were not taken, by reason; `calls` is what became of
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


def wanted_of(claims: int, non_claims: int) -> dict[str, int]:
    """How many sentences of each label a context gives."""
    if min(claims, non_claims) < 0 or not claims + non_claims:
        raise UsageError(
            f"Nothing can be seeded with {claims} claims and {non_claims} non-claims.",
            "Ask for at least one sentence.",
        )
    return {"claim": claims, "non-claim": non_claims}


@dataclass
class Seeding:
    """Sentences drawn from contexts by a model, `wanted` of each label; `tally` and `dropped` are
    the account of the calls and of what was not taken.
    """

    provider: Provider
    wanted: dict[str, int]
    seed: int = 0
    prompts: Prompts = field(default_factory=Prompts)
    tally: Tally = field(default_factory=Tally)
    dropped: Counter[str] = field(default_factory=Counter)

    def seeded(self, contexts: Sequence[SeedContext], name: str = "seeds") -> Seeded:
        drafts = _once(self._drawn(contexts), self.dropped)
        written = Counter(draft.label for draft in drafts)
        counts = {
            "contexts": len(contexts),
            "claims": written["claim"],
            "non_claims": written["non-claim"],
            "dropped": self.dropped.total(),
            "failed_calls": sum(self.tally.failures.values()),
        }
        profile = self.provider.profile
        step = Lineage(
            step="evolve seed",
            parameters={
                "model": profile.chosen_model(),
                "claims": self.wanted["claim"],
                "non_claims": self.wanted["non-claim"],
                "prompts": self.prompts.lineage("seeds"),
            },
            seed=self.seed,
            inputs=_digest(contexts),
            counts=counts,
        )
        dataset = Dataset.build(
            name,
            records(drafts, self.prompts["seeds"].sha256[:16]),
            {"evidence": evidence(drafts)},
            synthetic=True,
            notes=[f"{profile.chosen_model()}: {profile.standing}."] if profile.standing else [],
            lineage=[step],
        )
        return Seeded(dataset, counts, dict(sorted((+self.dropped).items())), self.tally.summary())

    def _drawn(self, contexts: Sequence[SeedContext]) -> list[Draft]:
        """What the model said, context after context."""
        sources = [
            (context, label, count)
            for context in contexts
            for label, count in self.wanted.items()
            if count
        ]
        prompt = self.prompts["seeds"]
        requests = [sentence_request(*source, self.seed, prompt) for source in sources]
        answers: dict[int, list[Draft]] = {}
        for index, answer in gather_sync(self.provider, requests, label="Drawing seeds"):
            self.tally.add(answer)
            if answer.value is None:
                continue
            (context, label, count), sentences = sources[index], answer.value.sentences
            self.dropped["asked for, not given"] += max(0, count - len(sentences))
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
    context: SeedContext, label: str, count: int, seed: int, prompt: Prompt
) -> Request[Any]:
    described = "\n".join(
        f"- {t.name}: {t.definition}" for t in types().values() if t.claim == (label == "claim")
    )
    source = f"{context.title}\n\n{context.text}" if context.title else context.text
    return Request.of(
        untrusted(source),
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
        context = _words(f"{draft.context.title or ''} {draft.context.text}")
        copied = draft.label == "non-claim" and is_copy(key, context)
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


def _digest(contexts: Sequence[SeedContext]) -> dict[str, str]:
    joined = "\n".join(f"{c.id}\t{hashlib.sha256(c.text.encode()).hexdigest()}" for c in contexts)
    return {"contexts": hashlib.sha256(joined.encode()).hexdigest()}
