"""Contexts: the texts that seed claims are drawn from. Abstracts from a file, or the records of any dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
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
    """The released abstracts as they are (topics, titles, numbered contents), or a table with a column `text`."""
    with Bundle.open(path) as bundle:
        name = chosen_member(bundle, member, _FILES)
        if name.lower().endswith(".json"):
            found = read_json(bundle.text(name), name)
            if isinstance(found, dict) and all(isinstance(entries, list) for entries in found.values()):
                contexts = list(_released(found))
                if contexts:
                    return contexts
        frame = user_table(bundle, "id", "text", "title", "topic", "url", member=name)
    if "text" not in frame.columns:
        raise SchemaError(f"'{name}' has no column 'text'.", "Put the text of each context into a column 'text'.")
    return _rows(frame)


def contexts_of(dataset: Dataset) -> list[Context]:
    """Every record that has a text, as a context."""
    columns = ("id", "text", "topic", "url", "language")
    return _rows(dataset.records.select(columns).filter(pl.col("text").is_not_null()))


def _released(topics: dict[str, Any]) -> Iterator[Context]:
    for topic, entries in topics.items():
        for entry in entries:
            title = entry.get("title") if isinstance(entry, dict) else None
            for key, text in entry.items() if title else ():
                if key.startswith("content_") and isinstance(text, str) and text.strip():
                    number = key.removeprefix("content_")
                    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:10]
                    yield Context(f"{digest}-{number}", text, title, topic, entry.get(f"url_{number}"))


def _rows(frame: pl.DataFrame) -> list[Context]:
    kept = [c for c in ("id", "text", "title", "topic", "url", "language") if c in frame.columns]
    made = []
    for row in frame.select(kept).iter_rows(named=True):
        if row["text"] and row["text"].strip():
            digest = hashlib.sha256(row["text"].encode()).hexdigest()[:12]
            made.append(Context(**{**row, "id": row.get("id") or digest}))
    repeated = len(made) - len({context.id for context in made})
    if repeated:
        raise SchemaError(f"{repeated} context(s) share an id or a text.", "Give every context an id of its own.")
    return made
