"""The part of a long text that fits a query best."""

from __future__ import annotations

import re

from claimlab.search.analysis import EXACT, analyzer, prepared

_SENTENCE = re.compile("(?<=[.!?…])\\s+|\n+|(?<=[\u3002\uff01\uff1f])")


def best_passage(
    text: str, terms: set[str] | frozenset[str], limit: int, *, fill: bool = False
) -> str:
    """Whole sentences of at most `limit` characters that hold the most of `terms`; the earliest of
    equals.

    A single sentence that is longer is cut. With `fill`, the sentences after and before are added
    as far as they fit.
    """
    if len(text) <= limit:
        return text
    sentences = [s for s in _SENTENCE.split(text) if s and s.strip()]
    held = [terms.intersection(analyzer(EXACT).analyze(prepared(s))) for s in sentences]
    best, best_count = (0, 1), -1
    for start in range(len(sentences)):
        matched: set[str] = set()
        length = 0
        for end in range(start, len(sentences)):
            length += len(sentences[end]) + 1
            if length > limit and end > start:
                break
            if held[end] - matched:
                matched |= held[end]
                if len(matched) > best_count:
                    best, best_count = (start, end + 1), len(matched)
    start, end = best
    while start < end - 1 and not held[start]:
        start += 1  # what leads up to the first match says nothing of it
    if fill:
        start, end = _filled(sentences, start, end, limit)
    return " ".join(s.strip() for s in sentences[start:end])[:limit]


def _filled(sentences: list[str], start: int, end: int, limit: int) -> tuple[int, int]:
    """What follows a match explains it more often than what leads up to it, so that is added
    first.
    """
    room = limit - sum(len(s) + 1 for s in sentences[start:end])
    while end < len(sentences) and len(sentences[end]) < room:
        room -= len(sentences[end]) + 1
        end += 1
    while start > 0 and len(sentences[start - 1]) < room:
        start -= 1
        room -= len(sentences[start]) + 1
    return start, end
