"""From bytes to text: UTF-8 first, marks and UTF-16 honoured, then the best guess of a detector."""

from __future__ import annotations

import codecs

from claimlab.core.errors import UnreadableFile

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def sniff_encoding(data: bytes) -> str:
    """The encoding of `data`: its byte-order mark, UTF-8 if it decodes, else a detector's guess, else cp1252."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        pass
    from charset_normalizer import from_bytes  # only when it is not UTF-8

    best = from_bytes(_around_trouble(data)).best()
    guess = best.encoding if best is not None else "cp1252"
    try:
        data.decode(guess)
        return guess
    except (UnicodeDecodeError, LookupError):
        return "cp1252"


def decode(data: bytes, name: str, encoding: str | None = None) -> str:
    """`data` as text; bytes that the encoding cannot hold raise a sentence rather than vanish."""
    chosen = encoding or sniff_encoding(data)
    try:
        return data.decode(chosen)
    except UnicodeDecodeError as error:
        if encoding is None and chosen == "cp1252":
            return data.decode("latin-1")  # cp1252 leaves five bytes undefined; latin-1 keeps them
        raise UnreadableFile(
            f"'{name}' is not {chosen} text (byte {error.start}).", "Name its encoding with --encoding."
        ) from None
    except LookupError:
        raise UnreadableFile(
            f"'{chosen}' is not an encoding Python knows.", "Use a name such as utf-8 or cp1252."
        ) from None


def _around_trouble(data: bytes, width: int = 1 << 16) -> bytes:
    """A sample that contains the first byte that is not UTF-8: a detector needs to see it, not the ASCII before it."""
    try:
        data.decode("utf-8")
        return data[:width]
    except UnicodeDecodeError as error:
        start = max(0, error.start - width // 4)
        return data[start : start + width]
