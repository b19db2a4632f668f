"""Which record holds which word, and how often it occurs in each class: a table and the dots of a
figure.

Counts per bin and class for a histogram: a finding carries bins, never rows.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.subject import Subject
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject, Sparse
from claimlab.pages.excerpt import excerpt
from claimlab.text.telling import LONGEST, Counts, most_frequent, per_class
from claimlab.text.telling import presence as presence_of

SHOWN = 40  # words in a table
DOTS = 250  # words in a chart


def word_presence(
    subject: Subject, stop: frozenset[str], top: int
) -> tuple[tuple[str, ...], Sparse]:
    """The `top` most frequent words (by texts that hold them), and a sparse 0/1 matrix of texts by
    words.
    """
    words = most_frequent(subject.words, top, stop)
    return words, presence_of(subject.words, words, subject.n)


def presence(held: pl.DataFrame, rows: int, top: int) -> tuple[tuple[str, ...], Sparse]:
    """The same for any words: `held` has a `row` and a `word` for each that a row holds."""
    words = most_frequent(held, top)
    return words, presence_of(held, words, rows)


def word_details(
    subject: Subject, words: tuple[str, ...], presence: Sparse, *, only: Ints | None = None
) -> JsonObject:
    """For a finding: the most telling words (or the columns `only`) with their counts, and the
    chart's dots.
    """
    counts = per_class(presence, subject.everyone, subject.y, len(subject.classes))
    ranked = telling(counts, subject)
    table = ranked[:SHOWN] if only is None else np.asarray(only, dtype=np.int64)
    usual = np.argsort(-counts.sum(axis=0), kind="stable")
    dots = list(dict.fromkeys([*ranked[: DOTS // 2].tolist(), *usual.tolist()]))[:DOTS]
    return {
        "words": [_row(subject, words, counts, int(i)) for i in table],
        "cloud": {
            "words": [excerpt(words[i], LONGEST) for i in dots],
            "counts": {c: counts[k, dots].tolist() for k, c in enumerate(subject.classes)},
            "sizes": subject.class_counts,
        },
    }


def telling(counts: Counts, subject: Subject) -> Ints:
    """Words by how much they tell: one-sided and frequent first."""
    rate = counts / np.maximum(np.bincount(subject.y, minlength=len(subject.classes)), 1)[:, None]
    lean = rate.max(axis=0) / np.maximum(rate.sum(axis=0), 1e-12)
    weight = (lean - 1 / len(subject.classes)) * np.sqrt(counts.sum(axis=0))
    return np.argsort(-weight, kind="stable").astype(np.int64)


def holding(subject: Subject, presence: Sparse, columns: Ints) -> list[str]:
    """The records that hold one of these words."""
    if len(columns) == 0:
        return []
    rows = np.flatnonzero(np.asarray(presence[:, columns].sum(axis=1)).ravel())
    return [subject.ids[int(i)] for i in rows]


def _row(subject: Subject, words: tuple[str, ...], counts: Counts, i: int) -> JsonObject:
    rate = counts[:, i] / np.maximum(np.bincount(subject.y, minlength=len(subject.classes)), 1)
    return {
        "word": excerpt(words[i], LONGEST),
        "counts": {c: int(counts[k, i]) for k, c in enumerate(subject.classes)},
        "leans": subject.classes[int(rate.argmax())],
    }


BINS = 40


def histogram(subject: Subject, values: Floats, *, cut: float | None = None) -> JsonObject:
    """`edges` and `counts` per class; values above the quantile `cut` are counted in the last
    bin.
    """
    known = np.isfinite(values)
    if not known.any():
        return {}
    low, high = float(values[known].min()), float(values[known].max())
    longest = high
    if cut is not None:
        high = float(np.quantile(values[known], cut))
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    counts = {
        name: (
            np.histogram(np.clip(values[known & (subject.y == k)], low, edges[-1]), bins=edges)[
                0
            ].tolist()
        )
        for k, name in enumerate(subject.classes)
    }
    return {"edges": [round(float(e), 3) for e in edges], "counts": counts, "longest": longest}
