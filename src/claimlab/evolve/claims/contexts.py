"""Contexts, the texts that seed claims are drawn from, and drafts: sentences on their way to being
a record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evolve.claims.model import Claim, types
from claimlab.evolve.member import chosen_member
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import read_json

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


def read_contexts(path: str | Path, member: str | None = None) -> list[Context]:
    """The released abstracts as they are (topics, titles, numbered contents), or a table with a
    column `text`.
    """
    with Bundle.open(path) as bundle:
        name = chosen_member(bundle, member, _FILES)
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


_TEXTS = ("id", "text", "kind", "label_raw", "language", "topic", "group", "authorship", "meta")
_EVIDENCE = ("record_id", "evidence_id", "rank", "title", "text", "url", "provider")


@dataclass(frozen=True)
class Draft:
    """A sentence with its type; `noise` and `before` once it was moved into the gray area."""

    id: str
    context: Context
    text: str
    type: str
    model: str
    noise: str | None = None
    before: str | None = None

    @property
    def label(self) -> str:
        return "claim" if types()[self.type].claim else "non-claim"


def records(drafts: Sequence[Draft], prompt: str) -> pl.DataFrame:
    """`prompt` is the hash of the words that the model was asked in: it is part of every record's
    origin.
    """
    return pl.DataFrame(
        [_record(draft, prompt) for draft in drafts], schema=dict.fromkeys(_TEXTS, pl.String)
    )


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
    return pl.DataFrame(rows, schema={c: pl.Int32 if c == "rank" else pl.String for c in _EVIDENCE})


def _record(draft: Draft, prompt: str) -> JsonObject:
    context = draft.context
    origin = {
        "model": draft.model,
        "context": context.title,
        "context_id": context.id,
        "prompt": prompt,
    }
    changes = (
        []
        if draft.noise is None
        else [{"type": "gray area", "noise": draft.noise, "from": draft.before}]
    )
    synthetic = {
        "label": draft.label,
        "origin": {k: v for k, v in origin.items() if v},
        "changes": changes,
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
