"""A long sentence made shorter at the end of a clause: with its subject, and never in the middle of one."""

from __future__ import annotations

import re
from collections.abc import Callable

from claimlab.enrich.sentences import words

MOST = 20  # words of a claim, as in the paper; one that has no clause to end at may be longer
LEAST = 8  # words of the part of a sentence that is kept
LONGEST = 45  # words of a sentence without any end of a clause
_BOUNDARY = re.compile(r"(?<=[,;:])\s+|\s+[-–—]\s+|\s+(?=\()")
_DATELINE = re.compile(r"^(?:\(?[A-ZÀ-Þ][\w.()/]*,?\s+){1,4}[-–—]\s+(?=[A-ZÀ-Þ\d])")  # "Quito (Ecuador) - On Monday"
_AROUND = re.compile(r"^\W+|\W+$")
_EDGES = " ,;:–—-"


def shortened(
    sentence: str, joins: frozenset[str], stops: frozenset[str], is_verb: Callable[[str], bool], *, listed: bool = True
) -> str:
    """`sentence` within `MOST` words, cut where a clause ends. `joins` are words that begin a clause of their own
    ("because", "which"), `stops` words that none ends with; where verbs are `listed`, a part without one is not a
    clause."""
    whole = _DATELINE.sub("", sentence).strip(_EDGES)
    if len(words(whole)) <= MOST:
        return whole
    parts = [whole[: end.start()] for end in _BOUNDARY.finditer(whole)]
    if bare(words(whole)[0]) not in joins:  # else the first clause is not the main one
        parts += [whole[:at] for at in _joins_in(whole, joins)]
    ends = sorted((part for part in parts if _is_clause(part, stops, is_verb, listed)), key=len)
    short = [part for part in ends if len(words(part)) <= MOST]
    best = short[-1] if short else ends[0] if ends else whole
    return best.strip(_EDGES) if len(words(best)) <= LONGEST else _first_words(whole, stops)


def bare(word: str) -> str:
    """A word without punctuation around it, in lower case."""
    return _AROUND.sub("", word).lower()


def _is_clause(part: str, stops: frozenset[str], is_verb: Callable[[str], bool], listed: bool) -> bool:
    """No bracket is left open, no word waits for the next, and something is said of the subject."""
    written = [bare(word) for word in words(part)]
    closed = part.count("(") == part.count(")")
    ends = written[-1] not in stops and not is_verb(written[-1])  # "the minister says" waits for what
    return len(written) >= LEAST and closed and ends and (not listed or any(map(is_verb, written)))


def _first_words(sentence: str, stops: frozenset[str]) -> str:
    """For a text without any end of a clause: its first words, up to one that can be the last."""
    written = words(sentence)[:MOST]
    while len(written) > LEAST and bare(written[-1]) in stops:
        written.pop()
    return " ".join(written)


def _joins_in(sentence: str, joins: frozenset[str]) -> list[int]:
    found = re.finditer(r"\s+(?=(\S+)\s)", sentence)
    return [at.start() for at in found if at.group(1).lower() in joins]
