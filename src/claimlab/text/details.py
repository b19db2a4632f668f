"""The details of a text that must survive a rewrite or a translation: numbers, months and names.

Rules, not a model: digits of any script, the month names and number words of data/details.toml, and
runs of capitalised words. Where a language or a script cannot be read this way, the answer is null
("not measured"), never an empty set.
"""

from __future__ import annotations

import re
from functools import cache

from claimlab.core import packaged

# Digits behind a letter, or a letter and a dash, are part of a name: COVID-19, N95, G7.
_NUMBER = re.compile(r"(?<![^\W\d_])(?<![^\W\d_][-‑–])(?<!\d)\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*")
_MYRIADS = re.compile(
    r"\d\s*[万萬億亿兆千百십백천만억]"
)  # digits that count in tens of thousands: no plain number
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_START = re.compile(r"(?:^|[.!?…:;\n\"“”„«»()\[\]•–—]\s*)$")
CASELESS = frozenset({"deu", "ltz"})  # every noun has a capital there, so a capital says nothing


def numbers(text: str) -> list[str] | None:
    """The numbers of a text in order, one spelling each: "1,000", "1.000" and "١٠٠٠" are "1000".
    Null where digits are followed by a sign for hundreds or tens of thousands, as in Chinese."""
    if _MYRIADS.search(text):
        return None
    return [_plain(match.group()) for match in _NUMBER.finditer(text)]


def _plain(number: str) -> str:
    """Groups of three digits are thousands; any other last group is a fraction."""
    parts = re.split(
        r"[^\d]", "".join(str(int(c)) if c.isdigit() and c.isdecimal() else c for c in number)
    )
    if len(parts) == 1 or all(len(part) == 3 for part in parts[1:]):
        return "".join(parts).lstrip("0") or "0"
    fraction = parts[-1].rstrip("0")
    whole = "".join(parts[:-1]).lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def number_words(text: str, language: str | None) -> set[str]:
    """The numbers from 0 to 12 that a text writes as words; empty where we have no list for the
    language.
    """
    listed = _listed("numbers", language)
    return {listed[word] for word in _words(text) if word in listed}


def months(text: str, language: str | None) -> set[str] | None:
    """The months that a text names, as "1" to "12"; null where we have no list for the language."""
    listed = _listed("months", language)
    return {listed[word] for word in _words(text) if word in listed} if listed else None


def names(text: str, language: str | None) -> set[str] | None:
    """Words with a capital inside a sentence, folded; null where the script has no capitals or all
    nouns have one.
    """
    if language in CASELESS or not any(c.isupper() or c.islower() for c in text):
        return None
    return {
        match.group().casefold()
        for match in _WORD.finditer(text)
        if match.group()[0].isupper()
        and len(match.group()) > 1
        and not _START.search(text[max(match.start() - 3, 0) : match.start()])
    }


def words(text: str) -> set[str]:
    """All words of a text, folded."""
    return set(_words(text))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


@cache
def _listed(table: str, language: str | None) -> dict[str, str]:
    rows: list[str] = packaged.toml("claimlab.text", "details.toml")[table].get(language or "", [])
    first = 0 if table == "numbers" else 1
    return {word: str(i) for i, row in enumerate(rows, first) for word in row.split()}
