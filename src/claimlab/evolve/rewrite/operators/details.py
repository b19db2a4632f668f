"""Operators on the details of a claim: numbers, times, asides, sources, causes. Patterns, so code and not tables."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.operators.anatomy import Parts, lexicon
from claimlab.evolve.rewrite.operators.operator import Change, Operator

MACRO, MICRO = Target("granularity", "macro"), Target("granularity", "micro")
FACT, NO_CAUSE = Target("expression", "fact"), Target("causal", "none")
SHORTEST = 5  # words that a cut must leave standing

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_YEAR = r"(?:1[6-9]|20)\d\d"
_DAY = rf"(?:\d{{1,2}} {_MONTH},? (?:{_YEAR})|{_MONTH} \d{{1,2}},? {_YEAR}|{_MONTH} {_YEAR}|(?:the )?{_YEAR}s?)"
_TIME = re.compile(
    rf"(?P<front>^(?:In|On|Since|As of|During|By|At the end of|After|Before) {_DAY}, )"
    rf"|(?P<inner>,? (?:in|on|since|as of|during|by|at the end of|after|before) {_DAY}(?![-–\w]| [A-Z]),?)",
    re.IGNORECASE,
)
# A number that counts something: not a year, not part of a word, a range, a date or a name such as COVID-19.
_NO_COUNT = (
    "age ",
    "ages ",
    "aged ",
    "under ",
    "rticle ",
    "uary ",
    "rch ",
    "ril ",
    "May ",
    "June ",
    "July ",
    "ust ",
    "ber ",
)
_NUMBER = re.compile(
    r"(?<![\w.,–-])"
    + "".join(f"(?<!{before})" for before in _NO_COUNT)
    + r"(?P<cash>[$€£]?)(?P<n>\d{1,3}(?:,\d{3})+|\d+)(?P<fraction>\.\d+)?"
    r"(?P<unit>%| percent| million| billion| trillion)?(?![\w–-]|[.,]\d)",
    re.IGNORECASE,
)
_APPROXIMATE = re.compile(
    r"\b(?:approximately|roughly|nearly|almost|around|about|up to|at least|more than|over|some|an estimated) "
    rf"(?=[$€£]?\d)(?!{_YEAR}\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)|,? (?:including|such as|for example|especially|particularly|namely) [^;]+$")
_RELATIVE = re.compile(r", (?:which|who|whose|where) [^,;]+(?=[,;]|$)")
_SOURCE = re.compile(
    r"^(?:According to [^,]{3,60}, |(?:[\w’'-]+ ){1,6}?"
    r"(?:indicates?|indicated|shows?|showed|suggests?|suggested|found|finds?|reports?|reported|says?|said|noted?|notes|"
    r"concluded?|emphasi[sz]es?|emphasi[sz]ed?|argued?|confirmed?|estimates?|estimated|believe) that )"
)
_BODY_NAMED = re.compile(
    r"(?:\b[Tt]he )?(?:[A-Z][\w’'-]+ )+"
    r"(?:Organi[sz]ation|Agency|University|Institute|Ministry|Department|Committee|Commission|Council|Association|"
    r"Foundation|Administration|Centre|Center|Union|Bank|Court)\b"
)
_CAUSE = re.compile(
    r",? (?:because|due to|as a result of|owing to|thanks to|caused by|driven by|leading to|causing|resulting in|"
    r"contributing to|thereby|marking|enabling|allowing|which (?:led|caused|contributed|resulted)|so that|in order to)"
    r" .*$"
)
_CLAUSE = re.compile(
    r"(?:; |, (?:which|while|with|though|although|but|and|as|where|who|highlighting|reflecting|according) ).*$"
)
_NEGATED = re.compile(r"\b(?:not|no|never|nobody|nothing|cannot|without|neither)\b|n['’]t\b", re.IGNORECASE)
_CAN_NEGATE = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|may|might|should|must|does|did)\b(?! (?:been)\b)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_CONCRETE = re.compile(r"\d|(?<=\w )[A-Z][a-z]+")


def detail_operators() -> Iterator[Operator]:
    yield Operator("round-numbers", "Numbers lose their last digits", _on_body(_round), ())
    yield Operator("vague-numbers", "Numbers become words such as many", _on_body(_vague), (MACRO,))
    yield Operator("drop-time", "Dates go", _on_body(lambda b: _TIME.sub(_no_time, b)), (MACRO,))
    yield Operator("blur-time", "Dates become some time ago", _on_body(lambda b: _TIME.sub(_blurred, b)), ())
    yield Operator("drop-approximation", "Nearly and about go", _on_body(lambda b: _APPROXIMATE.sub("", b)), ())
    yield Operator("drop-asides", "Examples and parentheses go", _on_body(lambda b: _cut(_ASIDE, b)), (MACRO,))
    yield Operator("drop-relative", "Relative clauses go", _on_body(lambda b: _cut(_RELATIVE, b)), ())
    yield Operator("drop-source", "Who says so goes", _on_body(lambda b: _cut(_SOURCE, b)), (FACT,))
    yield Operator(
        "blur-names", "A named body becomes a body", _on_body(lambda b: _BODY_NAMED.sub(_some_body, b)), (MACRO,)
    )
    yield Operator("drop-cause", "The cause or the effect goes", _on_body(lambda b: _cut(_CAUSE, b)), (NO_CAUSE,))
    yield Operator("shorten", "Only the first clause stays", _on_body(lambda b: _cut(_CLAUSE, b)), ())
    yield Operator("negate", "A statement becomes its denial", _on_body(_negate), ())
    yield Operator("specify", "A detail from the context is added", _specify, (MICRO,))
    yield Operator("drop-example", "An added example goes", _no_example, (MACRO,))


def _on_body(change: Callable[[str], str]) -> Change:
    def on_text(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
        parts = lexicon().take_apart(text)
        body = change(parts.body).strip(" ,;")
        body = body[:1].upper() + body[1:] if parts.body[:1].isupper() else body
        return replace(parts, body=body).text() if body != parts.body else text

    return on_text


def _cut(pattern: re.Pattern[str], body: str) -> str:
    """`body` without what matches, unless too little would be left to be a claim."""
    left = pattern.sub("", body)
    return left if len(left.split()) >= SHORTEST else body


def _value(found: re.Match[str]) -> float:
    return float(found["n"].replace(",", "") + (found["fraction"] or ""))


def _is_year(found: re.Match[str]) -> bool:
    return not found["unit"] and not found["cash"] and re.fullmatch(_YEAR, found["n"]) is not None


def _round(body: str) -> str:
    """One digit below a hundred, two above: rounding what is round changes nothing."""

    def rounded(found: re.Match[str]) -> str:
        value = _value(found)
        if _is_year(found) or value == 0:
            return found.group(0)
        digits = 1 if value < 100 else 2
        size = len(str(int(value))) if value >= 1 else 0
        near = round(value, digits - size)
        if near == value:
            return found.group(0)
        return (
            f"{found['cash']}{near:,.0f}{found['unit'] or ''}"
            if near >= 1
            else f"{found['cash']}{near:g}{found['unit'] or ''}"
        )

    return _NUMBER.sub(rounded, body)


def _vague(body: str) -> str:
    def word(found: re.Match[str]) -> str:
        if _is_year(found):
            return found.group(0)
        unit = (found["unit"] or "").strip().lower()
        if unit in ("%", "percent"):
            return "a large share" if _value(found) >= 50 else "a part"
        if unit:
            return f"{unit}s" if found["cash"] else f"{unit}s of"
        if found["cash"]:
            return "a sum"
        return "many" if _value(found) >= 10 else "a few"

    return re.sub(r"\b(millions|billions|trillions) of (?=of\b)", r"\1 ", _NUMBER.sub(word, _APPROXIMATE.sub("", body)))


def _no_time(found: re.Match[str]) -> str:
    return "" if found["front"] or not found["inner"].endswith(",") else ","


def _blurred(found: re.Match[str]) -> str:
    old = re.search(r"1[6-9]\d\d", found.group(0)) is not None
    when = "decades ago" if old else "a while ago"
    return f"{when.capitalize()}, " if found["front"] else f" {when}{',' if found['inner'].endswith(',') else ''}"


def _some_body(found: re.Match[str]) -> str:
    return "A major institution" if found.start() == 0 else "a major institution"


def _negate(body: str) -> str:
    """The first verb that can be denied is; a claim that denies something already is left alone."""
    if _NEGATED.search(body):
        return body
    return _CAN_NEGATE.sub(lambda m: "cannot" if m.group(1) == "can" else f"{m.group(1)} not", body, count=1)


def _specify(text: str, draw: random.Random, context: str | None) -> str:
    """The most concrete new sentence of the context; among equals one is drawn."""
    parts: Parts = lexicon().take_apart(text)
    if parts.extra or not context:
        return text
    words = set(parts.body.lower().split())
    sentences = [s.strip() for s in _SENTENCE.split(" ".join(context.split())) if 5 <= len(s.split()) <= 45]
    new = [s for s in sentences if len(words & set(s.lower().split())) < 0.7 * len(s.split())]
    if not new:
        return text
    most = max(len(_CONCRETE.findall(s)) for s in new)
    chosen = draw.choice([s for s in new if len(_CONCRETE.findall(s)) == most])
    return replace(parts, extra=chosen if chosen[-1] in ".!?" else chosen + ".").text()


def _no_example(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
    parts = lexicon().take_apart(text)
    return replace(parts, extra="").text() if parts.extra else text
