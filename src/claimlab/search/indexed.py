"""A document of the local index: a text with what is known of where and when it was published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic_core import from_json

from claimlab.core.types import JsonObject
from claimlab.search.evidence import FactCheckReview


@dataclass(frozen=True)
class Document:
    text: str | None
    title: str | None = None
    url: str | None = None
    published: datetime | None = None
    dated_from: str | None = None
    language: str | None = None  # ISO 639-3
    publisher: str | None = None
    review: FactCheckReview | None = None  # only a fact-check has one
    source_id: str | None = None  # the record, file or line it comes from

    def digest(self) -> bytes:
        """The same for documents that say the same at the same place."""
        parts = json.dumps([self.url, self.title, self.text])
        return hashlib.blake2b(parts.encode("ascii"), digest_size=16).digest()

    def as_bytes(self) -> bytes:
        """As the index stores it, to be read back by `stored`."""
        fields = {
            **self.__dict__,
            "published": self.published.isoformat() if self.published else None,
            "review": self.review.to_json() if self.review else None,
        }
        stated = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(stated, sort_keys=True).encode("ascii")


def stored(raw: Sequence[bytes]) -> list[JsonObject]:
    """What `Document.as_bytes` wrote: the fields of each that are known. Read for every result of
    every search.
    """
    documents: list[JsonObject] = from_json(b"[" + b",".join(raw) + b"]")
    for document in documents:
        if "published" in document:
            document["published"] = datetime.fromisoformat(document["published"])
        if "review" in document:
            document["review"] = FactCheckReview.from_json(document["review"])
    return documents
