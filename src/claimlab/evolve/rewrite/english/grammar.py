"""The grammar check of the rule rewriter: what a reader would stumble over, as far as a program can
tell.

An operator's result is thrown away when it has a fault that the text before it did not have. The
check is a sieve, not a proof: it knows articles, doubled and clashing function words, punctuation,
capitals, agreement of verbs with plain subjects, forms after auxiliaries, and sentences without a
verb.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from claimlab.evolve.rewrite.english.clause import (
    AUXILIARIES,
    DETERMINERS,
    MODALS,
    PREPOSITIONS,
    SUBORDINATORS,
    ended,
    parse,
    sentences,
)
from claimlab.evolve.rewrite.english.forms import fix_articles, is_plural, verb_forms
from claimlab.evolve.rewrite.english.lists import words as listed
from claimlab.evolve.rewrite.english.names import common

_WORDS = re.compile(r"[\w’'-]+|[^\w\s]")
_TWICE = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_SPACING = re.compile(
    r"\s[,.;:!?](?!\d)|,\s*[,.;:!?]|[;:]\s*[,.;]|\.\s*[,;]|(?<!\.)\.\.(?!\.)|\s{2,}|\( | \)"
)
_OWNERS = "the|a|an|its|their|his|her|our|this|these"
_JOINS = "and|but|or|so|because|although|while"
_PLACES = "of|in|on|at|by|for|from|with|during|since"
_COULD = "may|might|can|could|will|would|must|should"
_NEAR = "about|around|roughly|nearly|almost|over|more than|at least"
_CLASH = re.compile(
    rf"\b(?:{_OWNERS}) (?:{_OWNERS}|some|many|several|most of|dozens|hundreds|thousands|millions)\b"
    rf"|\b(?:{_JOINS}) (?:{_JOINS}|,)\b"
    rf"|\b(?:{_PLACES}|due to|because of) (?:{_PLACES}|because|due)\b(?! (?:to )?(?:the"
    r" )?(?:\d|more|less|over))"
    rf"|\b(?:{_COULD}) (?:{_COULD}|is|are|was|were|has|had)\b"
    r"|\b(?:more|most) \w+er\b|\bnot (?:not|never|no)\b"
    r"|\b(?:is|are|was|were) (?:is|are|was|were|has|have|had|does|do|did)\b"
    rf"|\b(?:{_NEAR}) (?:{_NEAR}|some|many|several|dozens|hundreds)\b",
    re.IGNORECASE,
)
_AGO = (  # what comes first, and what may not follow in the same clause
    (
        re.compile(r"\b(?:ago|back then|in those days)\b", re.IGNORECASE),
        re.compile(r"\b(?:has|have) (?:\w+ly )?\w+(?:ed|en)\b", re.IGNORECASE),
    ),
    (
        re.compile(r"\b(?:has|have) (?:been )?\w+(?:ed|en)\b", re.IGNORECASE),
        re.compile(r"\bago\b", re.IGNORECASE),
    ),
)
_NUMBER = re.compile(
    r"\b(these|those|many|several|few|both|dozens of|hundreds of|thousands of|millions"
    r" of|two|three|"
    r"four|five) ([a-z]{4,})(?="
    r" (?:in|on|at|by|for|from|with|of|is|are|was|were|has|have)\b|[,.;]|$)"
)
_ONE = re.compile(
    r"\b(a|an|each|every|this|another|one) ([a-z]{4,})(?= (?:in|on|at|by|for|from|with|is|are|was|"
    r"were|has|have)\b|[,.;]|$)"
)
_CANNOT_END = (DETERMINERS | PREPOSITIONS | SUBORDINATORS | listed("unfinished")) - listed(
    "finished"
)


def faults(text: str) -> Counter[str]:
    """What is wrong with a text, by kind and place in words; nothing where it reads well."""
    return Counter(fault for sentence in sentences(text) for fault in _faults(sentence)) + Counter(
        _whole(text)
    )


def sound(before: str, after: str) -> bool:
    """Whether `after` has no fault that `before` did not have."""
    return not faults(after) - faults(before)


def _whole(text: str) -> Iterator[str]:
    if fix_articles(text) != text:
        yield "article"
    for left, right in ("()", "[]", "“”"):
        if text.count(left) != text.count(right):
            yield f"unbalanced {left}"
    for match in _SPACING.finditer(text):
        yield f"punctuation {match[0].strip()}"


def _faults(sentence: str) -> Iterator[str]:
    body, _ = ended(sentence)
    words = _WORDS.findall(body)
    lower = [word.lower() for word in words]
    if not words:
        yield "empty"
        return
    if body[:1].islower() and not any(c.isupper() for c in body.split()[0]):
        yield "small first letter"
    yield from (
        f"twice {m[1].lower()}"
        for m in _TWICE.finditer(body)
        if m[1].lower() not in ("that", "had")
    )
    yield from (f"clash {m[0].lower()}" for m in _CLASH.finditer(body))
    if _is_perfect_with_ago(body):
        yield "perfect with ago"
    if lower[-1] in _CANNOT_END:
        yield f"ends in {lower[-1]}"
    yield from (f"number {m[0]}" for m in _NUMBER.finditer(body) if not _may_be_plural(m[2]))
    yield from (
        f"number {m[0]}"
        for m in _ONE.finditer(body)
        if is_plural(m[2]) and m[2] not in ("series", "lots")
    )
    yield from _capitals(body)
    yield from _auxiliaries(lower)
    yield from _agreement(body)
    if not any(
        word in AUXILIARIES
        or {t for _, t in verb_forms().get(word, ())} & {"past", "s", "base"}
        or re.fullmatch(r"\w+(?:n't|['’](?:s|re|ve))", word)
        for word in lower
    ):
        yield "no verb"


def _is_perfect_with_ago(body: str) -> bool:
    """ "Two years ago the mill has closed". Clause by clause: one pattern for both would look at the
    rest of the text from each of its words."""  # noqa: E501
    for clause in re.split("[.;]", body):
        for first, second in _AGO:
            if (match := first.search(clause)) and second.search(clause, match.end()):
                return True
    return False


def _may_be_plural(word: str) -> bool:
    return (
        is_plural(word)
        or not common(word)
        or word in ("percent", "people", "staff", "youth", "other")
        or word in verb_forms()
        or word.endswith(("ly", "ed", "ing", "al", "ic", "ive"))
    )


def _capitals(body: str) -> Iterator[str]:
    for match in re.finditer(
        (
            r"(?<=[a-z,]"
            r" )(The|A|An|In|On|After|During|It|They|This|These|While|Because|Although|As|For|Of|"
            r"And|But)\b(?! [A-Z])"
        ),
        body,
    ):
        yield f"capital {match[1]}"


def _auxiliaries(lower: list[str]) -> Iterator[str]:
    for i, word in enumerate(lower[:-1]):
        follows = lower[i + 1]
        tenses = {tense for _, tense in verb_forms().get(follows, ())}
        if not tenses or "base" in tenses:
            continue
        if word in MODALS or word in ("does", "do", "did", "doesn't", "don't", "didn't"):
            yield f"{word} {follows}"
        if word == "to" and tenses == {"past"}:
            yield f"to {follows}"
        if word.endswith("ly") and i and lower[i - 1] in ("has", "have", "had"):
            word = lower[i - 1]
        if word in ("has", "have", "had") and tenses <= {"s", "past"}:
            yield f"{word} {follows}"


def _agreement(body: str) -> Iterator[str]:
    """A plain subject (at most four words, none of them "of" or "and") and the verb that follows
    it.
    """
    clause = parse(body)
    if (
        clause is None
        or len(clause.subject.split()) > 4
        or re.search(
            r"\b(?:of|and|or|there|that|which|who|each)\b|[,%\d]", clause.subject, re.IGNORECASE
        )
    ):
        return
    first, last = clause.group.words[0].lower(), clause.subject.split()[-1]
    if not last.islower() or not (common(last) or is_plural(last)):
        return
    singular = first in ("is", "was", "has", "does") or clause.group.tense == "s"
    plural = first in ("are", "were", "have", "do")
    if (singular and is_plural(last) and last not in ("data", "media")) or (
        plural and not is_plural(last) and last not in ("who",)
    ):
        yield f"agreement {last} {first}"
