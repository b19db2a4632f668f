"""The sentences of a text: those that fit a query best, the parts that a search engine would show,
and what a claim is compared by in meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from claimlab.search.analysis import EXACT, analyzer, prepared

# In most scripts whitespace follows the mark; in Chinese and Japanese it may not.
_SENTENCE = re.compile(
    "(?<=[.!?…\u061f\u0964\u0965\u06d4\u1362\u0589\u104b\u17d4\u055e\u1367\u2e2e\u1803\u166e])\\s+"
    "|(?<=[\u0370-\u03ff\u1f00-\u1fff][;\u037e])\\s+"
    "|\n+|(?<=[\u3002\uff0e\uff61\uff01\uff1f])"
)
# addresses, and what a post says of accounts: "@name", and the last line of one that is quoted
_UNSAID = re.compile(
    r"https?://\S+|pic\.twitter\.com/\S+|— [^\n—(]{1,60}\(@\w+\)[^\n(]{0,40}$|@\w+|#"
)
_SENTENCE_CHARACTERS = 20  # of one that says something
_MOST_SENTENCES = 8


def said(text: str) -> list[str]:
    """What a claim is compared by in meaning: its whole text without addresses and accounts, and
    behind it its sentences where it has several."""
    plain = _UNSAID.sub(" ", text)
    sentences = [" ".join(s.split()) for s in _SENTENCE.split(plain) if s and s.strip()]
    long = [s for s in sentences if len(s) >= _SENTENCE_CHARACTERS][:_MOST_SENTENCES]
    return [" ".join(sentences) or text, *(long if len(sentences) > 1 else [])]


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
    matched = [terms.intersection(analyzer(EXACT).analyze(prepared(s))) for s in sentences]
    start, end = _best_window(sentences, matched, limit)
    while start < end - 1 and not matched[start]:
        start += 1  # what leads up to the first match says nothing of it
    if fill:
        start, end = _filled(sentences, start, end, limit)
    return " ".join(s.strip() for s in sentences[start:end])[:limit]


def snippets(text: str, least: int = 25, most: int = 40) -> list[str]:
    """The parts of a text that are as long as what a search engine shows of a page: whole sentences
    of at least `least` words together, from each sentence on; of more than `most` words, the
    sentence is cut in runs that overlap by half."""
    parts = []
    for sentence in _SENTENCE.split(text):
        words = sentence.split() if sentence else []
        starts = range(0, max(len(words) - most // 2, 1), most // 2) if words else ()
        parts += [words[start : start + most] for start in starts]
    runs = []
    for at, words in enumerate(parts):
        for following in parts[at + 1 :]:
            if len(words) >= least or len(words) + len(following) > most:
                break
            words = [*words, *following]
        runs.append(" ".join(words))
    return runs


def _best_window(sentences: list[str], matched: Sequence[Set[str]], limit: int) -> tuple[int, int]:
    """The sentences, from and to, that hold the most terms and fit; the earliest of equals."""
    best, best_count = (0, 1), -1
    for start in range(len(sentences)):
        terms: set[str] = set()
        length = 0
        for end in range(start, len(sentences)):
            length += len(sentences[end]) + 1
            if length > limit and end > start:
                break
            terms |= matched[end]
            if len(terms) > best_count:
                best, best_count = (start, end + 1), len(terms)
    return best


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
