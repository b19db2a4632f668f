"""Seed claims and non-claims, from contexts by a model.

The model is asked for sentences that the context itself supports, and for sentences that are no
claims, by the six types of data/taxonomy.toml. What comes out is a dataset whose every record says
that a machine wrote it, and from what. The types are the model's own word: no annotator has checked
them. Answers are remembered by the provider, so a stopped run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import polars as pl
from pydantic import BaseModel, Field, create_model

from claimlab.core import sync
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import MANIFEST, Dataset, Lineage
from claimlab.core.errors import DataError, SchemaError, UsageError
from claimlab.core.options import (
    CallOptions,
    Concurrency,
    Force,
    ModelName,
    Option,
    OutputFolder,
    Profile,
    PromptFiles,
    Seed,
    Setting,
)
from claimlab.core.record import SCHEMA, SIDE_TABLES, meta_json
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evolve.claims.model import Claim, types
from claimlab.evolve.member import open_member
from claimlab.files.read import user_table
from claimlab.files.tables import read_json
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import Tally, gather_sync
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Prompt, Prompts, read_prompts
from claimlab.llm.provider import Provider

# Contexts, the texts that seed claims are drawn from, and drafts: sentences on their way to being
# a record.

_FILES = ("abstract.json", "abstracts.json", "contexts.jsonl")


@dataclass(frozen=True)
class Context:
    """`id` is unique among the contexts of a run; what is not known is null."""

    id: str
    text: str
    title: str | None = None
    topic: str | None = None
    url: str | None = None
    language: str | None = None


def read_contexts(path: str | Path) -> list[Context]:
    """The released abstracts as they are (topics, titles, numbered contents), or a table with a
    column `text`; from a zip, too (ARCHIVE#MEMBER).
    """
    with open_member(path, *_FILES) as (bundle, name):
        if name.lower().endswith(".json"):
            content = read_json(bundle.text(name), name)
            if isinstance(content, dict) and all(
                isinstance(entries, list) for entries in content.values()
            ):
                contexts = list(_released(content))
                if contexts:
                    return contexts
        frame = user_table(bundle, "id", "text", "title", "topic", "url", member=name)
    if "text" not in frame.columns:
        raise SchemaError(
            f"'{name}' has no column 'text'.", "Put the text of each context into a column 'text'."
        )
    return _rows(frame)


def contexts_of(dataset: Dataset) -> list[Context]:
    """Every record that has a text, as a context."""
    columns = ("id", "text", "topic", "url", "language")
    return _rows(dataset.records.select(columns).filter(pl.col("text").is_not_null()))


def _released(topics: JsonObject) -> Iterator[Context]:
    for topic, entries in topics.items():
        for entry in entries:
            title = entry.get("title") if isinstance(entry, dict) else None
            for key, text in entry.items() if title else ():
                if key.startswith("content_") and isinstance(text, str) and text.strip():
                    number = key.removeprefix("content_")
                    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:10]
                    yield Context(
                        f"{digest}-{number}", text, title, topic, entry.get(f"url_{number}")
                    )


def _rows(frame: pl.DataFrame) -> list[Context]:
    columns = [c for c in ("id", "text", "title", "topic", "url", "language") if c in frame.columns]
    entries = []
    for row in frame.select(columns).iter_rows(named=True):
        if row["text"] and row["text"].strip():
            digest = hashlib.sha256(row["text"].encode()).hexdigest()[:12]
            entries.append(Context(**{**row, "id": row.get("id") or digest}))
    repeated = len(entries) - len({context.id for context in entries})
    if repeated:
        raise SchemaError(
            f"{several(repeated, 'context has', 'contexts have')} the id or text of another.",
            "Give every context its own id.",
        )
    return entries


@dataclass(frozen=True)
class Draft:
    """A sentence with its type."""

    id: str
    context: Context
    text: str
    type: str
    model: str

    @property
    def label(self) -> str:
        return "claim" if types()[self.type].claim else "non-claim"


def records(drafts: Sequence[Draft], prompt: str) -> pl.DataFrame:
    """`prompt` is the hash of the words that the model was asked in: it is part of every record's
    origin.
    """
    return pl.DataFrame([_record(draft, prompt) for draft in drafts], schema=SCHEMA)


def evidence(drafts: Sequence[Draft]) -> pl.DataFrame:
    """The context of each sentence, as the evidence it came with."""
    rows = [
        {
            "record_id": d.id,
            "evidence_id": f"{d.id}-context",
            "rank": 1,
            "title": d.context.title,
            "text": d.context.text,
            "url": d.context.url,
            "provider": "context",
        }
        for d in drafts
    ]
    return pl.DataFrame(rows, schema=SIDE_TABLES["evidence"])


def _record(draft: Draft, prompt: str) -> JsonObject:
    context = draft.context
    origin = {
        "model": draft.model,
        "context": context.title,
        "context_id": context.id,
        "prompt": prompt,
    }
    synthetic = {
        "label": draft.label,
        "origin": {k: v for k, v in origin.items() if v},
        "changes": [],
    }
    claim = Claim(draft.text, context=context.title)
    return {
        "id": draft.id,
        "text": draft.text,
        "kind": "claim",
        "label_raw": draft.label,
        "language": context.language,
        "topic": context.topic,
        # Sentences from one context share its facts: they must not stand on both sides of a split.
        "group": "context-" + hashlib.sha256(context.text.encode()).hexdigest()[:12],
        "authorship": "MGT",
        "meta": meta_json({"synthetic": synthetic, "type": draft.type, **claim.meta()}),
    }


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

    def seeded(self, contexts: Sequence[Context], name: str = "seeds") -> Seeded:
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

    def _drawn(self, contexts: Sequence[Context]) -> list[Draft]:
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


# The Python twin of `claimlab evolve seed`.
#
# seeds = cl.seed_claims("abstracts.json", profile="openai", output="seeds")

Contexts = Dataset | str | Path | Sequence[Context]


@repeatable()
def seed_claims(
    contexts: Contexts,
    *,
    profile: Profile = None,
    model: ModelName = None,
    output: OutputFolder = None,
    claims: Annotated[int, Setting("Claims from each context.", least=0)] = 5,
    non_claims: Annotated[
        int, Setting("Sentences that are not claims from each context.", least=0)
    ] = 2,
    prompts: PromptFiles = (),
    name: Annotated[str, Setting("Name of the dataset.")] = "seeds",
    concurrency: Concurrency = 64,
    seed: Seed = 0,
    limit: Annotated[int | None, Option("Use only the first N contexts.", least=1)] = None,
    force: Force = False,
    **calls: Unpack[CallOptions],
) -> Seeded:
    """Let a model write claims and non-claims from texts, each with its label and origin.

    The texts are those of a file (the released abstracts, or a table with a column `text`), of a
    dataset, or given one by one. Calls are recorded, so that a run that was stopped asks no
    question twice, and the caps hold over all starts. The profile "embedded" needs no key.
    """
    if profile is None:
        raise UsageError(
            "No model was named to write the sentences.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    wanted, words = wanted_of(claims, non_claims), read_prompts(prompts, "evolve seed")
    with Run(
        "evolve seed",
        None,
        output,
        reads=_files(contexts),
        force=force,
        seed=seed,
        concurrency=concurrency,
        **calls,
    ) as run:
        texts = open_contexts(contexts, limit)
        if run.estimate:
            known, recording = find_profile(profile).with_model(model), run.calls.existing()
            orders = [(text, *one) for text in texts for one in wanted.items() if one[1]]
            sentences = (sentence_request(*one, seed, words["seeds"]) for one in orders)
            parts: dict[str, Priced] = {
                "sentences": estimate_calls(sentences, known, recording=recording)
            }
            run.estimated(parts, facts={"contexts": len(texts)})
        provider = open_provider(profile, model=model, calls=run.calls)
        try:
            seeded = Seeding(provider, wanted, seed, words).seeded(texts, name)
        finally:
            sync.run(provider.close())
        run.finish(seeded.dataset)
    return seeded


def open_contexts(contexts: Contexts, limit: int | None = None) -> list[Context]:
    """The first `limit` contexts of a file, a dataset or a list."""
    if isinstance(contexts, str | Path):
        is_dataset = (Path(contexts) / MANIFEST).is_file()
        contexts = Dataset.open(contexts) if is_dataset else read_contexts(contexts)
    texts = contexts_of(contexts) if isinstance(contexts, Dataset) else list(contexts)
    if not texts:
        raise DataError("There is no context with a text.", "Give a file or a dataset with texts.")
    return texts[:limit]


def _files(contexts: Contexts) -> list[Path]:
    if isinstance(contexts, Dataset):
        return [contexts.path] if contexts.path else []
    return [Path(str(contexts).partition("#")[0])] if isinstance(contexts, str | Path) else []
