"""The marks of a delimited file: quotes, delimiters and line ends, inside and outside quotes.

A fast CSV reader fills a short row with nulls and never says so. Counting delimiters outside quotes
tells, for a fraction of the reading time, whether every row has its cells, how many rows there must
be, and whether every quote opens or closes a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

PIECE = 1 << 20  # bytes: small enough that what is made of a piece stays in the processor's cache


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
