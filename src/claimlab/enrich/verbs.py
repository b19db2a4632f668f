"""The verbs of a sentence. Which words are verbs of a report is known by lists and by what comes
before: "the report" is none. The lists name verbs once, as a dictionary does; the forms in which a
report uses them are made by the rules of the language. Without a list nothing is known to be a
verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from claimlab.core import packaged
from claimlab.enrich.cues import cues
from claimlab.text.stopwords import stop_words

HEADLINE_SUBJECT_WORDS = 4  # words within which a headline comes to its verb
ENCLITIC = re.compile(r"-(?:se|me|lhes?|[ao]s?)$")  # "encontra-se"
AND = frozenset({"and", "e", "y", "und", "et", "or", "ou"})


def is_verb(word: str, language: str | None, before: str = "") -> bool:
    """Whether a lower-case word is a verb of a report: by the lists, or by its ending; after a word
    that only a noun can follow (`before`) it is none."""
    lists = cues(language)
    if before in lists["determiners"]:
        return False
    endings = tuple(lists["endings"])
    if language == "por":
        word = ENCLITIC.sub("", word)
    listed = word in lists["factual"] or word in verb_forms(language)
    plural = lists["plural"] and (before.endswith("s") or before in lists["plural"])
    return bool(listed or (plural and word in lists["regular"]) or _ends(word, endings, language))


def verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """For each lower-case word of a sentence whether it is a verb. A Portuguese headline may begin
    with a participle, "Confirmada primeira morte", and a place with a verb, "São Paulo"."""
    flags = [is_verb(word, language, before) for before, word in pairwise(["", *written])]
    if written and written[0] in _participles(language):
        flags[0] = True
    for i, pair in enumerate(pairwise(written)):
        flags[i] = flags[i] and " ".join(pair) not in cues(language)["names"]
    if language == "eng" and not any(flags):  # "India spraying pesticides"
        flags[1:HEADLINE_SUBJECT_WORDS] = [
            word.endswith("ing") and len(word) > 5 for word in written[1:HEADLINE_SUBJECT_WORDS]
        ]
    return flags


def main_verbs(written: Sequence[str], language: str | None) -> list[bool]:
    """The same without the verbs of relative clauses: "a message of a man who lives in Ostrel" has
    none. After a verb, "that" begins what is said, and not a relative clause."""
    relatives = cues(language)["relatives"]
    flags = verbs(written, language)
    # for the verb of a relative clause; for another one that "and" joins to it
    waiting = joined = False
    for i, word in enumerate(written):
        if word in relatives and not (i and flags[i - 1]):
            waiting, joined = True, False
        elif flags[i] and (waiting or (joined and AND & set(written[i - 2 : i]))):
            flags[i], waiting, joined = False, False, True
        elif flags[i]:
            joined = False
    return flags


def _ends(word: str, endings: tuple[str, ...], language: str | None) -> bool:
    return len(word) > 4 and word.endswith(endings) and word not in stop_words(language or "eng")


@cache
def verb_forms(language: str | None) -> frozenset[str]:
    """The forms of the regular verbs; a form that is another word (Portuguese "para", for) is left
    out.
    """
    regular = cues(language)["regular"]
    if language == "eng":
        return frozenset(form for verb in regular for form in _english(verb))
    if language == "por":
        forms = frozenset(form for verb in regular for form in _portuguese(verb))
        return forms - stop_words(language)
    return frozenset()


@cache
def _participles(language: str | None) -> frozenset[str]:
    regular = cues(language)["regular"] if language == "por" else ()
    stems = [
        verb[:-2] + ("ad" if verb.endswith("ar") else "íd" if verb[-3] in "aiou" else "id")
        for verb in regular
    ]
    return frozenset(stem + end for stem in stems for end in ("o", "a", "os", "as"))


def _portuguese(verb: str) -> tuple[str, ...]:
    stem, kind = verb[:-2], verb[-2:]
    if verb.endswith("uir"):  # inclui, incluem
        return f"{stem}i", f"{stem}em", f"{stem}iu", f"{stem}íram", f"{stem}irá", f"{stem}irão"
    if verb.endswith("ear"):  # nomeia, nomeiam
        stem = f"{verb[:-2]}i"
    endings = packaged.toml("claimlab.enrich", "checkworthy.toml")["portuguese"][kind]
    return tuple(stem + end for end in endings)


def _english(verb: str) -> tuple[str, str]:
    """The third person and the past: cures, cured; denies, denied; reaches, reached."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es", f"{verb}ed"
    return f"{verb}s", f"{verb}d" if verb.endswith("e") else f"{verb}ed"
