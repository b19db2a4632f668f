"""Operators that put other words for the same, more formal or more everyday ones, stronger or
weaker ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from claimlab.evolve.rewrite.english.clause import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    PREPOSITIONS,
    Clause,
    parse,
)
from claimlab.evolve.rewrite.english.forms import is_plural
from claimlab.evolve.rewrite.english.lists import words as listed
from claimlab.evolve.rewrite.operators.lexicon import (
    Entry,
    contractions,
    forms_of,
    index,
    ladders,
    sets,
)
from claimlab.evolve.rewrite.operators.operator import Operator, targets
from claimlab.evolve.rewrite.operators.statement import on_body

_TOKEN = re.compile(r"[\w’'-]+|[^\w\s]")
LONGEST = 4  # words of a phrase in the tables
_FOLLOWS_ALONE = PREPOSITIONS | listed("after_verb")
_ENDS_NOUN = PREPOSITIONS | AUXILIARIES | listed("after_noun")


@dataclass(frozen=True)
class Spot:
    start: int
    end: int
    text: str
    entry: Entry


def lexical_operators() -> Iterator[Operator]:
    yield Operator(
        "reword", "Another word for the same", "substitute", on_body(_reword(("", "f"), 3))
    )
    yield Operator(
        "colloquial",
        "Everyday words and contractions",
        "informal",
        on_body(_casual),
        targets("style=colloquial-emotional"),
    )
    yield Operator(
        "formal",
        "Official words, no contractions",
        "formal",
        on_body(_formal),
        targets("style=rational-official"),
    )
    yield Operator(
        "intensify", "Stronger words", "evaluate", on_body(lambda body, draw: _rung(body, draw, 1))
    )
    yield Operator(
        "soften",
        "Weaker words",
        "modality",
        on_body(lambda body, draw: _rung(body, draw, -1)),
        targets("stance=neutral"),
    )


def _reword(registers: tuple[str, ...], most: int = 1) -> Callable[[str, random.Random], str]:
    def change(body: str, draw: random.Random) -> str:
        for _ in range(most):
            options = [
                (spot, new) for spot in spots(body) for new in _others(spot.entry, registers)
            ]
            if not options:
                break
            spot = draw.choice(list(dict.fromkeys(spot for spot, _ in options)))
            new = draw.choice([text for at, text in options if at == spot])
            body = f"{body[: spot.start]}{_cased(new, spot.text) if spot.start == 0 else new}{body[spot.end :]}"  # noqa: E501
        return body

    return change


def _casual(body: str, draw: random.Random) -> str:
    changed = _reword(("c",), 2)(body, draw)
    return _exchange(changed, contractions())


def _formal(body: str, draw: random.Random) -> str:
    changed = _reword(("f",), 2)(body, draw)
    return _exchange(changed, {short: long for long, short in contractions().items()})


def _exchange(body: str, pairs: dict[str, str]) -> str:
    for old, new in pairs.items():
        body = re.sub(
            rf"(?<![\w’'-]){old}(?![\w’'-])",
            lambda m, new=new: _cased(new, m[0]),  # type: ignore[misc]
            body,
            flags=re.IGNORECASE,
        )
    return body


def _others(entry: Entry, registers: tuple[str, ...]) -> list[str]:
    return [
        forms_of(entry.group[0], word)[entry.form]
        for word, register in sets()[entry.group]
        if word != entry.word
        and register in registers
        and not (register == entry.register and register)
    ]


def _cased(new: str, old: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def spots(body: str) -> list[Spot]:
    """Where a word of the tables may be exchanged: its neighbours say that it is the word that it
    seems to be.
    """
    tokens = list(_TOKEN.finditer(body))
    lower = [token[0].lower() for token in tokens]
    clause = parse(body)
    spots, last = [], -1
    for i in range(len(tokens)):
        for length in range(min(LONGEST, len(tokens) - i), 0, -1):
            phrase = " ".join(lower[i : i + length])
            entries = index().get(phrase)
            if entries is None or i <= last:
                continue
            fitting = [e for e in entries if _fits(e, lower, tokens, i, i + length, clause)]
            if fitting:
                end = tokens[i + length - 1].end()
                spots += [
                    Spot(tokens[i].start(), end, body[tokens[i].start() : end], e)
                    for e in fitting[:1]
                ]
                last = i + length - 1
            break
    return spots


def _fits(
    entry: Entry,
    lower: list[str],
    tokens: list[re.Match[str]],
    i: int,
    end: int,
    clause: Clause | None,
) -> bool:
    before = lower[i - 1] if i else ""
    after = lower[end] if end < len(lower) else "."
    frame = entry.group[0]
    if tokens[i][0][:1].isupper() and (i > 0 or frame == "noun") and frame != "other":
        return False
    if frame == "other":
        return not (
            (entry.word in ("more than",) and not after[:1].isdigit())
            or after == "-"
            or before == "-"
        )
    if frame == "noun":
        counted = is_plural(lower[end - 1]) == (entry.form == "many")
        return (
            after in _ENDS_NOUN
            and counted
            and before not in ("to", "not")
            and not before[:1].isupper()
            and not _is_main(clause, tokens[i][0])
        )
    return _verb_fits(entry, before, after, tokens[i][0], clause)


def _verb_fits(entry: Entry, before: str, after: str, word: str, clause: Clause | None) -> bool:
    passive = before in BE or before in ("been", "being", "be")
    if entry.form in ("past", "participle"):
        auxiliary = passive or before in HAVE
        if entry.form != ("participle" if auxiliary else "past") or not (
            auxiliary or _is_main(clause, word)
        ):
            return False
    elif entry.form == "base":
        if before != "to" and before not in MODALS | DO and not _is_main(clause, word):
            return False
    elif entry.form == "s":
        if not _is_main(clause, word):
            return False
    elif before not in (",", "by", "for", "of", "in", "after", "from", "and") and not passive:
        return False
    frame = entry.group[0]
    if frame == "that":
        return after == "that"
    if frame == "alone":
        return (
            not passive
            and entry.form != "ing"
            and after != "to"
            and (after in _FOLLOWS_ALONE or after.isdigit())
        )
    return passive or (after not in PREPOSITIONS and after not in (".", ",", ";", "that", "and"))


def _is_main(clause: Clause | None, word: str) -> bool:
    return clause is not None and clause.group.auxiliary is None and clause.group.main == word


def _rung(body: str, draw: random.Random, step: int) -> str:
    options = []
    for rungs in ladders():
        for at, rung in enumerate(rungs):
            if 0 <= at + step < len(rungs):
                options += [
                    (m, rungs[at + step])
                    for m in re.finditer(rf"(?<![\w-]){rung}(?![\w-])", body, re.IGNORECASE)
                    if _counts(rung, body[m.end() :])
                ]
    if not options:
        return body
    match, new = draw.choice(options)
    return f"{body[: match.start()]}{_cased(new, match[0])}{body[match.end() :]}"


def _counts(rung: str, after: str) -> bool:
    """Whether a quantifier counts a plural noun ("most effective" does not), and a modal is
    followed by a verb.
    """
    words = after.split()
    if rung in ("some", "many", "a few", "nearly all") or (
        rung == "most" and words and is_plural(words[0].strip(",."))
    ):
        return (
            any(is_plural(word.strip(",.")) for word in words[:2])
            and words[0].lower() not in DETERMINERS
        )
    if rung == "most":
        return False
    if rung in ("can", "may", "might", "could", "will"):
        return bool(words) and words[0].islower() and words[0] not in ("need", "have", "be", "not")
    return True
