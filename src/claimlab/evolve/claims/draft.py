"""A seed on its way from a model's answer to a record that says what it is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from claimlab.core.record import meta_json
from claimlab.evolve.claims.contexts import Context
from claimlab.evolve.claims.model import Claim, types

PROMPTS = "1"  # the wording that models are asked in, named in every record's origin: raise it when the wording changes
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


def records(drafts: Sequence[Draft]) -> pl.DataFrame:
    return pl.DataFrame([_record(draft) for draft in drafts], schema=dict.fromkeys(_TEXTS, pl.String))


def evidence(drafts: Sequence[Draft]) -> pl.DataFrame:
    """The context of each sentence, as the evidence it came with."""
    rows = [
        {"record_id": d.id, "evidence_id": f"{d.id}-context", "rank": 1, "title": d.context.title,
         "text": d.context.text, "url": d.context.url, "provider": "context"}
        for d in drafts
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={c: pl.Int32 if c == "rank" else pl.String for c in _EVIDENCE})


def _record(draft: Draft) -> dict[str, Any]:
    context = draft.context
    origin = {"model": draft.model, "context": context.title, "context_id": context.id, "prompts": PROMPTS}
    changes = [] if draft.noise is None else [{"type": "gray area", "noise": draft.noise, "from": draft.before}]
    synthetic = {"label": draft.label, "origin": {k: v for k, v in origin.items() if v}, "changes": changes}
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
