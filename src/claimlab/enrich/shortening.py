"""A long sentence made shorter at the end of a clause: with its subject, and never in the middle
of a clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from claimlab.enrich.cues import Cues, bare, bare_words, capitalised, cues
from claimlab.enrich.verbs import AND, is_verb, main_verbs, verbs
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import first_words, words

# words of a claim, as in the paper; one that has no clause to end at may be longer
MOST_CLAIM_WORDS = 20
LEAST_PART_WORDS = 8  # words of the part of a sentence that is kept
LONG_SENTENCE_WORDS = 30  # words of a sentence that may lose a relative clause
LONGEST_CLAUSE_WORDS = 45  # words of a sentence without any end of a clause
_BOUNDARY = re.compile(r"(?<=[,;:])\s+|(?<!\s)\s+(?:[-–—]{1,2}\s+|(?=\())")
_DATELINE = re.compile(
    r"^(?:\(?[A-ZÀ-Þ][\w.()/]*,?\s+(?:d[aeo]s?\s+)?){1,4}[-–—]\s+(?=[A-ZÀ-Þ\d])"
)  # "Quito (Ecuador) - On Monday"
_ASIDE = re.compile(r"\s\([^()]{1,30}\)(?=[\s,;:.])")  # "on Tuesday (24)", "the senator (PX-RN)"
LEAST_TAIL_WORDS = 3  # words after the last comma of a part: fewer are the beginning of something
_PARTICIPLE = re.compile(r"(?:[ai]d[oa]s?|ed|ing)$")
_WHAT = frozenset({"que", "that", "dass"})
_EDGES = " ,;:–—-"


def shortened(sentence: str, language: str | None) -> str:
    """`sentence` within `MOST_CLAIM_WORDS`, cut where a clause ends; nothing of one so long that
    none of its clauses can be told."""
    whole = _DATELINE.sub("", sentence).strip(_EDGES)
    if whole.endswith((" .", "..")) and not whole.endswith("..."):
        whole = f"{whole.rstrip(' .')}."
    if len(words(whole)) > MOST_CLAIM_WORDS:
        whole = _ASIDE.sub("", whole)
    if len(words(whole)) <= MOST_CLAIM_WORDS:
        return whole
    head, colon, rest = whole.partition(": ")
    says = [any(main_verbs(bare_words(part), language)) for part in (head, rest)]
    if colon and cues(language) and says == [False, True]:  # a title, and what it is about
        return shortened(capitalised(rest), language)
    best = _best_clause(whole, language)
    if len(words(best)) <= LONGEST_CLAUSE_WORDS:
        return best.strip(_EDGES)
    return "" if cues(language) else first_words(whole, MOST_CLAIM_WORDS)


def _best_clause(whole: str, language: str | None) -> str:
    """The longest clause within `MOST_CLAIM_WORDS`, or the shortest."""
    clauses = [part for part in _parts(whole, language) if _is_clause(part, whole, language)]
    ends = sorted(clauses, key=len)
    short = [part for part in ends if len(words(part)) <= MOST_CLAIM_WORDS]
    if short:
        return short[-1]
    return ends[0] if ends else whole


def _parts(whole: str, language: str | None) -> Iterator[str]:
    """What comes before each place where a clause may end."""
    yield from (whole[: end.start()] for end in _BOUNDARY.finditer(whole))
    lists = cues(language)
    joins, adds = lists["joins"], lists["adds"]
    if bare(words(whole)[0]) in joins:
        return  # the first clause is not the main one
    if len(words(whole)) > LONG_SENTENCE_WORDS:  # else what says which one is meant stays
        joins |= lists["relatives"] - _WHAT
    for at in re.finditer(r"(?<!\s)\s+(?=(\S+)\s+(\S+))", whole):
        pair = f"{at[1]} {at[2]}".lower()
        word = pair if pair in joins else at[1].lower()
        # "after" begins a clause where a verb follows; in "named the project after a river" it does
        # not.
        adding = word in adds or (word in AND and at[2].lower() in lists["determiners"])
        if (word in joins or adding) and (
            not adding or _says_something(whole[at.end() :], language)
        ):
            yield whole[: at.start()]


def _says_something(rest: str, language: str | None) -> bool:
    phrase = bare_words(_BOUNDARY.split(rest, maxsplit=1)[0])[1:]
    infinitive = (
        language in ("por", "spa") and bool(phrase) and phrase[0].endswith(("ar", "er", "ir"))
    )
    return infinitive or any(main_verbs(phrase, language))


def _is_clause(part: str, whole: str, language: str | None) -> bool:
    """No bracket is left open, no word waits for the next, something is said of the subject, and
    nothing that belongs to it comes after."""
    lists = cues(language)
    written = bare_words(part)
    if len(written) < LEAST_PART_WORDS or part.count("(") != part.count(")"):
        return False
    verb_marks = verbs(written, language)
    stops = (stop_words(language) if language else frozenset[str]()) | _openers(lists)
    if written[-1] in stops or verb_marks[-1]:  # "the minister says" waits for what
        return False
    opened = _openers(lists) - lists["adds"]
    last = max((i for i, word in enumerate(written) if i and word in opened), default=None)
    if last is not None and not any(verb_marks[last:]):  # "so that the senator" waits for a verb
        return False
    rest = _segments(whole[len(part) :].strip(_EDGES))
    return not lists or (
        _has_main_verb(part, language)
        and not _goes_on(_segments(part)[-1], written, rest, language)
    )


def _has_main_verb(part: str, language: str | None) -> bool:
    """Where a sentence begins with "when" or "if", its main verb comes after the first comma."""
    segments = _segments(part)
    late = segments[0][0] in _openers(cues(language)) | cues(language)["conditions"]
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
    lists = cues(language)
    openings = [segment[0] for segment in (last, *rest[:2])]
    interrupted = any(
        (a in lists["determiners"] or _PARTICIPLE.search(a)) and b in lists["articles"]
        for a, b in pairwise(openings)
    )
    waits = _waiting(written, lists["says"], rest)
    # "gave the right treatment, | at last, of the disease"
    owned = any(s[0] in lists["of"] and s[1:2] not in (["acordo"], ["quais"]) for s in rest[:2])
    goes_on = interrupted or waits or owned or len(last) < LEAST_TAIL_WORDS
    return goes_on or is_verb(rest[0][0], language, written[-1])


def _segments(text: str) -> list[list[str]]:
    """The words between commas, dashes and brackets."""
    return list(filter(None, map(bare_words, _BOUNDARY.split(text))))


def _openers(lists: Cues) -> frozenset[str]:
    return lists["joins"] | lists["relatives"]


def _waiting(written: list[str], says: frozenset[str], rest: list[list[str]]) -> bool:
    """Whether someone says something, and what it is comes only in the rest."""
    last = max((i for i, word in enumerate(written) if word in says), default=len(written))
    begins = {segment[0] for segment in rest}
    return last < len(written) and not _WHAT & set(written[last:]) and not _WHAT.isdisjoint(begins)
