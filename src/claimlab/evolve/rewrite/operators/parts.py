"""Operators on parts of a statement: a clause, an aside or a modifier goes; an example or a detail
comes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from claimlab.evolve.rewrite.edits import content
from claimlab.evolve.rewrite.english.clause import Clause, parse, raised, sentences
from claimlab.evolve.rewrite.english.forms import YEAR
from claimlab.evolve.rewrite.operators.lexicon import examples, judging, kinds
from claimlab.evolve.rewrite.operators.operator import SHORTEST, Operator, targets
from claimlab.evolve.rewrite.operators.statement import on_body, on_clause, take_apart

LONGEST = 20  # words of a sentence that is taken from the context

_ASIDE = re.compile(
    r"(?<!\s)\s*\([^()]*\)|,? (?:including|such as|for example|especially|particularly|namely)"
    r" [^;,]{1,300}"
    r"(?:, [^;,]{1,300}){0,20}(?=$)|,? (?:including|such as|especially) [\w -]{1,300}(?=,)"
)
_LIST = re.compile(
    r"(?P<a>(?<![\w-])[a-z]+(?: [a-z]+)?), (?P<b>[a-z]+(?: [a-z]+)?), and (?P<c>[a-z]+)\b"
)
_MODIFIER = re.compile(
    r"(?<![\w-])(?<!and )(?<!or )(?:significantly|substantially|considerably|notably|particularly|"
    r"especially|relatively|increasingly|predominantly|widely|"
    r"significant|substantial|notable|major|key|overall|ongoing|potential|multiple|various|further|"
    r"additional|comprehensive|robust|broad|"
    r"systemic|long-term|structural|so-called|widespread) (?!and |or |but )(?=[a-z])"
)
_SOURCE = re.compile(
    r"^(?:According to [^,]{3,60}, |(?:[\w’'-]+ ){1,6}?(?:indicates?|indicated|shows?|showed|"
    r"suggests?|suggested|finds?|found|reports?|reported|says?|"
    r"said|notes?|noted|concludes?|concluded|argues?|argued|confirms?|confirmed|estimates?|estimated|believes?)"
    r" that )"
)
_PLACE = re.compile(
    r" (?:worldwide|globally|nationwide|around the world|across the world|in (?:most|many|some|"
    r"several) (?:countries|regions)|in (?:the )?[A-Z][\w’'-]+(?: [A-Z][\w’'-]+){0,2})$"
)
_TIME = re.compile(
    rf"^(?:In|On|Since|As of|During|By|Between|Throughout) [^,]*?{YEAR}[^,]{{0,12}}$|^(?:Over|In) "
    rf"(?:the past|recent|the last) [^,]*$"
)
_TIME_END = re.compile(
    rf",? (?:in|on|since|as of|by) (?:early |late |mid-?)?(?:\d{{1,2}} )?(?:[A-Z][a-z]+ )?{YEAR}s?$"
)
_CONCRETE = re.compile(r"\d|(?<=\w )[A-Z][a-z]+")


def part_operators() -> Iterator[Operator]:
    macro, micro, fact = (
        targets("granularity=macro"),
        targets("granularity=micro"),
        targets("expression=fact"),
    )
    yield Operator("drop-tail", "A trailing clause goes", "drop", on_clause(_no_tail), macro)
    yield Operator("drop-time", "When it was goes", "drop", on_clause(_no_time), macro)
    yield Operator("drop-place", "Where it was goes", "drop", on_clause(_no_place), macro)
    yield Operator("drop-aside", "Examples and parentheses go", "drop", on_body(_no_aside), macro)
    yield Operator("drop-item", "One of three goes", "drop", on_body(_no_item))
    yield Operator("drop-modifier", "A modifier goes", "substitute", on_body(_no_modifier))
    yield Operator("drop-source", "Who says so goes", "source", on_body(_no_source), fact)
    yield Operator("drop-sentence", "A second sentence goes", "drop", _no_more, macro)
    yield Operator(
        "sober",
        "What judges or feels goes",
        "formal",
        on_body(_sober),
        targets("stance=neutral", "expression=fact", "style=rational-official"),
    )
    yield Operator("kind", "A thing becomes its kind", "generalise", on_body(_kind), macro)
    yield Operator("example", "An example is added; invented", "specify", on_body(_example), micro)
    yield Operator("detail", "A sentence of the source is added", "specify", _detail, micro)


def _cut(body: str, left: str) -> str:
    """What is left of a sentence, unless too little is left to be a claim."""
    left = left.strip(" ,;")
    return raised(left) if len(left.split()) >= SHORTEST else body


def _no_tail(clause: Clause, draw: random.Random) -> str | None:  # noqa: ARG001
    if not clause.tail or re.match(r"(?:than|compared)", clause.tail):
        return None
    return _cut(clause.text(), clause.with_(tail="", mark="").text())


def _no_time(clause: Clause, draw: random.Random) -> str | None:  # noqa: ARG001
    if clause.front and _TIME.match(clause.front):
        return _cut(clause.text(), clause.with_(front="", subject=raised(clause.subject)).text())
    if not clause.tail and (match := _TIME_END.search(clause.rest)):
        return _cut(clause.text(), clause.with_(rest=clause.rest[: match.start()]).text())
    return None


def _no_place(clause: Clause, draw: random.Random) -> str | None:  # noqa: ARG001
    match = None if clause.tail else _PLACE.search(clause.rest)
    return (
        _cut(clause.text(), clause.with_(rest=clause.rest[: match.start()]).text())
        if match
        else None
    )


def _no_aside(body: str, draw: random.Random) -> str:  # noqa: ARG001
    return _cut(body, _ASIDE.sub("", body, count=1))


def _no_item(body: str, draw: random.Random) -> str:
    match = _LIST.search(body)
    if match is None:
        return body
    pair = draw.choice(
        (
            f"{match['a']} and {match['c']}",
            f"{match['a']} and {match['b']}",
            f"{match['b']} and {match['c']}",
        )
    )
    single = " " not in match["a"] and " " not in match["b"]
    return f"{body[: match.start()]}{pair}{body[match.end() :]}" if single else body


def _no_modifier(body: str, draw: random.Random) -> str:
    spots = list(_MODIFIER.finditer(body))
    if not spots:
        return body
    match = draw.choice(spots)
    return body[: match.start()] + body[match.end() :]


def _no_source(body: str, draw: random.Random) -> str:  # noqa: ARG001
    return _cut(body, _SOURCE.sub("", body, count=1))


def _no_more(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
    statement = take_apart(text)
    return replace(statement, more="").text() if statement.more else text


def _sober(body: str, draw: random.Random) -> str:  # noqa: ARG001
    left = judging().sub("", body)
    return raised(re.sub(r"\s{2,}", " ", left).strip(" ,")) if left != body else body


def _kind(body: str, draw: random.Random) -> str:
    pairs = [
        (thing, kind)
        for thing, kind in kinds()
        if re.search(rf"(?<![\w-]){re.escape(thing)}(?![\w-])", body, re.IGNORECASE)
    ]
    pairs = [(thing, kind) for thing, kind in pairs if kind.lower() not in body.lower()]
    if not pairs:
        return body
    thing, kind = draw.choice(pairs)

    def put(match: re.Match[str]) -> str:
        return kind[:1].upper() + kind[1:] if match.start() == 0 else kind

    return re.sub(
        rf"(?<![\w-]){re.escape(thing)}(?![\w-])", put, body, count=1, flags=re.IGNORECASE
    )


def _example(body: str, draw: random.Random) -> str:
    if re.search(r"\b(?:such as|including|for example|like)\b", body):
        return body
    pairs = [
        m
        for word in examples()
        for m in re.finditer(
            (
                rf"(?:(?<=^)|(?<=\b(?:in|of|to|on|by) )|(?<=\b(?:the|for|all)"
                rf" )|(?<=\b(?:many|some|most|with|"
                rf"from) )|(?<=\b(?:among|other) )|(?<=\bseveral )){word}(?=$|,|"
                r" (?:in|on|at|from|who|that|is|are|"
                rf"was|were|has|have)\b)"
            ),
            body,
        )
    ]
    if not pairs:
        return body
    match = draw.choice(sorted(pairs, key=lambda m: m.start()))
    words = f", such as {draw.choice(examples()[match[0]])}"
    return f"{body[: match.end()]}{words}{'' if body[match.end() :][:1] in ('', ',') else ','}{body[match.end() :]}"  # noqa: E501


def _detail(text: str, draw: random.Random, context: str | None) -> str:
    """A short, concrete sentence of the context that shares words with the claim and has a verb of
    its own.
    """
    statement = take_apart(text)
    if statement.more or not context:
        return text
    known = set(content(text))
    options = [
        s
        for s in sentences(" ".join(context.split()))
        if SHORTEST <= len(s.split()) <= LONGEST and parse(s.rstrip(".!?")) is not None
    ]
    new = [
        s
        for s in options
        if s[-1] in ".!?" and 0 < len(known & set(content(s))) < 0.7 * len(set(content(s)))
    ]
    new = [
        s for s in new if not re.match(r"(?:This|These|They|It|He|She|However|But|Such|Those)\b", s)
    ]
    if not new:
        return text
    most = max(len(_CONCRETE.findall(s)) for s in new)
    return replace(
        statement, more=draw.choice([s for s in new if len(_CONCRETE.findall(s)) == most])
    ).text()
