"""Contexts: the texts that seed claims are drawn from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, SchemaError
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.read import user_table
from claimlab.files.tables import read_json
from claimlab_simulate.evolve.member import open_member

_FILES = ("abstract.json", "abstracts.json", "contexts.jsonl")


@dataclass(frozen=True)
class SeedContext:
    """`id` is unique among the contexts of a run; what is not known is null."""

    id: str
    text: str
    title: str | None = None
    topic: str | None = None
    url: str | None = None
    language: str | None = None


def read_contexts(path: str | Path) -> list[SeedContext]:
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


def contexts_of(dataset: Dataset) -> list[SeedContext]:
    """Every record that has a text, as a context."""
    columns = ("id", "text", "topic", "url", "language")
    return _rows(dataset.records.select(columns).filter(pl.col("text").is_not_null()))


def _released(topics: JsonObject) -> Iterator[SeedContext]:
    for topic, entries in topics.items():
        for entry in entries:
            title = entry.get("title") if isinstance(entry, dict) else None
            for key, text in entry.items() if title else ():
                if key.startswith("content_") and isinstance(text, str) and text.strip():
                    number = key.removeprefix("content_")
                    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:10]
                    yield SeedContext(
                        f"{digest}-{number}", text, title, topic, entry.get(f"url_{number}")
                    )


def _rows(frame: pl.DataFrame) -> list[SeedContext]:
    columns = [c for c in ("id", "text", "title", "topic", "url", "language") if c in frame.columns]
    entries = []
    for row in frame.select(columns).iter_rows(named=True):
        if row["text"] and row["text"].strip():
            digest = hashlib.sha256(row["text"].encode()).hexdigest()[:12]
            entries.append(SeedContext(**{**row, "id": row.get("id") or digest}))
    repeated = len(entries) - len({context.id for context in entries})
    if repeated:
        raise SchemaError(
            f"{several(repeated, 'context has', 'contexts have')} the id or text of another.",
            "Give every context its own id.",
        )
    return entries


Contexts = Dataset | str | Path | Sequence[SeedContext]


def open_contexts(contexts: Contexts, limit: int | None = None) -> list[SeedContext]:
    """The first `limit` contexts of a file, a dataset or a list."""
    if isinstance(contexts, str | Path):
        is_dataset = (Path(contexts) / MANIFEST).is_file()
        contexts = Dataset.open(contexts) if is_dataset else read_contexts(contexts)
    texts = contexts_of(contexts) if isinstance(contexts, Dataset) else list(contexts)
    if not texts:
        raise DataError("There is no context with a text.", "Give a file or a dataset with texts.")
    return texts[:limit]


def files_of(contexts: Contexts) -> list[Path]:
    if isinstance(contexts, Dataset):
        return [contexts.path] if contexts.path else []
    return [Path(str(contexts).partition("#")[0])] if isinstance(contexts, str | Path) else []
