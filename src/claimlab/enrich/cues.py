"""The words of a language that say something of a sentence, by kind: verbs of a report, links,
commands, questions (data/checkworthy.toml). A language without lists has none of any kind.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import polars as pl

from claimlab.core import packaged
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import words
from claimlab.text.traits import PUNCTUATION

_AROUND = re.compile(r"^\W+|\W+$")
QUESTION_MARKS = frozenset(PUNCTUATION["question"])


class Cues(dict[str, frozenset[str]]):
    """The words of a language by kind; of a kind that it does not list there are none."""

    def __missing__(self, kind: str) -> frozenset[str]:
        return frozenset()


@cache
def cues(language: str | None) -> Cues:
    """The word lists of a language; each word also without accents, where that is not another
    word.
    """
    listed = packaged.toml("claimlab.enrich", "checkworthy.toml").get(language or "", {})
    other = stop_words(language) if language and listed else frozenset[str]()
    lists = Cues()
    for kind, spelt in listed.items():
        folded = [] if kind == "endings" else _folded(spelt)
        lists[kind] = frozenset(spelt) | (frozenset(folded) - other)
    return lists


def _folded(listed: list[str]) -> list[str]:
    without_accents: list[str] = strip_accents(pl.Series(listed, dtype=pl.String)).to_list()
    return [plain for plain, word in zip(without_accents, listed, strict=True) if plain != word]


def bare(word: str) -> str:
    """A word without punctuation around it, in lower case."""
    return _AROUND.sub("", word).lower()


def bare_words(text: str) -> list[str]:
    """The words of a text, each bare."""
    return [bare(word) for word in words(text)]


def count_of(written: list[str], lists: Cues, kind: str) -> int:
    """How many words, and pairs of words, are of this kind."""
    pairs = [" ".join(pair) for pair in pairwise(written)]
    return sum(w in lists[kind] for w in [*written, *pairs])


def begins_with(written: list[str], lists: Cues, kind: str) -> bool:
    """Whether the first word, or the first two, are of this kind."""
    return written[0] in lists[kind] or " ".join(written[:2]) in lists[kind]


def ends_in(marks: frozenset[str], sentence: str) -> bool:
    """Whether one of the marks is in the punctuation at the end."""
    for character in reversed(sentence):
        if character in marks:
            return True
        if character.isalnum() or character == "_":
            return False
    return False


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
