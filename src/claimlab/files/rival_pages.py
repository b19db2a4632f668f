"""Code pages that explain the bytes of a file about as well as one another: Thai and Korean share
their bytes, Turkish and Icelandic theirs. Which one is right can be seen by a person at once, from
three lines of each, and is asked rather than guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from claimlab.core import packaged
from claimlab.core.errors import Choice, Question

_ALPHABETS = packaged.toml("claimlab.files", "alphabets.toml")
LATIN: Mapping[str, list[str]] = _ALPHABETS["latin"]
LINES_SHOWN, LINE_CHARACTERS = 3, 60
LEAST_ODD_LETTERS = 0.01  # of the letters: fewer are names in a text of another language
TIMES_COVERED = 1.25  # of the share of its alphabet, at which a page is a rival of its equal
LEAST_THAI_USUAL, LEAST_THAI_MARKS = 0.35, 0.18  # of the letters beyond ASCII
_THAI_USUAL, _THAI_MARKS = frozenset("านรกอเ่้วส"), frozenset("่้์็ัิีืา")
BYTES_SEEN = 1 << 20
THAI = "cp874"
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")


class LatinPage(NamedTuple):
    """A Latin page, the share of the accented letters that one language under it has, and how much
    of the alphabet of that language occurs."""

    name: str
    explained: float
    covered: float


def latin_pages(data: bytes) -> list[LatinPage]:
    """Each Latin page by its best language."""
    counts = {bytes([byte]): n for byte, n in Counter(data).items() if byte > 0x7F}
    total = sum(counts.values()) or 1
    pages = []
    for name, alphabets in LATIN.items():
        odd = [(mark.decode(name, errors="ignore").lower() or "?", n) for mark, n in counts.items()]
        pages.append(
            max(
                LatinPage(
                    name,
                    sum(n for c, n in odd if c in alphabet) / total,
                    len({c for c, _ in odd if c in alphabet}) / len(set(alphabet)),
                )
                for alphabet in alphabets
            )
        )
    return pages


def rivals(data: bytes, chosen: str) -> list[str]:
    """The pages under which the bytes may be read, the chosen one last; none where it has no
    rival."""
    data = data[:BYTES_SEEN]
    if chosen in _ALPHABETS["usual"] and is_thai(data):
        return [THAI, chosen]
    odd = sum(byte > 0x7F for byte in data)
    if chosen != "cp1252" or odd < LEAST_ODD_LETTERS * len(_LETTER.findall(data)):
        return []
    pages = {page.name: page for page in latin_pages(data)}
    own = pages.pop(chosen)
    text = data.decode(chosen, "replace")
    near = [
        page
        for page in pages.values()
        if page.explained >= own.explained
        and (page.explained > own.explained or page.covered > TIMES_COVERED * own.covered)
        and data.decode(page.name, "replace") != text
    ]
    best = max(near, key=lambda page: page.covered, default=None)
    return [] if best is None else [best.name, chosen]


def is_thai(data: bytes) -> bool:
    """Whether bytes are Thai letters, the usual ones and the marks above them as often as in
    Thai."""
    if between_latin_letters(data):
        return False
    try:
        odd = [c for c in data[: data.rfind(b"\n")].decode(THAI) if c > "\x7f"]
    except UnicodeDecodeError:
        return False
    usual, marks = (
        sum(map(chars.__contains__, odd)) / max(1, len(odd)) for chars in (_THAI_USUAL, _THAI_MARKS)
    )
    return usual >= LEAST_THAI_USUAL and marks >= LEAST_THAI_MARKS


def between_latin_letters(data: bytes) -> bool:
    """Whether bytes beyond ASCII mostly stand alone, as accented letters do."""
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", data)]
    return 2 * runs.count(1) > len(runs)


def ask(data: bytes, name: str, pages: list[str]) -> Question:
    """The question which page a file was written in, with lines of it under each."""
    choices = [Choice("encoding", page, _lines(data, page)) for page in pages]
    return Question(f"{name} may be written in more than one code page.", choices)


def _lines(data: bytes, page: str) -> str:
    """The lines that differ most from ASCII, under a page."""
    lines = [line for line in data[:BYTES_SEEN].splitlines() if not line.isascii()]
    ranked = sorted(lines, key=lambda line: -sum(byte > 0x7F for byte in line))
    odd = list({line[:LINE_CHARACTERS]: line for line in ranked[::-1]}.values())[::-1][:LINES_SHOWN]
    texts = [" ".join(line.decode(page, "replace").split()) for line in odd]
    return " / ".join(
        text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 1]}…"
        for text in texts
    )
