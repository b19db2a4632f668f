"""Which rows hold the same text or nearly the same: the distinct texts, and the graph of
near-duplicates over them.

Which claims two datasets share: the one meaning of it, for every verb that counts or compares
them.

Two texts are the same claim where they differ in case, punctuation and whitespace only.
Near-duplicates (character 5-grams, Jaccard similarity) may differ in more: the two are counted
apart, and together where that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

import numpy as np
import polars as pl

from claimlab.core.progress import progress
from claimlab.core.stats.deal import Codes, joined
from claimlab.core.stats.scores import Flags, Floats
from claimlab.core.types import Sparse
from claimlab.text.normalise import bare_form, normal_form

_WORDS = 200  # of a text that are compared in order
_FEWEST = 6
ALIKE = 0.7  # of the words, in the same order


@dataclass(frozen=True)
class NearTexts:
    """`text_of` gives each row its distinct text (-1: none); `linked` holds pairs of distinct texts
    nearly the same.
    """

    text_of: Codes
    linked: Codes  # (pairs, 2)
    texts: int

    @cached_property
    def graph(self) -> Sparse:
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
        of_text = joined(self.linked[:, 0], self.linked[:, 1], self.texts)
        codes = np.arange(len(self.text_of), dtype=np.int64) + self.texts
        known = self.text_of >= 0
        codes[known] = of_text[self.text_of[known]]
        return codes


def near_texts(normal: pl.Series) -> NearTexts:
    """Near-duplicates (character 5-grams, Jaccard 0.7) among texts in their normal form; null is
    not a text.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    code = pl.DataFrame({"text": distinct, "code": np.arange(distinct.len())})
    text_of = pl.DataFrame({"text": normal}).join(
        code, on="text", how="left", maintain_order="left"
    )["code"]
    pairs = find_pairs(distinct)
    linked_pairs = np.stack([np.asarray(pairs.left), np.asarray(pairs.right)], axis=1).astype(
        np.int64
    )
    return NearTexts(
        text_of.fill_null(-1).to_numpy().astype(np.int64), linked_pairs, distinct.len()
    )


def reworded(normal: pl.Series, texts: Flags, others: Flags) -> dict[int, int]:
    """For those of `texts` that say what one of `others` says with a few words changed, the first
    such text (codes as in `near_texts`): half of their words or more are shared, and `ALIKE` of
    them come in the same order. In texts of 18 words this finds all copies with two changed words
    and three quarters of those with four; letters in common find a third and a tenth.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    words = [text.split()[:_WORDS] for text in distinct.to_list()]
    pairs = find_pairs(distinct, threshold=0.5, unit="word", ngram=1)
    ends = np.asarray(pairs.left, np.int64), np.asarray(pairs.right, np.int64)
    both = np.stack([np.concatenate(ends), np.concatenate(ends[::-1])])
    text, other = both[:, texts[both[0]] & others[both[1]]]
    order = np.lexsort((other, text))
    which, start = np.unique(text[order], return_index=True)
    copies = {}
    for number, (one, candidates) in enumerate(
        zip(which.tolist(), np.split(other[order], start[1:]), strict=False)
    ):
        progress("reworded texts", number, len(which))
        for each in candidates.tolist():
            # the order of the two matters to difflib
            if in_order(words[min(one, each)], words[max(one, each)]):
                copies[one] = each
                break
    return copies


def in_order(one: list[str], other: list[str], alike: float = ALIKE) -> float:
    """The share of the words of two texts that match in order; 0 where it is below `alike`, and for
    very short texts, which are alike by accident.
    """
    if min(len(one), len(other)) < _FEWEST:
        return 0.0
    match = SequenceMatcher(None, one[:_WORDS], other[:_WORDS], autojunk=False)
    if match.real_quick_ratio() < alike or match.quick_ratio() < alike:
        return 0.0
    share = match.ratio()
    return share if share >= alike else 0.0


ASIDE = "case, punctuation and whitespace aside"
NEAR = 0.7  # Jaccard similarity of 5-grams from which two texts are nearly the same


@dataclass(frozen=True)
class Claims:
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
        known = self.of_row >= 0
        for number, mine in enumerate(parts):
            holds = np.zeros(int(self.of_row.max(initial=-1)) + 1, np.bool_)
            holds[self.of_row[mine & known]] = True
            alike = holds.copy()
            alike[self.left[holds[self.right]]] = True
            alike[self.right[holds[self.left]]] = True
            out[known, number] = alike[self.of_row[known]]
        return out

    def only_same(self) -> Claims:
        """Without the pairs of claims that are nearly the same."""
        return Claims(self.of_row, self.left[:0], self.right[:0], self.similarity[:0])


def same_claims(keys: pl.Series) -> Claims:
    """Rows with equal keys hold the same claim; null is none."""
    code = (keys.rank("dense") - 1).cast(pl.Int64).fill_null(-1)
    none = np.empty(0, np.int64)
    return Claims(code.to_numpy(), none, none, np.empty(0))


def claims_of(texts: pl.Series, *, near: float | None = None) -> Claims:
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
