"""One normal form for texts that differ only in dress: the key of copies (`text/folding.py`),
whitespace collapsed.

`normalise` is the definition. The compiled kernel needs it without Python, on many threads, so
`FoldingTable` lays the same mapping out as plain arrays: for most characters the normal form of a
text is the normal forms of its characters in a row. Where that does not hold (marks that combine
with the character before them), the table says so and the whole text goes through `normalise`. A
test walks random Unicode to hold the two together.
"""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from claimlab.text.folding import copy_key

TABLE_SIZE = 0x20000  # planes 0 and 1: every living script and the emoji
PAGE = 256
WORD = 1 << 30  # the character is part of a word
ASK = 1 << 29  # only `normalise` can tell: the text must go through Python
BRIEF = 1 << 28  # the character is a syllable or a word by itself: Han and kana
MANY = 1 << 31  # the low bits are an offset into `extra`: a length, then that many code points
UNKNOWN = (1 << 32) - 1  # the page is not filled yet
SPACE = 0x20

# They combine with the character before them without being marks: vowels and final consonants of
# Hangul.
_HANGUL_SECONDS = frozenset([*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)])
_FURTHER_HAN = range(0x20000, 0x40000)
_BRIEF = (
    range(0x3005, 0x3008),  # the repetition mark and the zero of Han
    range(0x3041, 0x3100),  # kana
    range(0x31F0, 0x3200),  # small kana
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x1B000, 0x1B170),  # historic kana
    _FURTHER_HAN,
)
_BEHIND_BRIEF = re.compile(
    f"([{''.join(f'{chr(part.start)}-{chr(part.stop - 1)}' for part in _BRIEF)}]) "
)


def normalise(text: str, *, words: bool = False) -> str:
    """The form in which texts are compared. A space behind a character of Han or kana is a way of
    typing and goes, unless `words` are compared, which it may separate.
    """
    plain = " ".join(copy_key(text).split())
    return plain if words else _BEHIND_BRIEF.sub(r"\1", plain)


def is_word(char: str) -> bool:
    """Letters, digits, the underscore and the marks that belong to letters; not the selectors that
    dress emoji.
    """
    if ord(char) >= TABLE_SIZE:
        return ord(char) in _FURTHER_HAN
    if char.isalnum() or char == "_":
        return True
    return unicodedata.category(char)[0] == "M" and not 0xFE00 <= ord(char) <= 0xFE0F


def is_brief(char: str) -> bool:
    """Characters of Han and kana: three of them say as much as five of an alphabet."""
    code = ord(char)
    return any(code in block for block in _BRIEF)


def brief_of(ngram: int) -> int:
    """How long a window is that begins with one of these, where others have `ngram` characters."""
    return (3 * ngram + 4) // 5


class FoldingTable:
    """Filled page by page as texts need it: most corpora use a dozen of the 512 pages.

    Entries are only ever added, and a kernel that runs on another thread reads none that it has not
    asked for.
    """

    def __init__(self) -> None:
        self.table: NDArray[np.uint32] = np.full(TABLE_SIZE, UNKNOWN, dtype=np.uint32)
        self.extra: NDArray[np.uint32] = np.zeros(1, np.uint32)
        self._lock = threading.Lock()

    def fill(self, pages: Iterable[int]) -> None:
        """Make every character on these pages known."""
        with self._lock:
            extra = self.extra.tolist()
            missing = [page for page in pages if self.table[page * PAGE] == UNKNOWN]
            filled = {
                page: [_entry(chr(page * PAGE + i), extra) for i in range(PAGE)] for page in missing
            }
            self.extra = np.array(
                extra, dtype=np.uint32
            )  # first: no entry may point past the end of what a reader has
            for page, entries in filled.items():
                self.table[page * PAGE : (page + 1) * PAGE] = entries


@functools.cache
def folding_table() -> FoldingTable:
    """The one table of this process."""
    return FoldingTable()


def _entry(char: str, extra: list[int]) -> int:
    first = unicodedata.normalize("NFKD", char)[0]
    if unicodedata.combining(first) or (ord(first) >= 0x300 and ord(first) in _seconds()):
        return ASK | (WORD if is_word(char) else 0) | (BRIEF if is_brief(char) else 0)
    folded = [_with_class(c) for c in copy_key(char)]
    if len(folded) == 1:
        return folded[0]
    extra += [len(folded), *folded]
    return MANY | (len(extra) - len(folded) - 1)


def _with_class(char: str) -> int:
    if char.isspace():
        return SPACE
    return ord(char) | (WORD if is_word(char) else 0) | (BRIEF if is_brief(char) else 0)


@functools.cache
def _seconds() -> frozenset[int]:
    """Code points that can melt into the one before them (NFC_Quick_Check is not "yes")."""
    letters = set(_HANGUL_SECONDS)
    for code in range(0xC0, TABLE_SIZE):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            letters.add(int(parts[1], 16))
    return frozenset(letters)
