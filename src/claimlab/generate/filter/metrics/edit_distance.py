"""How much of the source changed, against the degree that was asked for: the mean of three
distances from 0 to 1.
"""

from __future__ import annotations

from claimlab.generate.filter.metric import (
    DOES_NOT_APPLY,
    Metric,
    Reading,
    one_by_one,
    unmeasured,
    within,
)
from claimlab.generate.filter.texts import Batch, Text


def changed(source: str, text: str) -> float:
    """Jaccard of words, Levenshtein and longest common subsequence of characters, each as a share
    that changed.
    """
    from rapidfuzz.distance import Indel, Levenshtein

    one, other = set(source.casefold().split()), set(text.casefold().split())
    words = 1 - len(one & other) / len(one | other) if one | other else 0.0
    return (
        words
        + Levenshtein.normalized_distance(source, text)
        + Indel.normalized_distance(source, text)
    ) / 3


def read(text: Text, batch: Batch) -> Reading:
    if not text.comparable:
        return _missing(text)
    value = changed(text.source or "", text.text or "")
    band = batch.limit("edit-distance", "changed", text)
    if text.degree is None or band is None:
        return unmeasured("no degree was asked for", value)
    low, high = band
    return within(value, low, high, f"the share that changed ({text.degree}) is")


def _missing(text: Text) -> Reading:
    return DOES_NOT_APPLY if text.short or text.translated else unmeasured("no source")


METRIC = Metric(
    "validation", "as much changed as was asked for", "the source and a degree", one_by_one(read)
)
