"""The statement in a sentence: without a call for attention, the question around it, or the word
that ties it to the sentence before.
"""

from __future__ import annotations

import re

from claimlab.enrich.cues import (
    QUESTION_MARKS,
    Cues,
    bare,
    bare_words,
    begins_with,
    capitalised,
    cues,
    ends_in,
)
from claimlab.enrich.verbs import main_verbs
from claimlab.text.tokens import words

LEAST_CLAIM_WORDS = 4
CALL_WORDS = 4  # words of a call to the reader that may go before a comma
CALL_TITLE_WORDS = 12  # and before a colon
LEAST_CLAUSE_WORDS = 6  # words of a statement before a question
WORDS_BEFORE_QUESTION = 3  # words among which a question begins: "And only how long"
CHARACTERS_BEFORE_KNOWN = 30  # characters that may go before "did you know"
_SHOUT = re.compile(
    r"^(\w+)(?:\s*[!:,.–—-]+\s*|\s+(?=[^\Wa-zà-ÿ])|$)"
)  # "URGENT: The mill", "URGENT The mill"
_TRAILING = re.compile(r"(?<![\s,])[\s,]+(?:ou seja|isto é)\W*$", re.IGNORECASE)  # before a ;
_HEAD = re.compile(r"[,:]\s+")  # "Look here, the mill", "Read this: the mill"
_SIGNS = " !:;,.–—-"


def statement_of(sentence: str, language: str | None) -> str:
    """A sentence without its opening: a call for attention, "did you know that", "look here,"."""
    lists = cues(language)
    statement = _before_question(_without_question(_TRAILING.sub("", sentence), lists), language)
    while (shout := _SHOUT.match(statement)) and bare(shout[1]) in lists["shouts"]:
        statement = capitalised(statement[shout.end() :].lstrip(_SIGNS))
    head, *rest = _HEAD.split(statement, maxsplit=1)
    begins = bare_words(head)
    most = CALL_WORDS if statement[len(head) :][:1] == "," else CALL_TITLE_WORDS
    called = 0 < len(begins) <= most and begins_with(begins, lists, "command")
    long = bool(rest) and len(words(rest[0])) >= LEAST_CLAIM_WORDS
    return capitalised(rest[0].strip(_SIGNS)) if called and long else statement


def unlinked(statement: str, language: str | None) -> str:
    """A sentence without the word and the comma that tie it to the one before: "So, the mill
    burnt".
    """
    head, comma, rest = statement.partition(",")
    return (
        capitalised(rest.strip()) if comma and bare(head) in cues(language)["links"] else statement
    )


def _without_question(sentence: str, lists: Cues) -> str:
    """ "Did you know that the mill burnt?" says that the mill burnt."""
    lower = sentence.lower()
    for opening in lists["heard"]:  # "I read that the mill burnt"
        if lower.startswith(f"{opening} "):
            return capitalised(sentence[len(opening) :].strip())
    for opening in sorted(lists["known"], key=len, reverse=True):
        at = lower.find(f"{opening} ")
        if 0 <= at <= CHARACTERS_BEFORE_KNOWN and ends_in(QUESTION_MARKS, sentence):
            return capitalised(sentence[at + len(opening) :].strip(_SIGNS + "?"))
    return sentence


def _before_question(sentence: str, language: str | None) -> str:
    """ "The mayor closed all mills of the town, and who pays for it?" says that he closed them."""
    lists = cues(language)
    head, *rest = re.split(r"(?<!,), | e (?=vai |vão |quer |querem )", sentence, maxsplit=1)
    begins = bare_words(head)
    if not rest or len(begins) < LEAST_CLAUSE_WORDS or not ends_in(QUESTION_MARKS, sentence):
        return sentence
    question = any(begins_with(begins[i:], lists, "asks") for i in range(WORDS_BEFORE_QUESTION))
    question = question or any(begins_with(begins, lists, kind) for kind in ("conditions", "group"))
    return sentence if question or not any(main_verbs(begins, language)) else f"{head}."
