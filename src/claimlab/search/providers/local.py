"""Local: an index of a user's own documents (claimlab.search.local), always there and always
free.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.types import JsonObject
from claimlab.search.local import LocalIndex
from claimlab.search.query import Query
from claimlab.search.results import Results, now


class LocalProvider:
    """Search the index in `index`; build it first with claimlab.search.local.build_index."""

    name = "local"

    def __init__(self, index: LocalIndex | str | Path, *, passage: int = 1000) -> None:
        self.index = index if isinstance(index, LocalIndex) else LocalIndex(index)
        self.passage = passage

    def parameters(self) -> JsonObject:
        return {
            **({"vectors": True} if self.index.meaning else {}),
            "source": self.index.manifest.source,
            "layout": self.index.manifest.layout,
            "passage": self.passage,
        }

    async def search(self, query: Query) -> Results:
        pieces = self.index.search(query, passage=self.passage)
        newer = self.index.newer(query)
        return Results(query, self.name, tuple(pieces), now(), cost=0.0, newer=newer)


PROVIDER = LocalProvider
