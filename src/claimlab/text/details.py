"""The details of a text that must survive a retelling, a rewrite or a translation: numbers with
their units, dates, places, names, quantity words, negation, modality and cause.

Rules, not a model: digits of any script, runs of capitalised words, and the words of
data/details.toml. A kind that cannot be read in a language or a script is not in `readable`, and is
then "not measured", never "none".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import eq

from claimlab.core import packaged
from claimlab.core.types import JsonObject

KINDS = ("number", "date", "place", "name", "quantity", "negation", "modality", "cause")
WORDS = KINDS[4:]  # kinds that are lists of words
ACROSS = ("number", "date")  # kinds that are spelt alike in two languages
KEPT, CHANGED, LOST, NEW = "kept", "changed", "lost", "new"
CASELESS = frozenset({"deu", "ltz"})  # every noun has a capital there, so a capital says nothing
# Digits behind a letter, or a letter and a dash, are part of a name: COVID-19, N95, G7.
_LETTER = r"[^\W\d_\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]"  # of a script with spaces
_DIGITS = rf"(?<!{_LETTER})(?<!{_LETTER}[-‑–])(?<!\d)\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*"
_NUMBER = re.compile(_DIGITS)
# digits that count in tens of thousands are not a plain number
_MYRIADS = re.compile(r"\d\s*[万萬億亿兆千百십백천만억]")
_YEAR = r"(?:1[5-9]|20)\d\d"
_BARE_DATE = rf"(?<![\d.,$€£]){_YEAR}(?![\d%])(?![.,]\d)"
_ISO = rf"(?P<iso>{_YEAR}-\d\d-\d\d)"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_START = re.compile(r"(?:^|[.!?…:;\n\"“”„«»()\[\]•–—#]\s*)$")
_OF = ("of", "de", "da", "do", "del", "la", "von", "van", "du", "di")
_CAPITAL = r"(?<!\w)[^\W\d_a-zß-öø-ÿа-яα-ω][^\W\d_]*(?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"{_CAPITAL}(?: (?:(?:{'|'.join(_OF)}) ){{0,2}}{_CAPITAL})*")
# "may" and "march" are words of English besides: they are months after these, or beside a figure
_MONTH_AFTER = re.compile(
    r"\b(?:in|during|since|until|before|after|from|of|by|on|last|this|next|early|late|mid)[\s-]$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextDetail:
    """`value` is its one spelling: "£1.2 million" and "1.2 milhões de libras" are "1200000 GBP"."""

    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DetailChange:
    """What became of a detail; `before` is null for a new one, `after` for one that is lost."""

    kind: str
    outcome: str
    before: str | None
    after: str | None


def readable(text: str, language: str | None) -> frozenset[str]:
    """The kinds of details that can be read in this text."""
    kinds = set(_listed()["words"].get(language, ()))
    if language in _listed()["months"]:
        kinds.add("date")
    if not _MYRIADS.search(text):
        kinds.add("number")
    if language not in CASELESS and any(c.isupper() or c.islower() for c in text):
        kinds |= {"name", "place"} if language in _listed()["places"] else {"name"}
    return frozenset(kinds)


@lru_cache(maxsize=100_000)
def details(text: str, language: str | None) -> tuple[TextDetail, ...]:
    """The details of a text in their order."""
    kinds = readable(text, language)
    taken: list[TextDetail] = []
    for read in (_dates, _numbers, _names, _word_details):
        fresh = [detail for detail in read(text, language) if detail.kind in kinds]
        taken += [detail for detail in fresh if not _overlaps(detail, taken)]
    return tuple(sorted(taken, key=lambda detail: detail.start))


def _overlaps(detail: TextDetail, taken: Sequence[TextDetail]) -> bool:
    """What is part of a date is not a number, and "May" in one is not a modal verb."""
    return any(other.start < detail.end and detail.start < other.end for other in taken)


def compared(
    before: str, after: str, language: str | None, other: str | None = None
) -> list[DetailChange]:
    """Every detail of two texts, aligned. Only kinds that can be read in both are compared; in two
    languages (`other` is that of the second) numbers and dates, or figures alone where we have no
    list of the units and months of both.
    """
    other = other or language
    kinds = readable(before, language) & readable(after, other)
    if other != language:
        kinds &= set(ACROSS)
        if "date" not in kinds:
            language = other = None
    changes: list[DetailChange] = []
    for kind in KINDS:
        if kind in kinds and kind != "place":
            # a name may be a place in one text and not in the other: both are looked up as names
            wanted = ("name", "place") if kind == "name" else (kind,)
            sides = (
                [detail for detail in details(*side) if detail.kind in wanted]
                for side in ((before, language), (after, other))
            )
            changes += _aligned(*sides)
    return changes


def _aligned(old: Sequence[TextDetail], new: Sequence[TextDetail]) -> Iterator[DetailChange]:
    """Equal values are the same detail; then those that share a part (a unit, a year, a surname);
    of the rest, the first is changed to the first.
    """
    left, rest = list(old), list(new)
    for alike in (eq, _akin, None):
        for detail in list(left):
            twins = (other for other in rest if alike is None or alike(detail.value, other.value))
            twin = next(twins, None)
            if twin is not None:
                left.remove(detail)
                rest.remove(twin)
                outcome = KEPT if alike is eq else CHANGED
                yield DetailChange(detail.kind, outcome, detail.value, twin.value)
    yield from (DetailChange(detail.kind, LOST, detail.value, None) for detail in left)
    yield from (DetailChange(detail.kind, NEW, None, detail.value) for detail in rest)


def _akin(value: str, other: str) -> bool:
    return bool(set(re.split(r"[ -]", value)) & set(re.split(r"[ -]", other)) - {"?"})


def _dates(text: str, language: str | None) -> Iterator[TextDetail]:
    months = _numbered("months", language)
    for match in _date_pattern(language).finditer(text):
        if match["iso"]:
            yield TextDetail("date", match["iso"], *match.span())
            continue
        day, word = match["day"] or match["after"], (match["month"] or "").casefold()
        if word in ("may", "march") and not _is_month(match, text):
            continue
        month = months[word].zfill(2) if word else "?"
        year = match["year"] or match["bare"] or "?"
        yield TextDetail("date", f"{year}-{month}-{day.zfill(2) if day else '?'}", *match.span())


def _is_month(match: re.Match[str], text: str) -> bool:
    """Whether what may be a verb is a month: by a day or a year, or a capital after "in" or so."""
    if match["day"] or match["after"] or match["year"]:
        return True
    ahead = text[max(match.start() - 12, 0) : match.start()]
    return match["month"][0].isupper() and _MONTH_AFTER.search(ahead) is not None


def _numbers(text: str, language: str | None) -> Iterator[TextDetail]:
    if language is None:  # no units to look for
        for match in _NUMBER.finditer(text):
            yield TextDetail("number", _plain(match.group()), *match.span())
        return
    words = _numbered("numbers", language)
    for match in _number_pattern(language).finditer(text):
        written = match["number"]
        value = float(words.get(written.casefold()) or _plain(written))
        for scale in re.findall(r"\S+", match["scales"] or ""):
            value *= float(_named("scales", scale))
        unit = (match["sign"] or match["unit"] or "").strip()
        factor, _, base = _named("units", unit).rpartition(" ") if unit else ("", "", "")
        amount = f"{value * float(factor or 1):.12g}"
        yield TextDetail("number", f"{amount} {base}".strip(), *match.span())


def _names(text: str, language: str | None) -> Iterator[TextDetail]:
    """Runs of capitalised words inside a sentence, after a word of place a place."""
    before = frozenset(_listed()["places"].get(language, "").split())
    for match in _NAME.finditer(text):
        ahead = text[: match.start()]
        first, _, rest = match.group().partition(" ")
        start = match.start()
        if _START.search(ahead[-3:]):  # every sentence begins with a capital
            if not rest or rest.split()[0] in _OF:
                continue
            start += len(first) + 1
        name = text[start : match.end()]
        if len(name) > 1 and name[0].isupper():
            last = ahead.split()[-1:] if start == match.start() else []
            kind = "place" if last and last[0].casefold() in before else "name"
            yield TextDetail(kind, name.casefold(), start, match.end())


def _word_details(text: str, language: str | None) -> Iterator[TextDetail]:
    for kind, value, pattern in _word_patterns(language):
        for match in pattern.finditer(text):
            yield TextDetail(kind, value, *match.span())


def numbers(text: str) -> list[str] | None:
    """The numbers of a text in order, one spelling each: "1,000", "1.000" and "١٠٠٠" are "1000".
    Null where digits are followed by a sign for hundreds or tens of thousands, as in Chinese."""
    if _MYRIADS.search(text):
        return None
    return [_plain(match.group()) for match in _NUMBER.finditer(text)]


def _plain(number: str) -> str:
    """Groups of three digits are thousands; any other last group is a fraction."""
    parts = re.split(r"[^\d]", "".join(str(int(c)) if c.isdecimal() else c for c in number))
    if len(parts) == 1 or all(len(part) == 3 for part in parts[1:]):
        return "".join(parts).lstrip("0") or "0"
    fraction = parts[-1].rstrip("0")
    whole = "".join(parts[:-1]).lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def number_words(text: str, language: str | None) -> set[str]:
    """The numbers from 0 to 12 that a text writes as words; empty where we have no list for the
    language.
    """
    listed = _numbered("numbers", language)
    return {listed[word] for word in _words(text) if word in listed}


def names(text: str, language: str | None) -> set[str] | None:
    """Words with a capital inside a sentence, folded; null where the script has no capitals or all
    nouns have one.
    """
    if "name" not in readable(text, language):
        return None
    return {
        word
        for detail in _names(text, language)
        for word in _words(text[detail.start : detail.end])
    }


def words(text: str) -> set[str]:
    """All words of a text, folded."""
    return set(_words(text))


def _words(text: str) -> list[str]:
    """Folded, "U.S." as "us", and both halves of "director-general"."""
    whole = re.sub(r"(?<=\b\w)\.(?=\w\b|\s|$)", "", text)
    return [part for word in _WORD.findall(whole) for part in re.split(r"['’-]", word.casefold())]


@cache
def _listed() -> JsonObject:
    return packaged.toml("claimlab.text", "details.toml")


@cache
def _numbered(table: str, language: str | None) -> dict[str, str]:
    rows: list[str] = _listed()[table].get(language or "", [])
    first = 0 if table == "numbers" else 1
    return {word: str(i) for i, row in enumerate(rows, first) for word in row.split()}


def _spelt(words: str) -> str:
    """Patterns that are separated by blanks, as one; a blank inside a pattern has a backslash."""
    return "|".join(sorted(re.split(r"(?<!\\) ", words), key=len, reverse=True))


@cache
def _spellings(table: str) -> dict[str, re.Pattern[str]]:
    """What a number is counted in, each with the pattern of its spellings."""
    rows = _listed()[table].items()
    return {name: re.compile(_spelt(row), re.IGNORECASE) for name, row in rows}


def _named(table: str, written: str) -> str:
    return next((name for name, spelt in _spellings(table).items() if spelt.fullmatch(written)), "")


@cache
def _number_pattern(language: str | None) -> re.Pattern[str]:
    spelt = [w for w, n in _numbered("numbers", language).items() if int(n) > 1]
    figure = "|".join([_DIGITS, *(rf"\b{word}\b" for word in spelt)])
    scale, unit = (
        "|".join(spelt.pattern for spelt in _spellings(table).values())
        for table in ("scales", "units")
    )
    return re.compile(
        rf"(?:(?P<sign>(?:\b(?:us|r|ca?|au?))?\$|[€£¥₹])\s?)?(?P<number>{figure})"
        rf"(?P<scales>(?:\s(?:{scale})(?!\w))*)"
        rf"(?:(?:\s(?:of|de|di))?[\s-]?(?P<unit>{unit})(?!\w))?",
        re.IGNORECASE,
    )


@cache
def _date_pattern(language: str | None) -> re.Pattern[str]:
    months = _numbered("months", language)
    if not months:
        empty = "(?P<day>)(?P<month>)(?P<after>)(?P<year>)"
        return re.compile(rf"{_ISO}|(?P<bare>{_BARE_DATE}){empty}")
    month = "|".join(sorted(filter(None, months), key=len, reverse=True))
    day = r"(?<!\d)\d{1,2}"
    return re.compile(
        rf"{_ISO}|(?:(?P<day>{day})(?:st|nd|rd|th|\.|º)?\s(?:de\s|of\s)?)?\b(?P<month>{month})\b"
        rf"(?:\s(?P<after>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?"
        rf"(?:,?\s(?:de\s|del\s|of\s)?(?P<year>{_YEAR})(?!\d))?|(?P<bare>{_BARE_DATE})",
        re.IGNORECASE,
    )


@cache
def _word_patterns(language: str | None) -> list[tuple[str, str, re.Pattern[str]]]:
    kinds = _listed()["words"].get(language, {})
    return [
        (
            kind,
            value,
            re.compile(rf"(?:\b|(?<=\w)(?=n't))(?:{_spelt(spelling)})(?!\w)", re.IGNORECASE),
        )
        for kind, values in kinds.items()
        for value, spelling in values.items()
    ]
