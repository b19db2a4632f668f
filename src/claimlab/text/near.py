"""Which rows hold the same text or nearly the same: the distinct texts, and the graph of
near-duplicates over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.deal import Codes

_WORDS = 200  # of a text that are compared in order
_FEWEST = 6


@dataclass(frozen=True)
class NearTexts:
    """`text_of` gives each row its distinct text (-1: none); `linked` holds pairs of distinct texts
    nearly the same.
    """

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
        """A code per row: rows whose texts are linked through near-duplicates share one; without
        text, each its own.
        """
        from scipy.sparse.csgraph import connected_components

        of_text = (
            connected_components(self.graph, directed=False)[1].astype(np.int64)
            if self.texts
            else np.empty(0)
        )
        codes = np.arange(len(self.text_of), dtype=np.int64) + self.texts
        known = self.text_of >= 0
        codes[known] = of_text[self.text_of[known]]
        return codes


def near_texts(normal: pl.Series, *, progress: Progress = silent) -> NearTexts:
    """Near-duplicates (character 5-grams, Jaccard 0.7) among texts in their normal form; null is
    not a text.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    code = pl.DataFrame({"text": distinct, "code": np.arange(distinct.len())})
    text_of = pl.DataFrame({"text": normal}).join(
        code, on="text", how="left", maintain_order="left"
    )["code"]
    pairs = find_pairs(distinct, progress=progress)
    linked_pairs = np.stack([np.asarray(pairs.left), np.asarray(pairs.right)], axis=1).astype(
        np.int64
    )
    return NearTexts(
        text_of.fill_null(-1).to_numpy().astype(np.int64), linked_pairs, distinct.len()
    )


def reworded(normal: pl.Series, *, alike: float = 0.7) -> Codes:
    """Pairs of different texts (codes as in `near_texts`) that say the same with a few words
    changed: half of their words or more are shared, and `alike` of them come in the same order. In
    texts of 18 words this finds all copies with two changed words and three quarters of those with
    four; letters in common find a third and a tenth.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    words = [text.split()[:_WORDS] for text in distinct.to_list()]
    pairs = find_pairs(distinct, threshold=0.5, unit="word", ngram=1)
    both = zip(np.asarray(pairs.left).tolist(), np.asarray(pairs.right).tolist(), strict=True)
    same = [(a, b) for a, b in both if _in_order(words[a], words[b], alike)]
    return np.array(sorted(same), dtype=np.int64).reshape(-1, 2)


def _in_order(one: list[str], other: list[str], alike: float) -> bool:
    """Whether that share of the words of two texts match in order; very short texts are alike by
    accident.
    """
    if min(len(one), len(other)) < _FEWEST:
        return False
    match = SequenceMatcher(None, one, other, autojunk=False)
    return (
        match.real_quick_ratio() >= alike
        and match.quick_ratio() >= alike
        and match.ratio() >= alike
    )
