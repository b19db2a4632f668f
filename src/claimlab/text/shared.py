"""Which claims two datasets share: the one meaning of it, for every verb that counts or compares
them.

Two texts are the same claim where they differ in case, punctuation and white space only.
Near-duplicates (character 5-grams, Jaccard similarity) may differ in more: the two are counted
apart, and together where that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.progress import Progress, silent
from claimlab.core.stats.deal import Codes
from claimlab.text.normalise import bare_form, normal_form

ASIDE = "case, punctuation and white space aside"
NEAR = 0.7  # Jaccard similarity of 5-grams from which two texts are nearly the same
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Claims:
    """`of_row` numbers the claim of each row (-1: none); pairs of different claims are nearly the
    same.
    """

    of_row: Codes
    left: Codes
    right: Codes
    similarity: npt.NDArray[np.float64]

    def held(self, part: Codes, parts: int) -> Flags:
        """Rows by parts: whether the part has the claim of the row, or one that is nearly the
        same.
        """
        rows = np.flatnonzero(self.of_row >= 0)
        holds = np.zeros((int(self.of_row.max(initial=-1)) + 1, parts), np.bool_)
        holds[self.of_row[rows], part[rows]] = True
        alike = holds.copy()
        np.logical_or.at(alike, self.left, holds[self.right])
        np.logical_or.at(alike, self.right, holds[self.left])
        out = np.zeros((len(self.of_row), parts), np.bool_)
        out[rows] = alike[self.of_row[rows]]
        return out

    def only_same(self) -> Claims:
        """Without the pairs of claims that are nearly the same."""
        return Claims(self.of_row, self.left[:0], self.right[:0], self.similarity[:0])


def same_claims(keys: pl.Series) -> Claims:
    """Rows with equal keys hold the same claim; null is none."""
    code = (keys.rank("dense") - 1).cast(pl.Int64).fill_null(-1)
    none = np.empty(0, np.int64)
    return Claims(code.to_numpy(), none, none, np.empty(0))


def claims_of(
    texts: pl.Series, *, near: float | None = None, progress: Progress = silent
) -> Claims:
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
    pairs = find_pairs(distinct["text"], threshold=near, progress=progress)
    claim = distinct["claim"].to_numpy()
    one, other = claim[pairs.left], claim[pairs.right]
    best = (
        pl.DataFrame(
            {
                "left": np.minimum(one, other),
                "right": np.maximum(one, other),
                "alike": pairs.jaccard,
            }
        )
        .filter(pl.col("left") != pl.col("right"))
        .group_by("left", "right")
        .agg(pl.col("alike").max())
        .sort("left", "right")
    )
    similarity = best["alike"].cast(pl.Float64).to_numpy()
    return Claims(same.of_row, best["left"].to_numpy(), best["right"].to_numpy(), similarity)
