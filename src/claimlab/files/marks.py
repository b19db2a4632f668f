"""The marks of a delimited file: quotes, delimiters and line ends, inside and outside quotes.

A fast CSV reader fills a short row with nulls and never says so. Counting delimiters outside quotes
tells, for a fraction of the reading time, whether every row has its cells, how many rows there must
be, and whether every quote opens or closes a cell. The loop is C (_marks.c); where it was not
built, NumPy counts: several times slower, same result. It looks at 64 bytes together: one bit per
byte, and "inside quotes" is the running exclusive-or of the quote bits.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# doubled inside a cell | preceded by a backslash | part of the text
Quotes = Literal["double", "escape", "none"]
Words = NDArray[np.uint64]

_ONE, _TOP = np.uint64(1), np.uint64(63)
_BITS = np.array([bin(i).count("1") for i in range(256)], dtype=np.uint8)
PIECE = 1 << 20  # bytes: small enough that what is made of a piece stays in the processor's cache
# The state of _marks.c, in its order.
_STATE = [
    "size",
    "nul",
    "quotes",
    "wrong",
    "delimiters",
    "fewest",
    "most",
    "newlines",
    "outside",
    "blank",
    "returns",
    "pairs",
    "inside",
    "pending",
    "row",
    "last",
    "kind",
]
_CLOSING = 1  # the kind of mark that a quote is which closes a cell


@dataclass
class Marks:
    """`well_formed`: every quote opens a cell, closes one, or is doubled inside one (RFC 4180)."""

    size: int = 0
    nul: int | None = None  # offset of the first NUL byte
    quotes: int = 0
    well_formed: bool = True
    delimiters: int = 0
    fewest: int | None = (
        None  # delimiters outside quotes in the row that has the fewest, and the most, of them;
    )
    most: int = 0  # blank lines do not count
    newlines: int = 0
    newlines_outside: int = 0
    blank_outside: int = 0  # lines without a single character
    returns: int = 0  # carriage returns, those of CRLF included
    pairs: int = 0  # CRLF
    ends_with_newline: bool = False

    def rows(self, *, quoted: bool) -> int:
        """Rows, blank lines included."""
        ends = self.newlines_outside if quoted else self.newlines
        return ends + (0 if self.ends_with_newline or not self.size else 1)

    def note(self, fewest: int, most: int) -> None:
        """Delimiters of rows that have just ended."""
        self.fewest = fewest if self.fewest is None else min(self.fewest, fewest)
        self.most = max(self.most, most)


def count_marks(pieces: Iterable[bytes], delimiter: str) -> Marks:
    """The marks of a file given in pieces (each but the last a multiple of 64 bytes long)."""
    try:
        from claimlab.files._marks import count
    except ImportError:
        return slow_count(pieces, delimiter)
    state = array("q", (-1 if name in ("nul", "fewest", "last") else 0 for name in _STATE))
    last_byte = b""
    for piece in pieces:
        count(piece, ord(delimiter), state)
        last_byte = piece[-1:]
    return _marks(dict(zip(_STATE, state, strict=True)), last_byte)


def _marks(s: dict[str, int], last_byte: bytes) -> Marks:
    """What the state comes to at the end of the file, where the last row may lack its line end."""
    marks = Marks(
        size=s["size"],
        nul=s["nul"] if s["nul"] >= 0 else None,
        quotes=s["quotes"],
        delimiters=s["delimiters"],
        fewest=s["fewest"] if s["fewest"] >= 0 else None,
        most=s["most"],
        newlines=s["newlines"],
        newlines_outside=s["outside"],
        blank_outside=s["blank"],
        returns=s["returns"],
        pairs=s["pairs"],
        ends_with_newline=last_byte == b"\n",
    )
    cut = last_byte == b"\r"  # half a line end
    if s["kind"] == _CLOSING and s["last"] != s["size"] - 1:
        s["wrong"] = 1
    marks.well_formed = not s["wrong"] and not s["inside"] and not cut
    if marks.size and not marks.ends_with_newline and not s["inside"]:
        if cut and s["row"] == s["size"] - 1:
            marks.blank_outside += 1
        else:
            marks.note(s["pending"], s["pending"])
    return marks


def slow_count(pieces: Iterable[bytes], delimiter: str) -> Marks:
    """The marks of a file given in pieces (each but the last a multiple of 64 bytes long)."""
    marks = Marks()
    scan = _Scan(ord(delimiter))
    cut = False  # ends in half a line end
    for piece in pieces:
        if marks.nul is None and (at := piece.find(b"\0")) >= 0:
            marks.nul = marks.size + at
        marks.size += len(piece)
        marks.ends_with_newline = piece.endswith(b"\n")
        padding = -len(piece) % 64
        scan.piece(piece + b"\n" * padding, marks)
        marks.newlines -= padding
        if padding:
            scan.forget_padding(marks, padding)
        cut = piece.endswith(b"\r")
        marks.pairs -= cut and padding > 0
    if (
        marks.size and marks.size % 64 == 0 and not marks.ends_with_newline
    ):  # the last row ends here too
        scan.piece(b"\n" * 64, marks)
        marks.newlines -= 64
        scan.forget_padding(marks, 64)
        marks.pairs -= cut
    marks.well_formed &= not scan.inside and not cut
    return marks


class _Scan:
    """The state that one piece hands to the next."""

    def __init__(self, delimiter: int) -> None:
        self.delimiter = delimiter
        self.inside = 0  # 1 when a quote is open
        self.after_close = 0  # the byte before closed a quote
        self.after_start = 1  # the byte before was a delimiter, a line end or nothing
        self.after_end = 1  # the byte before was a line end outside quotes, or nothing
        self.after_bare = 0  # the byte before was a return right after a line end
        self.after_back = 0  # the byte before was a return
        self.after_return = 0  # the byte before was a return right after a closing quote
        self.pending = 0  # delimiters outside quotes since the last row ended

    def piece(self, data: bytes, marks: Marks) -> None:
        raw = np.frombuffer(data, dtype=np.uint8)
        delimiter, newline = _bits(raw, self.delimiter), _bits(raw, 10)
        quote = _bits(raw, 34) if b'"' in data else np.zeros_like(newline)
        back = _bits(raw, 13) if b"\r" in data else np.zeros_like(newline)
        within = self._inside(quote)
        ends = newline & ~within
        marks.quotes += _count(quote)
        marks.delimiters += _count(delimiter)
        marks.newlines += _count(newline)
        marks.returns += _count(back)
        after_back, self.after_back = _after(back, self.after_back)
        marks.pairs += _count(newline & after_back)
        marks.newlines_outside += _count(ends)
        marks.well_formed &= self._formed(quote, within, delimiter, newline, back)
        blank = self._blank(ends, back)
        marks.blank_outside += _count(blank)
        self._rows(delimiter & ~within, np.flatnonzero(raw == 10), ends, blank, marks)

    def forget_padding(self, marks: Marks, padding: int) -> None:
        """Take back the line ends that filled the last word: all but one of them also look like
        blank lines.
        """
        if self.inside:
            return  # the padding was read as the inside of a quote that never closes
        marks.newlines_outside -= padding
        marks.blank_outside -= padding if marks.ends_with_newline or not marks.size else padding - 1

    def _inside(self, quote: Words) -> Words:
        """A bit for every byte from an opening quote up to the byte before its closing quote."""
        run = quote.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            run ^= run << np.uint64(shift)
        odd = run >> _TOP
        through = np.bitwise_xor.accumulate(odd) ^ np.uint64(self.inside)
        before = np.empty_like(through)
        before[0], before[1:] = self.inside, through[:-1]
        self.inside = int(through[-1])
        return run ^ (np.uint64(0) - before)

    def _formed(
        self, quote: Words, within: Words, delimiter: Words, newline: Words, back: Words
    ) -> bool:
        opening, closing = quote & within, quote & ~within
        starts, self.after_start = _after(delimiter | newline, self.after_start)
        closed, self.after_close = _after(closing, self.after_close)
        returned, self.after_return = _after(back & closed, self.after_return)
        wrong = (
            (opening & ~(starts | closed))
            | (closed & ~(delimiter | newline | quote | back))
            | (returned & ~newline)
        )
        return not wrong.any()

    def _blank(self, ends: Words, back: Words) -> Words:
        """The line ends of lines without a character."""
        after_end, self.after_end = _after(ends, self.after_end)
        after_bare, self.after_bare = _after(back & after_end, self.after_bare)
        return ends & (after_end | after_bare)

    def _rows(
        self, delimiter: Words, at: NDArray[np.intp], ends: Words, blank: Words, marks: Marks
    ) -> None:
        """Count the delimiters of every row that ends in this piece; `at` are the places of its
        newlines.
        """
        word, bit = at >> 6, (at & 63).astype(np.uint64)
        ending = (ends[word] >> bit) & _ONE == 1
        word, bit = word[ending], bit[ending]
        each = _each(delimiter)
        before = np.concatenate(([0], np.cumsum(each)))
        up_to = before[word] + _each(delimiter[word] & ((_ONE << bit) - _ONE))
        per_row = np.diff(up_to, prepend=-self.pending)
        if len(up_to):
            counted = per_row[(blank[word] >> bit) & _ONE == 0]
            if len(counted):
                marks.note(int(counted.min()), int(counted.max()))
            self.pending = int(before[-1] - up_to[-1])
        else:
            self.pending += int(before[-1])


def _bits(raw: NDArray[np.uint8], byte: int) -> Words:
    return np.packbits(raw == byte, bitorder="little").view(np.uint64)


def _after(words: Words, carry: int) -> tuple[Words, int]:
    """The same bits one byte later, and the bit that belongs to the next piece."""
    out = words << _ONE
    out[0] |= np.uint64(carry)
    out[1:] |= words[:-1] >> _TOP
    return out, int(words[-1] >> _TOP)


def _count(words: Words) -> int:
    return int(_each(words).sum())


def _each(words: Words) -> NDArray[np.int64]:
    """How many bits are set in each word."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.bitwise_count(words).astype(np.int64)
    each: NDArray[np.int64] = _BITS[words.view(np.uint8)].reshape(-1, 8).sum(axis=1, dtype=np.int64)
    return each
