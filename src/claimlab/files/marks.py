"""The marks of a delimited file: quotes, delimiters and line ends, inside and outside quotes.

A fast CSV reader fills a short row with nulls and never says so. Counting delimiters outside quotes
tells, for a fraction of the reading time, whether every row has its cells, how many rows there must
be, and whether every quote opens or closes a cell. The loop is C (_marks.c); where it was not
built, NumPy counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

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
        from claimlab.files.slow_marks import count as slow_count

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
