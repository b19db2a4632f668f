"""Which rows hold the same text or nearly the same: the distinct texts, and the graph of near-duplicates over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.codes import Codes


@dataclass(frozen=True)
class NearTexts:
    """`text_of` gives each row its distinct text (-1: none); `linked` holds pairs of distinct texts nearly the same."""

    text_of: Codes
    linked: Codes  # (pairs, 2)
    texts: int

    @cached_property
    def graph(self) -> Any:
        """Sparse matrix over distinct texts: 1 where two are the same or nearly so."""
        from scipy.sparse import coo_matrix, eye

        a, b = self.linked[:, 0], self.linked[:, 1]
        ones = np.ones(2 * len(a), np.int32)
        graph = coo_matrix((ones, (np.r_[a, b], np.r_[b, a])), shape=(self.texts, self.texts))
        return (graph + eye(self.texts, dtype=np.int32)).tocsr()

    @cached_property
    def clusters(self) -> Codes:
        """A code per row: rows whose texts are linked through near-duplicates share one; without text, each its own."""
        from scipy.sparse.csgraph import connected_components

        of_text = connected_components(self.graph, directed=False)[1].astype(np.int64) if self.texts else np.empty(0)
        codes = np.arange(len(self.text_of), dtype=np.int64) + self.texts
        known = self.text_of >= 0
        codes[known] = of_text[self.text_of[known]]
        return codes


def near_texts(normal: pl.Series, *, progress: Progress = silent) -> NearTexts:
    """Near-duplicates (character 5-grams, Jaccard 0.7) among texts in their normal form; null is no text."""
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    code = pl.DataFrame({"text": distinct, "code": np.arange(distinct.len())})
    text_of = pl.DataFrame({"text": normal}).join(code, on="text", how="left", maintain_order="left")["code"]
    pairs = find_pairs(distinct, progress=progress)
    linked_pairs = np.stack([np.asarray(pairs.left), np.asarray(pairs.right)], axis=1).astype(np.int64)
    return NearTexts(text_of.fill_null(-1).to_numpy().astype(np.int64), linked_pairs, distinct.len())
