"""Operators that say the same in another order: adverbials and clauses change places, active
becomes passive.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from claimlab.evolve.rewrite.english.clause import (
    BE,
    PREPOSITIONS,
    Clause,
    lowered,
    raised,
    several,
)
from claimlab.evolve.rewrite.english.forms import lemma, verb
from claimlab.evolve.rewrite.operators.operator import Operator
from claimlab.evolve.rewrite.operators.statement import on_clause, take_apart

_MOVES = re.compile(
    r"(?:In|On|At|By|During|Since|Over|Throughout|Between|From|Within|Across|Among|Under|Before|"
    r"After|Following|Due to|Because of|Despite|Amid)\b"
)
_END = re.compile(
    r"^(?P<rest>.{12,}?),? (?P<when>(?:in|on|during|since|throughout|over|between|across|after|"
    r"before|following|despite|amid|as of) "
    r"(?!which|that|order|terms|addition|particular|response|behalf|average|line)[^,;:]{4,60})$"
)
_JOINED = re.compile(
    r"^(?:because|while|although|though|even though|whereas|due to|because of|despite|thanks to|"
    r"owing to|as a result of|after|before|amid)\b"
)
_OBJECT = re.compile(
    (
        r"^(?P<object>(?:the|a|an|its|their|his|her|several|many|some|new|more|multiple|two|three|strict|"
        r"\d[\d,.]*)\b[^,;:]*)$"
    ),
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\b(?:to|that|which|who|and|or|but|in|on|at|by|for|from|with|during|since|after|before|as|when|"
    r"while|through|among|across|between|over|under|against|because|due)\b"
)
_THIS = re.compile(r"^(?:This|It) (?P<verb>\w+) (?P<rest>.+)$")


def order_operators() -> Iterator[Operator]:
    yield Operator(
        "move-back", "What led a sentence in goes to its end", "reorder", on_clause(_back)
    )
    yield Operator("move-front", "When or where it was comes first", "reorder", on_clause(_front))
    yield Operator(
        "swap-clauses", "Main and side clause change places", "reorder", on_clause(_swap)
    )
    yield Operator(
        "passive", "What was done comes before who did it", "reorder", on_clause(_passive)
    )
    yield Operator("active", "Who did it comes first", "reorder", on_clause(_active))
    yield Operator("split", "A trailing clause becomes a sentence", "substitute", _split)
    yield Operator("join", "A second sentence becomes a clause", "substitute", _join)


def _back(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    if (
        not clause.front
        or clause.tail
        or not _MOVES.match(clause.front)
        or len(clause.front.split()) > 7
    ):
        return None
    if (
        len(clause.rest.split()) > 12
        or re.search(r"\b(?:that|which|who|because|while)\b", clause.rest)
        or "," in clause.front
    ):
        return None
    return clause.with_(
        front="",
        subject=raised(clause.subject),
        rest=f"{clause.rest} {lowered(clause.front)}".strip(),
    )


def _front(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    if clause.front or clause.tail or clause.subject.lower() in ("there", "it"):
        return None
    match = _END.match(clause.rest)
    if (
        match is None
        or len(match["when"].split()) > 8
        or re.search(r"\b(?:that|which|who|whether|how)\b", clause.rest)
    ):
        return None
    last = match["rest"].split()[-1].lower()
    if (
        last in PREPOSITIONS
        or last.endswith("ly")
        or match["when"].endswith("in decades")
        or match["when"] == "in decades"
        or re.search(r"\b(?:such as|like|including)\b", match["rest"])
    ):
        return None
    if not _is_adverbial(match["when"]):
        return None
    return clause.with_(
        front=raised(match["when"]), rest=match["rest"], subject=lowered(clause.subject)
    )


def _is_adverbial(phrase: str) -> bool:
    """A time, or a period or place of its own; "in vaccines" belongs to the noun before it and
    stays.
    """
    return bool(
        re.match(
            r"(?:in|on|since|during|throughout|over|between|as"
            r" of|after|before|following|amid|despite) (?:the )?"
            r"(?:early |late |mid-?|past |last |first |initial |second |recent |coming"
            r" )*(?:\d{4}|\d+ \w+|"
            r"years?\b|decades?\b|months?|weeks?|days?|pandemic|war\b|"
            r"January|February|March|April|May|June|July|August|September|October|November|December|spring|"
            r"summer|autumn|winter|"
            r"[\w-]+"
            r" (?:pandemic|war|crisis|election|lockdowns?|conflict|period|decades?|years?|century|"
            r"months?|weeks?))",
            phrase,
        )
    )


def _swap(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    if (
        clause.front
        or not clause.tail
        or not _JOINED.match(clause.tail)
        or len(clause.tail.split()) > 16
    ):
        return None
    if re.match(r"(?:it|they|this|these|he|she)\b", clause.tail.split(" ", 1)[1], re.IGNORECASE):
        return None
    return clause.with_(
        front=raised(clause.tail), tail="", mark="", subject=lowered(clause.subject)
    )


def _passive(clause: Clause, draw: random.Random) -> Clause | str | None:  # noqa: ARG001
    group = clause.group
    if (
        group.base is None
        or group.tense not in ("past", "s", "base")
        or len(clause.subject.split()) > 7
    ):
        return None
    if group.base in (
        "have",
        "be",
        "become",
        "include",
        "remain",
        "need",
        "lack",
        "want",
        "cost",
        "mean",
        "face",
        "say",
        "show",
        "find",
        "suffer",
    ):
        return None
    if clause.subject.lower() in (
        "it",
        "they",
        "he",
        "she",
        "we",
        "i",
        "this",
        "there",
    ) or clause.subject.endswith("ly"):
        return None
    stop = _STOP.search(clause.rest)
    thing, after = (
        (clause.rest[: stop.start()].strip(), clause.rest[stop.start() :])
        if stop
        else (clause.rest, "")
    )
    if (
        after.startswith("by ")
        or not _OBJECT.match(thing)
        or len(thing.split()) < 2
        or re.match(r"(?:to|that|and|or)\b", after)
        or after.count(" ") > 12
    ):
        return None
    if re.search(r"\b\w+ly$", thing):
        return None
    if after and not _is_adverbial(after):
        return None  # it may belong to the object: "the withdrawal of troops from"
    many = several(thing)
    be = ("were" if many else "was") if clause.past else ("are" if many else "is")
    done = f"{be} {verb(group.base).participle} by {lowered(clause.subject)}"
    sentence = (
        f"{raised(thing) if not clause.front else lowered(thing)}"
        f" {done}{' ' + after if after else ''}"
    )
    front = f"{clause.front}, " if clause.front else ""
    return f"{front}{sentence}{clause.mark}{clause.tail}"


def _active(clause: Clause, draw: random.Random) -> str | None:  # noqa: ARG001
    words = clause.group.words
    if (
        clause.group.base is None
        or len(words) != 2
        or words[0].lower() not in BE
        or lemma(words[1], "participle") is None
    ):
        return None
    match = re.match(r"^by (?P<who>(?:the |a |an |its |their )?[^,;:]+)$", clause.rest)
    stop = _STOP.search(match["who"]) if match else None
    if match is None or len(clause.subject.split()) > 8 or re.match(r"\w+ing\b|\d", match["who"]):
        return None
    who, after = (
        (match["who"][: stop.start()].strip(), " " + match["who"][stop.start() :])
        if stop
        else (match["who"], "")
    )
    if (
        not who
        or re.match(r" (?:and|or)\b", after)
        or not re.match(r"(?:the|a|an|its|their|[A-Z])", who)
    ):
        return None
    known = verb(clause.group.base)
    form = known.past if clause.past else known.base if several(who) else known.s
    front = f"{clause.front}, " if clause.front else ""
    return (
        f"{front}{raised(who) if not front else who} {form}"
        f" {lowered(clause.subject)}{after}{clause.mark}{clause.tail}"
    )


def _split(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
    """ ", marking the start" becomes ". This marked the start"."""
    from claimlab.evolve.rewrite.english.clause import parse

    statement = take_apart(text)
    clause = parse(statement.body)
    if clause is None or statement.more or statement.phrase is not None or clause.mark != ", ":
        return text
    first, _, rest = clause.tail.partition(" ")
    base = lemma(first, "ing")
    if first == "which" and rest:
        sentence = f"This {rest}"
    elif base is not None and rest and base not in ("include",):
        sentence = f"This {verb(base).past if clause.past else verb(base).s} {rest}"
    else:
        return text
    return f"{clause.with_(tail='', mark='').text()}. {sentence}{statement.mark}"


def _join(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
    statement = take_apart(text)
    match = _THIS.match(statement.more.rstrip(".!")) if statement.more.count(".") <= 1 else None
    base = lemma(match["verb"], "past", "s") if match else None
    if match is None or base is None or statement.phrase is not None or "," in statement.body[-40:]:
        return text
    return replace(
        statement, body=f"{statement.body}, {verb(base).ing} {match['rest']}", more="", mark="."
    ).text()
