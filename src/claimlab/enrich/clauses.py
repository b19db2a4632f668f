"""The verbs of a sentence, and a long sentence made shorter at the end of a clause: with its
subject, and never in the middle of one.

Which words are verbs of a report is known by lists and by what comes before: "the report" is none.
The lists (data/checkworthy.toml) name verbs once, as a dictionary does; the forms in which a report
uses them are made by the rules of the language. Without a list nothing is known to be a verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import polars as pl

from claimlab.core import packaged
from claimlab.enrich.sentences import words
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


MOST = 20  # words of a claim, as in the paper; one that has no clause to end at may be longer
LEAST = 8  # words of the part of a sentence that is kept
LONG = 30  # words of a sentence that may lose a relative clause
LONGEST = 45  # words of a sentence without any end of a clause
_BOUNDARY = re.compile(r"(?<=[,;:])\s+|(?<!\s)\s+(?:[-–—]{1,2}\s+|(?=\())")
_DATELINE = re.compile(
    r"^(?:\(?[A-ZÀ-Þ][\w.()/]*,?\s+){1,4}[-–—]\s+(?=[A-ZÀ-Þ\d])"
)  # "Quito (Ecuador) - On Monday"
TAIL = 3  # words after the last comma of a part: fewer are the beginning of something
_AROUND = re.compile(r"^\W+|\W+$")
_PARTICIPLE = re.compile(r"(?:[ai]d[oa]s?|ed|ing)$")
_WHAT = frozenset({"que", "that", "dass"})
_EDGES = " ,;:–—-"


def shortened(sentence: str, language: str | None) -> str:
    """`sentence` within `MOST` words, cut where a clause ends; nothing of one so long that none of
    its clauses can be told."""
    whole = _DATELINE.sub("", sentence).strip(_EDGES)
    if len(words(whole)) <= MOST:
        return whole
    ends = sorted(
        (part for part in _parts(whole, language) if _is_clause(part, whole, language)), key=len
    )
    short = [part for part in ends if len(words(part)) <= MOST]
    best = short[-1] if short else ends[0] if ends else whole
    if len(words(best)) <= LONGEST:
        return best.strip(_EDGES)
    return "" if cues(language) else " ".join(words(whole)[:MOST])


def bare(word: str) -> str:
    """A word without punctuation around it, in lower case."""
    return _AROUND.sub("", word).lower()


def _parts(whole: str, language: str | None) -> Iterator[str]:
    """What comes before each place where a clause may end."""
    yield from (whole[: end.start()] for end in _BOUNDARY.finditer(whole))
    known = cues(language)
    joins, adds, relatives = (
        known.get(kind, frozenset()) for kind in ("joins", "adds", "relatives")
    )
    if bare(words(whole)[0]) in joins:
        return  # the first clause is not the main one
    if len(words(whole)) > LONG:  # else what says which one is meant stays
        joins |= relatives - _WHAT
    for at in re.finditer(r"(?<!\s)\s+(?=(\S+)\s+(\S+))", whole):
        pair = f"{at[1]} {at[2]}".lower()
        word = pair if pair in joins else at[1].lower()
        # "after" begins a clause where a verb follows; in "named the project after a river" it does
        # not.
        if word in joins and (word not in adds or _says_something(whole[at.end() :], language)):
            yield whole[: at.start()]


def _says_something(rest: str, language: str | None) -> bool:
    phrase = [bare(word) for word in words(_BOUNDARY.split(rest, maxsplit=1)[0])[1:]]
    infinitive = (
        language in ("por", "spa") and bool(phrase) and phrase[0].endswith(("ar", "er", "ir"))
    )
    return infinitive or any(verbs(phrase, language))


def _is_clause(part: str, whole: str, language: str | None) -> bool:
    """No bracket is left open, no word waits for the next, something is said of the subject, and
    nothing that belongs to it comes after."""
    known = cues(language)
    written = [bare(word) for word in words(part)]
    if len(written) < LEAST or part.count("(") != part.count(")"):
        return False
    verb_marks = verbs(written, language)
    stops = (stop_words(language) if language else frozenset[str]()) | _openers(known)
    if written[-1] in stops or verb_marks[-1]:  # "the minister says" waits for what
        return False
    rest = _segments(whole[len(part) :].strip(_EDGES))
    return not known or (
        _has_main_verb(part, language)
        and not _goes_on(_segments(part)[-1], written, rest, language)
    )


def _has_main_verb(part: str, language: str | None) -> bool:
    """Where a sentence begins with "when" or "if", its main verb comes after the first comma."""
    segments = _segments(part)
    late = segments[0][0] in _openers(cues(language)) | cues(language).get(
        "conditions", frozenset()
    )
    return any(main_verbs([word for segment in segments[late:] for word in segment], language))


def _goes_on(
    last: list[str], written: list[str], rest: list[list[str]], language: str | None
) -> bool:
    """Whether the sentence says more of the same: "the doctor, who was ill, | had written it"; "a
    disease | that spreads"; "gave on Monday, in Ostrel, | the looms"; "says in the paper, on page
    one, | that the mill burnt".
    """
    if not rest:
        return False
    known = cues(language)
    prepositions, articles = (
        known.get("determiners", frozenset()),
        known.get("articles", frozenset()),
    )
    openings = [segment[0] for segment in (last, *rest[:2])]
    interrupted = any(
        (a in prepositions or _PARTICIPLE.search(a)) and b in articles
        for a, b in pairwise(openings)
    )
    waits = _waiting(written, known.get("says", frozenset())) and any(s[0] in _WHAT for s in rest)
    return interrupted or waits or len(last) < TAIL or is_verb(rest[0][0], language, written[-1])


def _segments(text: str) -> list[list[str]]:
    """The words between commas, dashes and brackets."""
    cut = ([bare(word) for word in words(part)] for part in _BOUNDARY.split(text))
    return [segment for segment in cut if segment]


def _openers(known: Cues) -> frozenset[str]:
    return known.get("joins", frozenset()) | known.get("relatives", frozenset())


def _waiting(written: list[str], says: frozenset[str]) -> bool:
    """Whether someone says something, and what it is has not come yet."""
    last = max((i for i, word in enumerate(written) if word in says), default=None)
    return last is not None and not _WHAT & set(written[last:])
