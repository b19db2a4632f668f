"""Operators on figures, dates and names: rounded, made vague, blurred, or made exact where they
were vague.
"""

from __future__ import annotations

import calendar
import random
import re
from collections.abc import Iterator

from claimlab.evolve.rewrite.english.clause import parse
from claimlab.evolve.rewrite.english.forms import YEAR
from claimlab.evolve.rewrite.operators.operator import Operator, targets
from claimlab.evolve.rewrite.operators.statement import on_body

_MONTHS = [name for name in calendar.month_name if name]
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_ABOUT = (
    r"(?:(?:approximately|roughly|nearly|almost|around|about|up to|at least|more than|over|some|an"
    r" estimated) )?"
)
# A number that counts something: not a year, an age, part of a name or a range.
_COUNT = re.compile(
    rf"(?<![\w.,/–$€£-]){_ABOUT}(?<!age )(?<!ages )(?<!aged )(?<!under )(?<!article"
    r" )(?P<n>\d{1,3}(?:,\d{3})+|\d+)"
    rf"(?P<size> thousand| million| billion| trillion)?(?= (?!{_MONTH}|percent|per\b|to\b|in"
    r" \d|of\b|"
    rf"or\b|and \d)[a-z])(?![–-])"
)
_MONEY = re.compile(
    rf"{_ABOUT}[$€£](?P<n>\d[\d,.]*)(?P<size> thousand| million| billion| trillion)?\b(?! dollars)"
)
_SHARE = re.compile(
    rf"{_ABOUT}(?<!\d)(?P<n>\d+(?:\.\d+)?)(?:%| percent)(?:(?P<of> of (?:all )?)|(?![–\w-]))"
)
_NUMBER = re.compile(
    r"(?<![\w.,–-])(?<!age )(?<!ages )(?<!aged )(?<!under )(?<!article "
    r")(?P<cash>[$€£]?)(?P<n>\d{1,3}(?:,\d{3})+|\d+)(?P<fraction>\.\d+)?(?=%| percent| million| "
    r"billion| [a-z])(?![–-])"
)
_DATE = re.compile(
    r"(?P<word>\b(?:[Ii]n|[Oo]n|[Bb]y|[Ss]ince|[Dd]uring|[Aa]s of|[Bb]efore|[Aa]fter))"
    r" (?:(?P<day>\d{1,2}) )?"
    rf"(?:(?P<month>{_MONTH})(?: (?P<late>\d{{1,2}}),?)? |(?P<part>early|late|mid-?) "
    rf"?)?(?P<year>{YEAR})(?P<s>s?)\b(?! [A-Z])(?!-|–| election| vote| law| reform)"
)
_BODY = re.compile(
    r"(?P<the>\b[Tt]he )?(?:[A-Z][\w’'-]{1,40} ){1,9}"
    r"(?P<head>Organi[sz]ation|Agency|University|Institute|Ministry|Department|"
    r"Committee|Commission|Council|Association|Foundation|Administration|Centre|Center|Bank|Court)\b"
    r"(?=$|,| (?:in|of|for|to|and|is|was|has|have|had|will|may|can|said)\b)"
)
_FRACTIONS = (
    (5, "a small share"),
    (12, "about one in ten"),
    (22, "about a fifth"),
    (29, "about a quarter"),
    (38, "about a third"),
    (46, "over a third"),
    (54, "about half"),
    (62, "more than half"),
    (70, "about two thirds"),
    (80, "about three quarters"),
    (101, "the vast majority"),
)
_EXACT = {
    "dozens of": "about 40",
    "hundreds of": "about 300",
    "thousands of": "some 4,000",
    "several": "at least five",
    "numerous": "about 30",
    "about half": "51%",
    "more than half": "56%",
    "about a third": "34%",
    "about a quarter": "26%",
    "the vast majority": "87%",
    "a majority": "58%",
    "most of": "about 70% of",
    "in recent years": "over the past five years",
    "decades ago": "some 40 years ago",
    "around the world": "in more than 60 countries",
    "many countries": "at least 30 countries",
}


def figure_operators() -> Iterator[Operator]:
    macro, micro = targets("granularity=macro"), targets("granularity=micro")
    yield Operator("round-numbers", "Numbers lose their last digits", "generalise", on_body(_round))
    yield Operator(
        "vague-numbers",
        "A number becomes words such as hundreds",
        "generalise",
        on_body(_vague),
        macro,
    )
    yield Operator("blur-time", "A date becomes less exact", "generalise", on_body(_blur), macro)
    yield Operator(
        "blur-names",
        "A named body becomes one of its kind",
        "generalise",
        on_body(_nameless),
        macro,
    )
    yield Operator(
        "sharpen",
        "A vague amount becomes an exact one; invented",
        "specify",
        on_body(_sharpen),
        micro,
    )


def _value(match: re.Match[str]) -> float:
    return float(match["n"].replace(",", "").rstrip("."))


def _is_year(match: re.Match[str]) -> bool:
    return re.fullmatch(YEAR, match["n"]) is not None


def _round(body: str, draw: random.Random) -> str:  # noqa: ARG001
    """One digit below a hundred, two above."""

    def rounded(match: re.Match[str]) -> str:
        value = float(match["n"].replace(",", "") + (match["fraction"] or ""))
        if _is_year(match) or value < 11:
            return match[0]
        near = round(value, (1 if value < 100 else 2) - len(str(int(value))))
        return match[0] if near == value or near < 1 else f"{match['cash']}{near:,.0f}"

    return _NUMBER.sub(rounded, body)


def _vague(body: str, draw: random.Random) -> str:
    """One figure of the sentence."""
    spots = [
        m
        for pattern in (_MONEY, _SHARE, _COUNT)
        for m in pattern.finditer(body)
        if _words_for(pattern, m)
    ]
    if not spots:
        return body
    match = draw.choice(spots)
    words = _words_for(match.re, match)
    start, end = match.start(), match.end()
    if words == "dozens of" and body[end:].startswith(" years"):
        words, end = "decades", end + len(" years")
    new = words[:1].upper() + words[1:] if start == 0 else words
    return f"{body[:start]}{new}{body[end:]}"


def _words_for(pattern: re.Pattern[str], match: re.Match[str]) -> str:
    size = (match.groupdict().get("size") or "").strip()
    if pattern is _MONEY:
        return f"{size}s of dollars" if size else "a large sum"
    if pattern is _SHARE:
        if not match["of"] and not match.string[: match.start()].endswith("by "):
            return ""  # "the 20% increase" has no words of its own
        share = (
            next(words for most, words in _FRACTIONS if _value(match) < most)
            if _value(match) <= 100
            else ""
        )
        return share + (match["of"] or "") if share else ""
    if _is_year(match) and not size:
        return ""
    if size:
        return f"{size}s of"
    value = _value(match)
    return (
        ""
        if value < 4
        else (
            "several"
            if value < 12
            else "dozens of"
            if value < 100
            else "hundreds of"
            if value < 1000
            else "thousands of"
        )
    )


def _blur(body: str, draw: random.Random) -> str:  # noqa: ARG001
    match = _DATE.search(body)
    if match is None:
        return body
    word, year = match["word"].lower(), match["year"]
    if match["month"]:
        third = _MONTHS.index(match["month"]) // 4
        new = (
            f"{'in' if word == 'on' else word}"
            f" {('early', 'mid-', 'late')[third]}{'' if third == 1 else ' '}{year}"
        )
    elif match["part"]:
        new = f"{word} {year}"
    elif match["s"] or int(year) < 2000:
        perfect = re.search(r"\b(?:has|have)\b", body) is not None
        if word != "in" or perfect:
            return body
        new = "decades ago"
    elif (
        word == "in"
        and (clause := parse(body)) is not None
        and (clause.past or clause.group.words[0] in ("has", "have"))
    ):
        new = "in recent years"
    else:
        return body
    new = new[:1].upper() + new[1:] if match["word"][0].isupper() else new
    return f"{body[: match.start()]}{new}{body[match.end() :]}"


def _nameless(body: str, draw: random.Random) -> str:  # noqa: ARG001
    match = _BODY.search(body)
    if match is None:
        return body
    head = match["head"].lower()
    new = f"the {head}" if match["the"] else f"a leading {head}"
    return f"{body[: match.start()]}{new[:1].upper() + new[1:] if match.start() == 0 else new}{body[match.end() :]}"  # noqa: E501


def _sharpen(body: str, draw: random.Random) -> str:
    phrases = [
        words for words in _EXACT if re.search(rf"(?<!\w){words}(?!\w)", body, re.IGNORECASE)
    ]
    if not phrases:
        return body
    words = draw.choice(phrases)

    def exact(match: re.Match[str]) -> str:
        return (
            _EXACT[words][:1].upper() + _EXACT[words][1:]
            if match[0][0].isupper()
            else _EXACT[words]
        )

    return re.sub(rf"(?<!\w){words}(?!\w)", exact, body, count=1, flags=re.IGNORECASE)
