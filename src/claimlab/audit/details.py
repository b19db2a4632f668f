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
from claimlab.pages.blocks import excerpt
from claimlab.text.telling import CHARACTERS_MASKED, Counts, most_frequent, per_class
from claimlab.text.telling import presence as presence_of

WORDS_SHOWN = 40  # words in a table
DOTS = 250  # words in a chart
BINS = 40


def presence(held: pl.DataFrame, rows: int, top: int) -> tuple[tuple[str, ...], Sparse]:
    """The `top` most frequent words (by rows that hold them), and a sparse 0/1 matrix of rows by
    words; `held` has a `row` and a `word` for each that a row holds.
    """
    words = most_frequent(held, top)
    return words, presence_of(held, words, rows)


def word_details(
    subject: Subject, words: tuple[str, ...], presence: Sparse, *, only: Ints | None = None
) -> JsonObject:
    """For a finding: the most telling words (or the columns `only`) with their counts, and the
    chart's dots.
    """
    counts = word_counts(subject, presence)
    ranked = telling(counts, subject)
    table = ranked[:WORDS_SHOWN] if only is None else np.asarray(only, dtype=np.int64)
    usual = np.argsort(-counts.sum(axis=0), kind="stable")
    dots = list(dict.fromkeys([*ranked[: DOTS // 2].tolist(), *usual.tolist()]))[:DOTS]
    leans = _rate(counts, subject).argmax(axis=0)
    return {
        "words": [
            {
                "word": excerpt(words[i], CHARACTERS_MASKED),
                "counts": subject.named(counts[:, i]),
                "leans": subject.classes[leans[i]],
            }
            for i in table.tolist()
        ],
        "cloud": {
            "words": [excerpt(words[i], CHARACTERS_MASKED) for i in dots],
            "counts": dict(zip(subject.classes, counts[:, dots].tolist(), strict=True)),
            "sizes": subject.class_counts,
        },
    }


def word_counts(subject: Subject, presence: Sparse) -> Counts:
    """Rows per class and word."""
    return per_class(presence, subject.everyone, subject.y, len(subject.classes))


def telling(counts: Counts, subject: Subject) -> Ints:
    """Words by how much they tell: one-sided and frequent first."""
    rate = _rate(counts, subject)
    lean = rate.max(axis=0) / np.maximum(rate.sum(axis=0), 1e-12)
    weight = (lean - 1 / len(subject.classes)) * np.sqrt(counts.sum(axis=0))
    return np.argsort(-weight, kind="stable").astype(np.int64)


def _rate(counts: Counts, subject: Subject) -> Floats:
    return np.asarray(counts / np.maximum(subject.sizes, 1)[:, None])


def holding(subject: Subject, presence: Sparse, columns: Ints) -> list[str]:
    """The records that hold one of these words."""
    if len(columns) == 0:
        return []
    rows = np.flatnonzero(np.asarray(presence[:, columns].sum(axis=1)).ravel())
    return [subject.ids[i] for i in rows.tolist()]


def histogram(subject: Subject, values: Floats, *, cut: float | None = None) -> JsonObject:
    """`edges` and `counts` per class; values above the quantile `cut` are counted in the last
    bin.
    """
    if not len(values):
        return {}
    low, longest = float(values.min()), float(values.max())
    high = longest if cut is None else float(np.quantile(values, cut))
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    inside = np.clip(values, low, edges[-1])
    counts = subject.per_class(inside, lambda sizes: np.histogram(sizes, bins=edges)[0].tolist())
    return {"edges": [round(float(e), 3) for e in edges], "counts": counts, "longest": longest}
