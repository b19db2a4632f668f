"""The part of a long text that fits a query best."""

from __future__ import annotations

import re

from claimlab.search.analysis import EXACT, analyzer, prepared

_SENTENCE = re.compile("(?<=[.!?…])\\s+|\n+|(?<=[\u3002\uff01\uff1f])")


def best_passage(text: str, terms: set[str], limit: int) -> str:
    """Whole sentences of at most `limit` characters that hold the most of `terms`; the earliest of equals.

    A single sentence that is longer is cut.
    """
    if len(text) <= limit:
        return text
    sentences = [s for s in _SENTENCE.split(text) if s and s.strip()]
    held = [terms.intersection(analyzer(EXACT).analyze(prepared(s))) for s in sentences]
    best, best_count = (0, 1), -1
    for start in range(len(sentences)):
        found: set[str] = set()
        length = 0
        for end in range(start, len(sentences)):
            length += len(sentences[end]) + 1
            if length > limit and end > start:
                break
            if held[end] - found:
                found |= held[end]
                if len(found) > best_count:
                    best, best_count = (start, end + 1), len(found)
    start, end = best
    while start < end - 1 and not held[start]:
        start += 1  # what leads up to the first match says nothing of it
    return " ".join(s.strip() for s in sentences[start:end])[:limit]
