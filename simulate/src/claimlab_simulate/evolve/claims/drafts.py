"""Drafts: sentences that a model wrote, on their way to being records."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from claimlab.core.record import SCHEMA, SIDE_TABLES, meta_json
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.contexts import SeedContext
from claimlab_simulate.evolve.claims.model import Claim, types


@dataclass(frozen=True)
class Draft:
    """A sentence with its type."""

    id: str
    context: SeedContext
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
