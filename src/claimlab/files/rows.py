"""Rows of a delimited file, one by one. The reader is strict: a quote that opens a cell must close
it before a delimiter or line end. A row that breaks this is refused alone, and reading goes on with
the line after the one it began on, so that one stray quote does not swallow the rest.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from claimlab.files.source import opened

if TYPE_CHECKING:
    from claimlab.files.marks import Quotes
    from claimlab.files.raw import Refused

LINES_PER_CELL = 10_000  # lines in one cell; a quote open for longer was never meant as one
# replaces a return inside a line, which Python's reader refuses; cannot occur in UTF-8
BARE_RETURN = "\udc0d"
RAGGED = "wrong number of columns"
UNCLOSED = "a quote that opens a cell is not closed before a delimiter or line end"


class DelimitedRow(NamedTuple):
    line: int
    cells: list[str] | None  # null: refused; none at all: a blank line


def text_lines(source: Path | bytes) -> Iterator[str]:
    """Lines with their ends; only \\n ends a line, so that U+2028 and its like stay inside
    texts.
    """
    with opened(source) as raw:
        yield from io.TextIOWrapper(raw, encoding="utf-8-sig", newline="\n")


def read_rows(
    lines: Iterable[str], delimiter: str | None, quotes: Quotes
) -> Iterator[DelimitedRow]:
    """Every row, blank lines included."""
    if delimiter is None or quotes == "none":
        for number, line in enumerate(lines, 1):
            bare = line.rstrip("\n").removesuffix("\r")
            cells = [bare] if delimiter is None else bare.split(delimiter)
            yield DelimitedRow(number, cells if bare else [])
        return
    yield from _quoted_rows(_Feed(lines), delimiter, "\\" if quotes == "escape" else None)


def count_refused(
    lines: Iterable[str], delimiter: str, quotes: Quotes, width: int, enough: int | None = None
) -> int:
    """How many rows a reading would refuse; counting stops at `enough`."""
    refused = 0
    for row in read_rows(lines, delimiter, quotes):
        refused += row.cells is None or (len(row.cells) != width and not is_blank(row.cells, width))
        if enough is not None and refused >= enough:
            break
    return refused


def is_blank(cells: list[str], width: int) -> bool:
    """An empty line, or only whitespace where several cells should be."""
    return not cells or (width > 1 and len(cells) == 1 and not cells[0].strip())


def take(row: DelimitedRow, width: int, refused: Refused) -> list[str] | None:
    """The cells of a row that has as many as it should; otherwise it is refused, with its line."""
    if row.cells is None:
        refused.add(row.line, UNCLOSED)
        return None
    if len(row.cells) != width:
        cells = "1 cell" if len(row.cells) == 1 else f"{len(row.cells)} cells"
        refused.add(row.line, RAGGED, f"{cells} instead of {width}")
        return None
    return row.cells


class _Feed:
    """Lines for Python's reader, with the lines of the row in progress kept, so that they can be
    given again.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.source = iter(lines)
        self.again: deque[str] = deque()
        self.current: list[str] = []
        self.number = 0
        self.shielded = False  # whether the current row has a replaced character

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if len(self.current) > LINES_PER_CELL:
            raise csv.Error("too long")
        if self.again:
            line = self.again.popleft()
            self.shielded |= BARE_RETURN in line
        else:
            line = next(self.source)
            if "\r" in line and line.find("\r") != len(line.removesuffix("\r\n")):
                line = _shielded(line)
                self.shielded = True
        self.current.append(line)
        self.number += 1
        return line

    def back_to_second_line(self) -> None:
        self.again.extendleft(reversed(self.current[1:]))
        self.number -= len(self.current) - 1


def _quoted_rows(feed: _Feed, delimiter: str, escape: str | None) -> Iterator[DelimitedRow]:
    reader = csv.reader(feed, delimiter=delimiter, escapechar=escape, strict=True)
    while True:
        feed.current.clear()
        feed.shielded = False
        start = feed.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            feed.back_to_second_line()
            yield DelimitedRow(start, None)
            continue
        yield DelimitedRow(
            start, [c.replace(BARE_RETURN, "\r") for c in cells] if feed.shielded else cells
        )


def _shielded(line: str) -> str:
    end = "\r\n" if line.endswith("\r\n") else ""
    return line.removesuffix(end).replace("\r", BARE_RETURN) + end
