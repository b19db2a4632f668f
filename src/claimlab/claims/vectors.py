"""Claims that are alike in meaning, by sentence vectors: paraphrases and translations, between
different datasets or splits.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.progress import Progress
from claimlab.core.stats.deal import Codes
from claimlab.core.stats.scores import Flags, Floats, Floats32
from claimlab.text.kept_vectors import vectors_of
from claimlab.text.vectors import readable

COSINE, COSINE_ACROSS = 0.9, 0.8  # in one language, and across two (bench/overlap_truth.py)
FEWEST = 6  # words: shorter texts are alike by accident
BLOCK = 2_000
Found = tuple[Codes, Codes, Floats]


def alike_in_meaning(rows: pl.DataFrame, progress: Progress) -> tuple[Found, int]:
    """Pairs of claims with their cosine, and how many records have a text in a language that the
    encoder does not know."""
    texts = _texts(rows)
    known = readable(texts["text"], texts["language"])
    unread = int(texts["records"].filter(pl.Series(~known)).sum())
    texts = texts.filter(pl.Series(known))
    vectors = vectors_of(texts["text"].to_list())
    language = texts["language"].fill_null("").rank("dense").cast(pl.Int64).to_numpy()
    first, last, claim = (texts[c].to_numpy() for c in ("first", "last", "claim"))
    side = np.where(first == last, first, -1)  # -1 where several have it, which is apart from each
    left, right, cosine = _near(vectors, language, side, progress)
    return (claim[left], claim[right], cosine), unread


def _texts(rows: pl.DataFrame) -> pl.DataFrame:
    """A line for each claim whose text is long enough to be compared; `side` is the dataset and
    split of a record.
    """
    return (
        rows.filter(pl.col("text").str.count_matches(r"\S+") >= FEWEST)
        .group_by("claim", maintain_order=True)
        .agg(
            pl.col("text").first(),
            pl.col("language").drop_nulls().first(),
            records=pl.len(),
            first=pl.col("side").min(),
            last=pl.col("side").max(),
        )
    )


def _near(vectors: Floats32, language: Codes, side: Codes, progress: Progress) -> Found:
    none = np.empty(0, np.int64)
    blocks: list[Found] = [(none, none, np.empty(0))]
    for start in range(0, len(vectors), BLOCK):
        progress("comparing meanings", start, len(vectors))
        rows = slice(start, start + BLOCK)
        similar = vectors[rows] @ vectors[start:].T
        one, other = np.nonzero(similar >= COSINE_ACROSS)
        keep: Flags = other > one
        one, other = one[keep], other[keep]
        cosine = similar[one, other]
        one, other = one + start, other + start
        across = language[one] != language[other]
        apart = (side[one] != side[other]) | (side[one] < 0)
        keep = apart & (cosine >= np.where(across, COSINE_ACROSS, COSINE))
        blocks.append((one[keep], other[keep], cosine[keep].astype(np.float64)))
    progress("comparing meanings", len(vectors), len(vectors))
    left, right, cosines = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return left, right, cosines
