"""Operators on how sure a statement is: hedged, made certain, or denied."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from claimlab.evolve.rewrite.english.clause import BE, DO, HAVE, Clause, Group, several
from claimlab.evolve.rewrite.english.forms import verb
from claimlab.evolve.rewrite.operators.operator import Operator, targets
from claimlab.evolve.rewrite.operators.statement import on_body, on_clause

_NEGATED = re.compile(r"\b(?:not|no|never|cannot|without|neither)\b|n['’]t\b", re.IGNORECASE)
_HEDGES = re.compile(
    (
        r"\b(?:may|might|could|reportedly|apparently|seems?|likely|possibly|perhaps|supposedly|is"
        r" said "
        r"to|are said to|believed)\b"
    ),
    re.IGNORECASE,
)
_SURER = (
    (re.compile(r"\b(?:may|might|could) (?!have\b|be\b|need\b|not\b)(?=[a-z]+\b)"), "will "),
    (
        re.compile(
            r"\b(?:reportedly|apparently|possibly|perhaps|supposedly|arguably|potentially) "
        ),
        "",
    ),
    (re.compile(r",? likely(?= (?:due|because))"), ""),
    (
        re.compile(
            r"\b(?:approximately|roughly|about|around|nearly|almost) (?=[$€£]?\d)(?!\d{4}\b)"
        ),
        "",
    ),
    (re.compile(r"\bsuggests? that\b"), "proves that"),
    (re.compile(r"\bsuggested that\b"), "proved that"),
    (re.compile(r"\b(is|are) said to be\b"), r"\1"),
    (re.compile(r"\btends? to (?=[a-z]+\b)"), "always "),
)


def modal_operators() -> Iterator[Operator]:
    yield Operator("hedge", "A statement becomes a possibility", "modality", on_clause(_hedge))
    yield Operator(
        "reportedly", "A statement is marked as reported", "modality", on_clause(_reportedly)
    )
    yield Operator(
        "assert",
        "A possibility is stated as it is",
        "modality",
        on_clause(_assert),
        targets("expression=fact"),
    )
    yield Operator("firm", "A possibility becomes a fact", "modality", on_body(_firm))
    yield Operator(
        "affirm", "A denial is dropped", "negate", on_clause(_affirm), targets("stance=support")
    )
    yield Operator(
        "negate",
        "A statement becomes its denial",
        "negate",
        on_clause(_negate),
        targets("stance=oppose"),
    )


def _hedge(clause: Clause, draw: random.Random) -> Clause | None:
    if _HEDGES.search(clause.core()) or _NEGATED.search(clause.group.text()):
        return None
    group, modal = clause.group, draw.choice(("may", "could", "might"))
    first = group.words[0].lower()
    if first == "will":
        return clause.with_(group=_with(group, (modal, *group.words[1:])))
    if first in BE:
        return clause.with_(group=_with(group, (modal, *_be(first), *group.words[1:])))
    if first in HAVE and len(group.words) > 1:
        return clause.with_(group=_with(group, (modal, "have", *group.words[1:])))
    if group.auxiliary is None and group.base is not None:
        known = verb(group.base)
        words = (modal, "have", known.participle) if group.tense == "past" else (modal, known.base)
        return clause.with_(group=_with(group, words))
    return None


def _be(first: str) -> tuple[str, ...]:
    return ("have", "been") if first in ("was", "were") else ("be",)


def _reportedly(clause: Clause, draw: random.Random) -> Clause | None:
    if (
        _HEDGES.search(clause.core())
        or _NEGATED.search(clause.group.text())
        or clause.group.words[0].lower()
        in ("will", "can", "may", "must", "should", "would", "do", "does", "did")
    ):
        return None
    word = draw.choice(("reportedly", "apparently", "supposedly"))
    words = clause.group.words
    new = (words[0], word, *words[1:]) if clause.group.auxiliary else (word, *words)
    return clause.with_(group=_with(clause.group, new))


def _assert(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    """ "may have closed" becomes "closed", "could be" becomes "is"."""
    words = clause.group.words
    if (
        words[0].lower() not in ("may", "might", "could")
        or len(words) < 2
        or "not" in words
        or words[-1].endswith("ly")
    ):
        return None
    many, rest = several(clause.subject), words[1:]
    if rest[:2] == ("have", "been"):
        return clause.with_(group=_with(clause.group, ("were" if many else "was", *rest[2:])))
    if rest[0] == "be":
        return clause.with_(group=_with(clause.group, ("are" if many else "is", *rest[1:])))
    if clause.group.base is None:
        return None
    known = verb(clause.group.base)
    others = tuple(word for word in rest[:-1] if word != "have")
    form = known.past if rest[0] == "have" else known.base if many else known.s
    return clause.with_(group=_with(clause.group, (*others, form)))


def _firm(body: str, draw: random.Random) -> str:
    pairs = [(pattern, new) for pattern, new in _SURER if pattern.search(body)]
    if not pairs:
        return body
    pattern, new = draw.choice(pairs)
    return pattern.sub(new, body, count=1)


def _negate(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    if (
        _NEGATED.search(clause.core())
        or _HEDGES.search(clause.group.text())
        or re.match(r"(?:some|many|most|few|several|all)\b", clause.subject, re.IGNORECASE)
    ):
        return None
    group = clause.group
    if group.auxiliary is not None:
        word = "cannot" if group.words[0] == "can" else f"{group.words[0]} not"
        return clause.with_(group=_with(group, (*word.split(), *group.words[1:])))
    if group.base is None:
        return None
    do = "did" if group.tense == "past" else "does" if group.tense == "s" else "do"
    return clause.with_(group=_with(group, (do, "not", group.base)))


def _affirm(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    words = clause.group.words
    if "not" not in words:
        return None
    left = tuple(word for word in words if word not in ("not", "necessarily"))
    if left[0].lower() in DO and clause.group.base is not None:
        known = verb(clause.group.base)
        left = (known.past if left[0] == "did" else known.s if left[0] == "does" else known.base,)
    return clause.with_(group=_with(clause.group, left))


def _with(group: Group, words: tuple[str, ...]) -> Group:
    return Group(words, words[0], words[-1], group.base, None)
