"""Claims that are alike in meaning, by sentence vectors: paraphrases and translations, between
different datasets or splits.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.progress import Progress
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Flags, Floats, Floats32
from claimlab.text.kept_vectors import vectors_of
from claimlab.text.tokens import spaced
from claimlab.text.vectors import by_words_only, known, spoken

# in one language, and across two (bench/overlap_truth.py)
LEAST_COSINE, LEAST_COSINE_ACROSS = 0.9, 0.8
LEAST_WORDS = 6  # shorter texts are alike by accident
BLOCK_ROWS = 2_000
Found = tuple[Codes, Codes, Floats]


def alike_in_meaning(rows: pl.DataFrame, progress: Progress) -> tuple[Found, dict[str, int]]:
    """Pairs of claims with their cosine, and how many records are compared by words only, with the
    reason."""
    texts = _texts(rows)
    languages = spoken(texts["text"], texts["language"])
    measured = known(languages)
    unread = by_words_only(
        pl.Series(languages, dtype=pl.String).repeat_by(texts["records"]).explode()
    )
    texts = texts.filter(pl.Series(measured))
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
        rows.filter(spaced(rows["text"]).str.count_matches(r"\S+") >= LEAST_WORDS)
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
    for start in range(0, len(vectors), BLOCK_ROWS):
        progress("comparing meanings", start, len(vectors))
        rows = slice(start, start + BLOCK_ROWS)
        similar = vectors[rows] @ vectors[start:].T
        left, right = np.nonzero(similar >= LEAST_COSINE_ACROSS)
        keep: Flags = right > left
        left, right = left[keep], right[keep]
        cosine = similar[left, right]
        left, right = left + start, right + start
        across = language[left] != language[right]
        apart = (side[left] != side[right]) | (side[left] < 0)
        keep = apart & (cosine >= np.where(across, LEAST_COSINE_ACROSS, LEAST_COSINE))
        blocks.append((left[keep], right[keep], cosine[keep].astype(np.float64)))
    progress("comparing meanings", len(vectors), len(vectors))
    lefts, rights, cosines = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return lefts, rights, cosines
