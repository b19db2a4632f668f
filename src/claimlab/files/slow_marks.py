"""The count of marks with NumPy, where the compiled loop was not built: several times slower, same
result.

64 bytes are looked at together: one bit per byte, and "inside quotes" is the running exclusive-or
of the quote bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claimlab.files.marks import Marks

Words = NDArray[np.uint64]

_ONE, _TOP = np.uint64(1), np.uint64(63)
_BITS = np.array([bin(i).count("1") for i in range(256)], dtype=np.uint8)


def count(pieces: Iterable[bytes], delimiter: str) -> Marks:
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
    packed: Any = np.packbits(raw == byte, bitorder="little")
    return packed.view(np.uint64)  # type: ignore[no-any-return]


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
    bytes_of: Any = _BITS[words.view(np.uint8)]
    return bytes_of.reshape(-1, 8).sum(axis=1, dtype=np.int64)  # type: ignore[no-any-return]
