"""What people call their columns, in the spellings and languages that datasets are published in.

Names are compared folded: claimReviewed, Claim_Reviewed and "claim reviewed" are one name, accents
do not count. A header that is no known name may still end with one (news_label), begin with one
(texto da notícia) or contain one (Behauptungstext).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from claimlab.core import packaged

_VOCABULARY = packaged.toml("claimlab.exchange", "vocabulary.toml")
SPLITS: dict[str, str] = {
    word: split for split, words in _VOCABULARY["splits"].items() for word in words
}
_FOLDED_LETTERS = str.maketrans(
    {"ı": "i", "ł": "l", "đ": "d", "ø": "o", "ð": "d", "æ": "ae", "ə": "e"}
)
_LEFT_BY_MERGES = frozenset({"x", "y", *map(str, range(10))})  # label_x, annotation 1
# of a name that may be part of another, in writing without spaces
LEAST_LETTERS, LEAST_SIGNS = 4, 2
UNSPACED = "\u0e00"  # scripts from here on (Thai, Chinese and those between) write no spaces
YES, NO, MARKS = (frozenset(_VOCABULARY[words]) for words in ("yes", "no", "marks"))
SAYS_YES, SAYS_NO = YES | set(_VOCABULARY["yes_words"]), NO | set(_VOCABULARY["no_words"])
_NAMES: dict[str, dict[str, list[str]]] = packaged.toml("claimlab.exchange", "names.toml")
# Lower-case spellings that tell a header from a first row: "claim text", "claim_text" and
# "claimtext".
HEADER_WORDS = frozenset(
    spelling
    for languages in _NAMES.values()
    for names in languages.values()
    for name in map(str.casefold, names)
    for spelling in (name, name.replace(" ", "_"), name.replace(" ", ""), name.replace(" ", "-"))
    if name not in ("y", "fake", "nr", "no", "status", "row")
)


class NamedRole(NamedTuple):
    """How a header says a role: as a `whole`, by its `main` word, by the word that it merely
    `starts` with, or as `part` of a word; and how usual the name is, from 0.6 to 1.
    """

    where: str
    grade: float


@lru_cache(1 << 16)  # thousands of files have the same columns
def fold_name(name: str) -> str:
    """What two spellings of one column name have in common."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    decomposed = unicodedata.normalize("NFKD", spaced)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    words = "".join(c if _in_word(c) else " " for c in plain.translate(_FOLDED_LETTERS)).split()
    return " ".join(map(_without_article, words))


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _without_article(word: str) -> str:
    return word[2:] if word.startswith("ال") and len(word) > 4 else word


SUSPICIONS, ALL_FALSE, ALL_TRUE, STANCES, ANNOTATORS, PEOPLE = (
    frozenset(map(fold_name, _VOCABULARY[names]))
    for names in ("suspicions", "all_false", "all_true", "stances", "annotators", "people")
)


def _graded(languages: Mapping[str, list[str]]) -> dict[str, float]:
    """Each folded name and how usual it is: 1 for the first of its language."""
    grades: dict[str, float] = {}
    for names in languages.values():
        for place, name in enumerate(names):
            folded = fold_name(name)
            grades[folded] = max(grades.get(folded, 0.0), 1 - 0.4 * place / len(names))
    return grades


def _is_part(name: str) -> bool:
    """Whether a name is long enough to be recognised inside another word."""
    return " " not in name and len(name) >= (LEAST_SIGNS if name[0] >= UNSPACED else LEAST_LETTERS)


NAMES = {role: _graded(languages) for role, languages in _NAMES.items()}
for _name in ALL_FALSE | ALL_TRUE:
    NAMES["label"].setdefault(_name, 0.8)
# Of "ocena prawdziwości" and "texto da notícia" the first word says what it is, of "truth rating"
# the last.
_HEAD_FIRST = {
    role: frozenset(
        fold_name(name)
        for language in _VOCABULARY["head_first"]
        for name in languages.get(language, ())
    )
    for role, languages in _NAMES.items()
}
_PARTS = {
    role: {name: grade for name, grade in names.items() if _is_part(name)}
    for role, names in NAMES.items()
}


@cache
def named(folded: str) -> dict[str, NamedRole]:
    """The roles that a folded header names, and how."""
    return {role: how for role in NAMES if (how := _named(folded, role)) is not None}


def _named(folded: str, role: str) -> NamedRole | None:
    names, words = NAMES[role], folded.split()
    if folded in names:
        return NamedRole("whole", names[folded])
    while len(words) > 1 and words[-1] in _LEFT_BY_MERGES:
        words = words[:-1]
    if " ".join(words) in names:
        return NamedRole("whole", 0.8 * names[" ".join(words)])
    sizes = [size for size in (3, 2, 1) if size < len(words)]
    ends = [" ".join(words[-size:]) for size in sizes]
    starts = [" ".join(words[:size]) for size in sizes]
    main = [names[end] for end in ends if end in names]
    main += [names[start] for start in starts if start in _HEAD_FIRST[role]]
    if main:
        return NamedRole("main", max(main))
    if grades := [names[start] for start in starts if start in names]:
        return NamedRole("starts", max(grades))
    best = max((_share_of_part(word, role) for word in words), default=0.0)
    return NamedRole("part", best) if best else None


@cache
def _share_of_part(word: str, role: str) -> float:
    """The best grade of a known part that a word begins or ends with, by its share of the word."""
    grades = [
        grade * len(part) / len(word)
        for part, grade in _PARTS[role].items()
        if part != word and (word.startswith(part) or word.endswith(part))
    ]
    return max(grades, default=0.0)
