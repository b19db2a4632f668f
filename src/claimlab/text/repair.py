"""Repair texts that were decoded wrongly or escaped: mojibake ("CafÃ©" for "Café") and HTML
entities. ftfy does the repair, and pages that it does not know (Thai, Arabic, Hebrew, KOI8) and
quotation marks of Mac Roman ("canÕt") are tried besides. Because ftfy needs about 60 microseconds a
row, rows that need none are filtered out first, by running ftfy's own detection pattern on all rows
at once in Polars. A text is changed where one decoding repairs the whole of it, and stays as it is
otherwise: what is half repaired cannot be repaired later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import polars as pl

from claimlab.text.rows import change_where

# Read for UTF-8 by mistake; ftfy knows the pages of western and central Europe and of Cyrillic.
PAGES = ("cp874", "cp1255", "cp1256", "cp1258", "koi8_r", "cp850", "cp775")
MOSTLY = 0.5  # of the characters of a text, of the texts of a file
_FEWEST_MARKS = 3  # question marks, or controls in the place of letters
# Quotation marks and dashes of Mac Roman that were read as Latin-1: a capital with an accent at the
# end of a word in small letters, or before a word that has its own capital.
_MAC_MARKS = r"\p{Ll}[ÒÓÔÕÐÑ](?:\P{Lu}|$)|(?:^|[\s(\x{22}])Ò\p{L}|\p{Ll}[.,!?]?\s?Ó(?:\P{L}|$)"
_MAC_BROKEN = re.compile(
    r"[a-zß-öø-ÿ][.,!?]?[ÒÓÔÕÐÑ](?![A-ZÀ-ÖØ-Þ])|(?:^|(?<=[\s(\"]))Ò(?=[^\W\d_])"
)
_MAC_MARKED = {"Ò": "“", "Ó": "”", "Ô": "‘", "Õ": "’", "Ð": "–", "Ñ": "—", "É": "…"}
_MAC_MARK = re.compile("[ÒÓÔÕÐÑÉ]")
_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")
_ENTITY = "&#?[0-9A-Za-z]{1,24};"
TIMES_ESCAPED = 3  # at most


@dataclass(frozen=True)
class Damage:
    """What a wrong encoding did to `texts` texts: those that look broken, those of them that one
    decoding repairs (with the first of these, before and after), and those that are mostly question
    marks, which nothing repairs.
    """

    texts: int
    broken: int
    repairable: int
    lost: int
    example: tuple[str, str] | None = None

    @property
    def mostly_lost(self) -> bool:
        """Whether there is no text left to work with."""
        return self.lost > MOSTLY * self.texts


def damage_of(texts: pl.Series) -> Damage:
    """What a wrong encoding did to the texts: to be said where they are read."""
    filled = texts.drop_nulls()
    broken = filled.filter(looks_broken(filled))
    repaired = _repair(broken)
    changed = (broken != repaired).arg_true()
    first = next(iter(changed.to_list()), None)
    example = None if first is None else (broken[first], repaired[first])
    lost = int(lost_to_question_marks(filled).sum())
    return Damage(filled.len(), broken.len(), changed.len(), lost, example)


def lost_to_question_marks(texts: pl.Series) -> pl.Series:
    """Whether at least half of the characters of a text, and three or more, are question marks or
    the sign for a character that could not be read.
    """
    marks = texts.str.count_matches(r"[?\x{fffd}]")
    size = texts.str.count_matches(r"\S")
    return ((marks >= _FEWEST_MARKS) & (marks >= MOSTLY * size)).fill_null(value=False)


def half_read(texts: pl.Series) -> pl.Series:
    """Whether a text looks broken and has controls in the place of letters, which are needed to
    repair it by a page that is not tried here.
    """
    controls = texts.str.count_matches(r"[\x{80}-\x{9f}]")
    return (looks_broken(texts) & (controls >= _FEWEST_MARKS)).fill_null(value=False)


def repair_mojibake(texts: pl.Series) -> pl.Series:
    """`texts` with broken encodings repaired, where one decoding repairs the whole of a text; rows
    that do not look broken are unchanged.
    """
    return change_where(texts, looks_broken(texts), _repair)


def unescape_entities(texts: pl.Series) -> pl.Series:
    """`texts` with the signs that HTML entities stand for, also where they were escaped twice
    (`&amp;quot;`). One without its semicolon stays: in an address it is none.
    """
    return change_where(texts, texts.str.contains(_ENTITY), _unescape)


def looks_broken(texts: pl.Series) -> pl.Series:
    """Whether a row has a sequence of characters that is unlikely except as the result of a wrong
    encoding.
    """
    return texts.str.contains(_broken_pattern()) | texts.str.contains(_MAC_MARKS)


@cache
def _broken_pattern() -> str:
    from ftfy.badness import BADNESS_RE

    return _without_verbose(BADNESS_RE.pattern)


def _without_verbose(pattern: str) -> str:
    """A verbose Python pattern as a plain one: Rust's verbose mode would ignore spaces inside
    [...].
    """
    parts = re.findall(r"\[(?:\\.|[^\]\\])*\]|\\.|#[^\n]*|\s+|.", pattern)
    return "".join(part for part in parts if not part.startswith("#") and not part.isspace())


def _unescape(rows: pl.Series) -> pl.Series:
    from ftfy.fixes import unescape_html

    plain = rows.to_list()
    for _ in range(TIMES_ESCAPED):
        plain = [unescape_html(text) for text in plain]
    return pl.Series(rows.name, plain, dtype=pl.String)


def _repair(rows: pl.Series) -> pl.Series:
    return pl.Series(rows.name, [_repaired(row) for row in rows.to_list()], dtype=pl.String)


def _repaired(text: str) -> str:
    """The text by the first way that leaves nothing broken; as it is where none does."""
    return next((new for new in _attempts(text) if new != text and not _is_broken(new)), text)


def _attempts(text: str) -> Iterator[str]:
    import ftfy

    yield ftfy.fix_encoding(text)
    for page in PAGES:
        yield _read_again(text, page)
    yield _MAC_MARK.sub(lambda found: _MAC_MARKED[found.group()], text)


def _is_broken(text: str) -> bool:
    from ftfy.badness import is_bad

    return is_bad(text) or _MAC_BROKEN.search(text) is not None or _CONTROL.search(text) is not None


def _read_again(text: str, page: str) -> str:
    """A text whose bytes were UTF-8, and were read as `page`; as it is where they were not."""
    table = _bytes_of(page)
    codes = [table.get(character) for character in text]
    if None in codes:
        return text
    try:
        return bytes(code for code in codes if code is not None).decode("utf-8")
    except UnicodeDecodeError:
        return text


@cache
def _bytes_of(page: str) -> dict[str, int]:
    """The byte of each character of a page; a byte without a character was read as a control."""
    table = {chr(code): code for code in range(256)}
    for code in range(256):
        table[bytes([code]).decode(page, errors="ignore") or chr(code)] = code
    return table
