"""Which claims two datasets share: the one meaning of it, for every verb that counts or compares
them. Two texts are the same claim where they differ in case, punctuation and whitespace only.
Near-duplicates (character 5-grams, Jaccard similarity) may differ in more: the two are counted
apart, and together where that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Flags, Floats
from claimlab.text.normalise import bare_form, normal_form

ASIDE = "case, punctuation and whitespace aside"
NEAR_JACCARD = 0.7  # Jaccard similarity of 5-grams from which two texts are nearly the same


@dataclass(frozen=True)
class RowClaims:
    """`of_row` numbers the claim of each row (-1: none); pairs of different claims are nearly the
    same.
    """

    of_row: Codes
    left: Codes
    right: Codes
    similarity: Floats

    def held(self, part: Codes, parts: int) -> Flags:
        """Rows by parts: whether the part has the claim of the row, or one that is nearly the
        same.
        """
        return self.held_by([part == number for number in range(parts)])

    def held_by(self, parts: Sequence[Flags]) -> Flags:
        """The same for parts that may overlap: the rows that each has."""
        out = np.zeros((len(self.of_row), len(parts)), np.bool_)
        has_claim = self.of_row >= 0
        for number, rows in enumerate(parts):
            holds = np.zeros(int(self.of_row.max(initial=-1)) + 1, np.bool_)
            holds[self.of_row[rows & has_claim]] = True
            alike = holds.copy()
            alike[self.left[holds[self.right]]] = True
            alike[self.right[holds[self.left]]] = True
            out[has_claim, number] = alike[self.of_row[has_claim]]
        return out

    def only_same(self) -> RowClaims:
        """Without the pairs of claims that are nearly the same."""
        return RowClaims(self.of_row, self.left[:0], self.right[:0], self.similarity[:0])


def same_claims(keys: pl.Series) -> RowClaims:
    """Rows with equal keys hold the same claim; null is none."""
    code = (keys.rank("dense") - 1).cast(pl.Int64).fill_null(-1)
    none = np.empty(0, np.int64)
    return RowClaims(code.to_numpy(), none, none, np.empty(0))


def claims_of(texts: pl.Series, *, near: float | None = None) -> RowClaims:
    """The claims of `texts`; with `near`, also which are nearly the same, by Jaccard similarities
    from there on.
    """
    same = same_claims(bare_form(texts))
    if near is None:
        return same
    from claimlab.text.neardup import find_pairs

    rows = pl.DataFrame({"text": normal_form(texts), "claim": same.of_row}).filter(
        pl.col("claim") >= 0
    )
    distinct = rows.unique("text", maintain_order=True)
    pairs = find_pairs(distinct["text"], threshold=near)
    claim = distinct["claim"].to_numpy()
    left, right = claim[pairs.left], claim[pairs.right]
    best = (
        pl.DataFrame(
            {
                "left": np.minimum(left, right),
                "right": np.maximum(left, right),
                "alike": pairs.jaccard,
            }
        )
        .filter(pl.col("left") != pl.col("right"))
        .group_by("left", "right")
        .agg(pl.col("alike").max())
        .sort("left", "right")
    )
    similarity = best["alike"].cast(pl.Float64).to_numpy()
    return RowClaims(same.of_row, best["left"].to_numpy(), best["right"].to_numpy(), similarity)
