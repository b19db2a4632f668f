"""Which words of a sentence are verbs of a report, by lists and by what comes before: "the report"
is none.

The lists (data/checkworthy.toml) name verbs once, as a dictionary does; the forms in which a report
uses them are made by the rules of the language. Without a list nothing is known to be a verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import polars as pl

from claimlab.core import packaged
from claimlab.text.normalise import strip_accents
from claimlab.text.stopwords import stop_words

Cues = dict[str, frozenset[str]]
SUBJECT = 4  # words within which a headline comes to its verb
_AND = frozenset({"and", "e", "y", "und", "et", "or", "ou"})
# Third person: present, past, future, imperfect; one and many.
_PORTUGUESE = {
    "ar": ("a", "am", "ou", "aram", "ará", "arão", "ava", "avam"),
    "er": ("e", "em", "eu", "eram", "erá", "erão", "ia", "iam"),
    "ir": ("e", "em", "iu", "iram", "irá", "irão", "ia", "iam"),
}


@cache
def cues(language: str | None) -> Cues:
    """The word lists of a language; each word also without accents, where that is not another
    word.
    """
    listed = packaged.toml("claimlab.enrich", "checkworthy.toml").get(language or "", {})
    other = stop_words(language) if language and listed else frozenset[str]()
    return {
        kind: (
            frozenset(words)
            if kind == "endings"
            else frozenset(words) | (frozenset(_folded(words)) - other)
        )
        for kind, words in listed.items()
    }


def _folded(listed: list[str]) -> list[str]:
    bare: list[str] = strip_accents(pl.Series(listed, dtype=pl.String)).to_list()
    return [plain for plain, word in zip(bare, listed, strict=True) if plain != word]


def is_verb(word: str, language: str | None, before: str = "") -> bool:
    """Whether a lower-case word is a verb of a report: by the lists, or by its ending; after a word
    that only a noun can follow (`before`) it is none."""
    known = cues(language)
    if before in known.get("determiners", ()):
        return False
    endings = tuple(known.get("endings", ()))
    listed = word in known.get("factual", ()) or word in _forms(language)
    plural = before.endswith("s") or before in known.get("plural", ())
    return listed or (plural and word in known.get("regular", ())) or _ends(word, endings, language)


def verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """For each lower-case word of a sentence whether it is a verb. A Portuguese headline may begin
    with a participle: "Confirmada primeira morte"."""
    flags = [is_verb(word, language, before) for before, word in pairwise(["", *written])]
    if written and written[0] in _participles(language):
        flags[0] = True
    if language == "eng" and not any(flags):  # "India spraying pesticides"
        flags[1:SUBJECT] = [word.endswith("ing") and len(word) > 5 for word in written[1:SUBJECT]]
    return flags


def main_verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """The same without the verbs of relative clauses: "a message of a man who lives in Ostrel" has
    none. After a verb, "that" begins what is said, and not a relative clause."""
    relatives = cues(language).get("relatives", frozenset())
    flags = verbs(written, language)
    waiting = joined = (
        False  # for the verb of a relative clause; for another one that "and" joins to it
    )
    for i, word in enumerate(written):
        if word in relatives and not (i and flags[i - 1]):
            waiting, joined = True, False
        elif flags[i] and (waiting or (joined and _AND & set(written[i - 2 : i]))):
            flags[i], waiting, joined = False, False, True
        elif flags[i]:
            joined = False
    return flags


def _ends(word: str, endings: tuple[str, ...], language: str | None) -> bool:
    return len(word) > 4 and word.endswith(endings) and word not in stop_words(language or "eng")


@cache
def _forms(language: str | None) -> frozenset[str]:
    """The forms of the regular verbs; a form that is another word (Portuguese "para", for) is left
    out.
    """
    regular = cues(language).get("regular", frozenset())
    if language == "eng":
        return frozenset(form for verb in regular for form in _english(verb))
    if language == "por":
        forms = frozenset(form for verb in regular for form in _portuguese(verb))
        return forms - stop_words(language)
    return frozenset()


@cache
def _participles(language: str | None) -> frozenset[str]:
    regular = cues(language).get("regular", frozenset()) if language == "por" else frozenset[str]()
    stems = [verb[:-2] + ("ad" if verb.endswith("ar") else "id") for verb in regular]
    return frozenset(stem + end for stem in stems for end in ("o", "a", "os", "as"))


def _portuguese(verb: str) -> tuple[str, ...]:
    stem, kind = verb[:-2], verb[-2:]
    if verb.endswith("uir"):  # inclui, incluem
        return f"{stem}i", f"{stem}em", f"{stem}iu", f"{stem}íram", f"{stem}irá", f"{stem}irão"
    return tuple(stem + end for end in _PORTUGUESE[kind])


def _english(verb: str) -> tuple[str, str]:
    """The third person and the past: cures, cured; denies, denied; reaches, reached."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es", f"{verb}ed"
    return f"{verb}s", f"{verb}d" if verb.endswith("e") else f"{verb}ed"
