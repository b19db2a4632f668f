"""From bytes to text: UTF-8 first, marks and UTF-16 honoured, then the best guess of a detector.

The detector is good at scripts, and bad at Western against Eastern European code pages (Portuguese
read as cp1250 turns "não" into "năo"), so among Latin code pages the alphabets of the languages
decide.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from claimlab.core import packaged
from claimlab.core.errors import UnreadableFile
from claimlab.core.words import several
from claimlab.files.rival_pages import (
    THAI,
    ask,
    between_latin_letters,
    is_thai,
    latin_pages,
    rivals,
)

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE_BYTES = 1 << 16  # bytes that a detector sees
EXPLAINED = 0.9  # of the accented letters, by the alphabet of one language
CLEAR_RATIO = 1.2  # times the letters that cp1252 explains
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")

# least share of the commonest characters of a language: read under another page, a text has hardly
# any of them
_LEAST_USUAL = 0.03


def sniff_encoding(data: bytes) -> str:
    """The encoding of `data`: its byte-order mark, UTF-8 if it decodes, else a detector's guess,
    else cp1252.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    try:
        data.decode("utf-8")
        return _without_mark(data) or "utf-8"
    except UnicodeDecodeError:
        pass
    sample = _around_trouble(data)
    guess = _without_mark(data) or _detected(sample, data[: 1 << 20])
    try:
        data.decode(guess)
    except (UnicodeDecodeError, LookupError):
        return "cp1252"
    return guess


def decode(data: bytes, name: str, encoding: str | None = None, likely: str | None = None) -> str:
    """`data` as text; bytes that the encoding cannot hold raise a sentence rather than vanish.
    `likely` is the encoding of other files like it."""
    chosen = encoding or likely or sniff_encoding(data)
    try:
        return data.decode(chosen)
    except UnicodeDecodeError as error:
        if encoding is None and chosen == "cp1252":
            return _windows_text(data)
        raise UnreadableFile(
            f"'{name}' is not {chosen} text (byte {error.start}).", "Name its encoding: `encoding`."
        ) from None
    except LookupError:
        raise UnreadableFile(
            f"'{chosen}' is not an encoding Python knows.", "Use a name such as utf-8 or cp1252."
        ) from None


def _windows_text(data: bytes) -> str:
    """cp1252 leaves five bytes undefined; like web browsers, keep them as they are."""
    return "".join(
        part.decode("cp1252") if i % 2 == 0 else part.decode("latin-1")
        for i, part in enumerate(re.split(rb"([\x81\x8d\x8f\x90\x9d]+)", data))
    )


def read_text(
    data: bytes, name: str, encoding: str | None = None, likely: str | None = None
) -> tuple[str, str, list[str]]:
    """Text without its byte-order mark, its encoding, and a note when a few places of it were
    broken.
    """
    chosen = encoding or likely or sniff_encoding(data)
    if (
        encoding is None
        and not chosen.startswith("utf")
        and (repaired := damaged_utf8(data)) is not None
    ):
        places = several(repaired[1], "broken place")
        return repaired[0], "utf-8", [f"'{name}' is UTF-8 but for {places}, now \ufffd."]
    if encoding is None and likely is None and (pages := rivals(data, chosen)):
        raise ask(data, f"'{name}'", pages)
    return decode(data, name, encoding, likely).lstrip("\ufeff"), chosen, []


def damaged_utf8(data: bytes) -> tuple[str, int] | None:
    """Text and number of broken places when `data` is UTF-8 but for a few of them (a cut character,
    a stray byte).

    Any other encoding would turn every accented letter of such a file into two wrong ones.
    """
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    whole = sum(1 for c in text if c > "\x7f") - broken
    return (text, broken) if whole >= 10 * broken else None


def is_blank(head: bytes) -> bool:
    """Whether bytes are nothing but whitespace and byte-order marks."""
    name = next((name for mark, name in _MARKS if head.startswith(mark)), "latin-1")
    return not head.decode(name, errors="ignore").strip(
        "\ufeff\ufffe \t\r\n" + ("\0" if name != "latin-1" else "")
    )


def looks_binary(head: bytes) -> bool:
    """Whether bytes are not text in any encoding: NULs (unless UTF-16 or -32), or more than 5%
    other control bytes.
    """
    if any(head.startswith(mark) for mark, _ in _MARKS) or _without_mark(head) is not None:
        return False
    strange = sum(1 for b in head if b < 32 and b not in _TEXT_CONTROLS)
    return b"\0" in head or strange > len(head) / 20


def _without_mark(data: bytes) -> str | None:
    """UTF-16 written without a byte-order mark: its ASCII characters have a NUL, nearly always on
    the same side.
    """
    head = data[: 1 << 16]
    if len(head) < 8 or len(data) % 2 or head.count(0) < 3:
        return None
    first, second = head[0::2].count(0), head[1::2].count(0)
    name = "utf-16-le" if second > first else "utf-16-be"
    if max(first, second) < len(head) * 0.025 or min(first, second) * 5 > max(first, second):
        return None
    text = head.decode(name, errors="replace")
    return name if "\n" in text or b"\n" not in head else None


def _detected(sample: bytes, longer: bytes) -> str:
    if between_latin_letters(sample) and max(p.explained for p in latin_pages(longer)) > EXPLAINED:
        return _latin_page(longer)  # a detector takes accented letters for characters of two bytes
    if (page := _east_asian(sample)) is not None:
        return page
    if is_thai(sample):
        return THAI
    from charset_normalizer import from_bytes  # only when it is not UTF-8

    best = from_bytes(sample).best()
    if best is None:
        return "cp1252"
    odd = [c for c in str(best) if c.isalpha() and c > "\x7f" and c not in "ªº"]
    latin = sum(1 for c in odd if unicodedata.name(c, "").startswith("LATIN"))
    return best.encoding if latin < len(odd) / 2 else _latin_page(longer)


def _east_asian(sample: bytes) -> str | None:
    """The page of two bytes under which the characters are usual ones; a detector takes Japanese
    for rare Korean, and Korean beside Latin names for cp1252.
    """
    shares = {}
    lines = sample[: sample.rfind(b"\n") + 1] or sample
    for page, usual in packaged.toml("claimlab.files", "alphabets.toml")["usual"].items():
        try:
            odd = [c for c in lines.decode(page) if c > "\x7f"]
        except UnicodeDecodeError:
            continue
        shares[page] = sum(c in usual for c in odd) / max(1, len(odd))
    best = max(shares, key=lambda page: shares[page], default=None)
    return best if best is not None and shares[best] >= _LEAST_USUAL else None


def _latin_page(data: bytes) -> str:
    """The code page under which the accented letters are those of one language; a few foreign names
    in an English text say little, so that another page than cp1252 must explain clearly more of
    them."""
    scores = {page.name: page.explained for page in latin_pages(data)}
    if any(0x7F < byte < 0xA0 for byte in set(data)):
        del scores[
            "iso8859-2"
        ]  # it has no character there, where the others have quotes, dashes and some letters
    best = max(scores, key=lambda page: scores[page])
    if best == "cp1250" and scores.get("iso8859-2") == scores[best]:
        return (  # cp1250 has its commonest letters (š, ž, ś) where ISO 8859-2 has none at all
            "iso8859-2"
        )
    return best if scores[best] > CLEAR_RATIO * scores["cp1252"] else "cp1252"


def _around_trouble(data: bytes) -> bytes:
    """A sample that contains the first byte that is not UTF-8: a detector needs to see it, not the
    ASCII before it.
    """
    try:
        data.decode("utf-8")
        return data[:SAMPLE_BYTES]
    except UnicodeDecodeError as error:
        start = max(0, error.start - SAMPLE_BYTES // 4)
        return data[start : start + SAMPLE_BYTES]
