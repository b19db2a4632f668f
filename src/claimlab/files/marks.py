"""The marks of a delimited file: quotes, delimiters and line ends, inside and outside quotes.

A fast CSV reader fills a short row with nulls and never says so. Counting delimiters outside quotes
tells, for a fraction of the reading time, whether every row has its cells, how many rows there must
be, and whether every quote opens or closes a cell. The loop is C (_marks.c); where it was not
built, `slow_count` does the same in Python: many times slower, same result.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Literal

# doubled inside a cell | preceded by a backslash | part of the text
Quotes = Literal["double", "escape", "none"]

# bytes: small enough that what is made of a piece stays in the processor's cache
PIECE_BYTES = 1 << 20
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
    "newlines_outside",
    "blank_outside",
    "returns",
    "pairs",
    "inside",
    "pending",
    "row",
    "last",
    "kind",
]
_START, _CLOSING, _RETURN, _RETURN_AFTER_CLOSING, _OTHER = range(5)  # the kinds of marks


@dataclass
class FileMarks:
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


_COUNTED = {each.name for each in fields(FileMarks)}


def count_marks(pieces: Iterable[bytes], delimiter: str) -> FileMarks:
    """The marks of a file given in pieces."""
    try:
        from claimlab.files._marks import count
    except ImportError:
        count = slow_count
    return counted_by(count, pieces, delimiter)


def counted_by(
    count: Callable[[bytes, int, array[int]], None], pieces: Iterable[bytes], delimiter: str
) -> FileMarks:
    """The marks as one of the two loops counts them."""
    state = array("q", (-1 if name in ("nul", "fewest", "last") else 0 for name in _STATE))
    last_byte = b""
    for piece in pieces:
        count(piece, ord(delimiter), state)
        last_byte = piece[-1:]
    return _marks(dict(zip(_STATE, state, strict=True)), last_byte)


def _marks(s: dict[str, int], last_byte: bytes) -> FileMarks:
    """What the state comes to at the end of the file, where the last row may lack its line end."""
    counted = {name: None if n < 0 else n for name, n in s.items() if name in _COUNTED}
    marks = FileMarks(**counted, ends_with_newline=last_byte == b"\n")  # type: ignore[arg-type]
    cut = last_byte == b"\r"  # half a line end
    closed = s["kind"] in (_CLOSING, _RETURN_AFTER_CLOSING)  # a cell, and something is behind it
    wrong = s["wrong"] or (closed and s["last"] != s["size"] - 1)
    marks.well_formed = not wrong and not s["inside"] and not cut
    if marks.size and not marks.ends_with_newline and not s["inside"]:
        if cut and s["row"] == s["size"] - 1:
            marks.blank_outside += 1
        else:
            marks.fewest = min(s["pending"], s["pending"] if marks.fewest is None else marks.fewest)
            marks.most = max(marks.most, s["pending"])
    return marks


def slow_count(data: bytes, delimiter: int, state: array[int]) -> None:
    """Add the marks of a piece to `state`, as the compiled loop does: change the two together."""
    s = SimpleNamespace(**dict(zip(_STATE, state, strict=True)))
    mark = bytes([delimiter])
    for match in re.finditer(rb'[\0\r\n"' + re.escape(mark) + rb"]", data):
        _mark(s, match[0], mark, s.size + match.start())
    s.size += len(data)
    state[:] = array("q", (getattr(s, name) for name in _STATE))


def _mark(s: SimpleNamespace, byte: bytes, delimiter: bytes, at: int) -> None:
    following = at == s.last + 1  # this mark is right after the last one
    before = s.kind if following else _OTHER
    s.wrong |= _is_wrong(s.kind, byte if following else b"")
    s.last, s.kind = at, _OTHER
    if byte == delimiter:
        s.delimiters += 1
        s.pending += not s.inside
        s.kind = _START
    elif byte == b'"':
        s.quotes += 1
        s.wrong |= not s.inside and before not in (_START, _CLOSING)
        s.kind = _CLOSING if s.inside else _OTHER
        s.inside ^= 1
    elif byte == b"\n":
        after_return = before in (_RETURN, _RETURN_AFTER_CLOSING)
        s.newlines += 1
        s.pairs += after_return
        s.kind = _START
        if not s.inside:
            _end_row(s, at, at - after_return)
    elif byte == b"\r":
        s.returns += 1
        s.kind = _RETURN_AFTER_CLOSING if before == _CLOSING else _RETURN
    elif s.nul < 0:
        s.nul = at


def _is_wrong(kind: int, byte: bytes) -> bool:
    """Whether a cell was closed and this, what comes right behind, does not end it."""
    if kind == _CLOSING:
        return byte in (b"", b"\0")
    return kind == _RETURN_AFTER_CLOSING and byte != b"\n"


def _end_row(s: SimpleNamespace, at: int, end: int) -> None:
    """The row ends at this place, its text at `end`."""
    s.newlines_outside += 1
    if end == s.row:
        s.blank_outside += 1
    else:
        s.fewest = s.pending if s.fewest < 0 else min(s.fewest, s.pending)
        s.most = max(s.most, s.pending)
    s.pending, s.row = 0, at + 1
