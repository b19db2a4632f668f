"""How check-worthy a sentence looks, by rules: numbers, names and factual verbs against first person and commands.

The weights are set by hand and were fitted to no dataset; bench/enrich_pt.py says what they are worth. Languages
without a word list (data/checkworthy.toml) are judged by digits, capitals, punctuation and length.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.enrich.sentences import first_words, sentences, words
from claimlab.text.normalise import strip_accents

READ, MOST = 75, 20  # words read of a text, words of a claim at most
_CLAUSE = re.compile(r"(?<=[,;:–—])\s+|\s+[-–—]\s+")
_BARE = re.compile(r"^\W+|\W+$")
_QUESTION = re.compile(r"[?？؟]\s*\W*$")


@cache
def _cues(language: str | None) -> dict[str, frozenset[str]]:
    return {
        kind: frozenset(listed)
        for kind, listed in packaged.toml("claimlab.enrich", "checkworthy.toml").get(language or "", {}).items()
    }


def score(sentence: str, language: str | None) -> float:
    """Higher is more check-worthy; only the order of two scores means anything."""
    written = [w for w in (_BARE.sub("", w) for w in words(sentence)) if w]
    if not written:
        return float("-inf")
    folded = strip_accents(pl.Series([w.lower() for w in written], dtype=pl.String)).to_list()
    cues, empty = _cues(language), frozenset[str]()
    names = sum(1 for w in written[1:] if w[0].isupper() and not (w.isupper() and len(w) > 5))
    total = 1.0 * min(3, sum(any(map(str.isdigit, w)) for w in written))
    total += 0.6 * min(4, names)
    total += 0.8 * min(2, sum(w in cues.get("factual", empty) for w in folded))
    total -= 1.0 * min(2, sum(w in cues.get("person", empty) for w in folded))
    total -= 0.8 * min(2, sum(w in cues.get("opinion", empty) for w in folded))
    total -= 1.5 * (folded[0] in cues.get("command", empty))
    total -= 2.0 * bool(_QUESTION.search(sentence))
    total -= 0.5 * ("!" in sentence)
    return total - (1.5 if len(written) < 5 else 0.0)


def best_claims(text: str, language: str | None, *, most: int = 1) -> list[str]:
    """The `most` most check-worthy sentences of the first 75 words, each within 20 words, in the order of the text."""
    candidates = sentences(head(text))
    ranked = sorted(range(len(candidates)), key=lambda i: (-score(candidates[i], language), i))[:most]
    claims = [_shortened(candidates[i], language) for i in sorted(ranked)]
    return list(dict.fromkeys(c for c in claims if c))


def head(text: str) -> str:
    """The first 75 words with their line ends, which end sentences."""
    found = list(re.finditer(r"\S+", text))
    return text if len(found) <= READ else text[: found[READ - 1].end()]


def _shortened(sentence: str, language: str | None) -> str:
    """A sentence within 20 words: as it is, or its best run of whole clauses, or its beginning."""
    if len(words(sentence)) <= MOST:
        return sentence
    clauses = _CLAUSE.split(sentence)
    runs = [" ".join(clauses[i:j]) for i in range(len(clauses)) for j in range(i + 1, len(clauses) + 1)]
    fitting = [run for run in runs if MOST // 2 <= len(words(run)) <= MOST]
    if not fitting:
        return first_words(sentence, MOST)
    return max(fitting, key=lambda run: score(run, language)).strip(" ,;:–—-")
