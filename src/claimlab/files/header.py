"""Which rows come before the first record of a table, and what names its columns: a header is told
from records by what the columns hold below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from claimlab.files.sniff import REGULAR_SHARE, commonest_width, shape_of, usual_shape

BODY_ROWS = 200  # of these, to see what a column holds below its header
HEAD_ROWS = 5  # of a header at most
LEAST_BODY = 10  # records to compare them with
PROSE_WORDS = 5  # of a text
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_LINK = re.compile(r"https?://")


@dataclass(frozen=True)
class Head:
    """The rows before the first record, and the names of the columns; null where none names
    them.
    """

    rows: int
    names: list[str] | None


def head_of(rows: Sequence[Sequence[str]], usual_names: frozenset[str]) -> Head:
    """The header of a table. `known` holds usual column names, lower case.

    Spreadsheets have several rows of it: a title, a name over a group of columns, the names, units
    or questions. They are told from records by what the columns hold below: words over numbers, a
    word over labels that is none of them, a gap in a column that has none.
    """
    body = rows[HEAD_ROWS : HEAD_ROWS + BODY_ROWS]
    columns = [_Column.of(number, body) for number in range(commonest_width(rows))]
    count = 0
    if len(rows) >= HEAD_ROWS + LEAST_BODY:
        top = rows[:HEAD_ROWS]
        count = next((n for n, row in enumerate(top) if not _is_above(row, columns)), 0)
    if count > 1:
        return Head(count, _best_names(rows[:count], usual_names))
    if has_header(rows, usual_names):
        return Head(1, list(rows[0]))
    bare = count == 1 and sum(bool(cell.strip()) for cell in rows[0]) * 2 <= len(columns)
    return Head(1 if bare else 0, None)


@dataclass(frozen=True)
class _Column:
    """What the cells of a column look like below the header."""

    filled: bool  # whether hardly any is empty
    numbers: bool = False
    labels: frozenset[str] = frozenset()  # all values, where there are few
    shape: str | None = None  # of identifiers and dates
    prose: bool = False

    @classmethod
    def of(cls, number: int, body: Sequence[Sequence[str]]) -> _Column:
        cells = _below(number, body)
        filled = len(cells) >= REGULAR_SHARE * len(body)
        if len(cells) < LEAST_BODY:
            return cls(filled)
        values = frozenset(cells)
        shape = usual_shape(cells)
        return cls(
            filled,
            numbers=all(map(_NUMBER.fullmatch, cells)),
            labels=values if len(values) * 4 <= len(cells) else frozenset(),
            shape=shape if shape is not None and "9" in shape else None,
            prose=sorted(len(cell.split()) for cell in cells)[len(cells) // 2] >= PROSE_WORDS,
        )

    def speaks(self, cell: str) -> int:
        """Whether a cell is unlike those below (1), or like them (-1); 0 where it may be either."""
        if not cell:
            return int(self.filled)
        if self.numbers:
            return -1 if _NUMBER.fullmatch(cell) else 1
        if self.labels:
            return -1 if cell in self.labels else 1
        if self.shape is not None:
            return -1 if shape_of(cell) == self.shape else 1
        return int(self.prose and len(cell.split()) < PROSE_WORDS - 1)


def _is_above(row: Sequence[str], columns: Sequence[_Column]) -> bool:
    """Whether a row is no record: several of its cells are unlike those below, and none is like
    them.
    """
    cells = [cell.strip() for cell in row] + [""] * (len(columns) - len(row))
    votes = [column.speaks(cell) for column, cell in zip(columns, cells, strict=False)]
    return -1 not in votes and sum(votes) >= min(2, len(columns))


def _name_counts(row: Sequence[str], usual_names: frozenset[str]) -> tuple[int, int]:
    """How many cells are usual names of columns, and how many could be names."""
    words = {cell.strip() for cell in row if cell.strip()}
    names = [word for word in words if _name_like(word)]
    return sum(word.lower() in usual_names for word in names), len(names)


def _name_like(cell: str) -> bool:
    return len(cell) <= 60 and not _value_like(cell)


def _best_names(rows: Sequence[Sequence[str]], usual_names: frozenset[str]) -> list[str]:
    """The row that names the columns best, and over names that come back the name of their
    group.
    """
    best = max(range(len(rows)), key=lambda number: _name_counts(rows[number], usual_names))
    names = [cell.strip() for cell in rows[best]]
    above = [cell.strip() for cell in rows[best - 1]] if best else []
    if len(set(filter(None, names))) == len(list(filter(None, names))) or len(above) != len(names):
        return names
    groups = list(accumulate(above, _or_before))
    return [
        f"{group} {name}" if group and names.count(name) > 1 else name
        for group, name in zip(groups, names, strict=True)
    ]


def _or_before(before: str, cell: str) -> str:
    return cell or before


def has_header(rows: Sequence[Sequence[str]], usual_names: frozenset[str]) -> bool:
    """Whether the first row names columns. `known` holds usual column names, lower case.

    Names are short, all different (or several are usual ones), no numbers and no links, and do not
    come back as values below; where none of that speaks against it, a first row is taken as a
    header, as most files have one.
    """
    first = (cell.strip().lstrip("\ufeff").strip() for cell in rows[0])
    named = {column: cell for column, cell in enumerate(first) if cell}
    words = list(named.values())
    usual = len(usual_names.intersection(map(str.lower, words)))
    different = usual > 1 or len(set(words)) == len(words)
    if not words or not different or len(words) < _filled(rows) - 1:
        return False
    body = rows[1:]
    if any(_over_numbers(column, cell, body) for column, cell in named.items()):
        return True
    if not all(map(_name_like, words)):
        return False
    if max(map(len, rows)) == 1:
        return usual == 1
    again = (_comes_back(column, cell, body) for column, cell in named.items())
    return usual >= min(2, len(words)) or not any(again)


def _filled(rows: Sequence[Sequence[str]]) -> int:
    """How many columns of the first row hold anything."""
    return sum(any("".join(row[n : n + 1]).strip() for row in rows) for n in range(len(rows[0])))


def _below(column: int, body: Sequence[Sequence[str]]) -> list[str]:
    """The cells of a column that hold anything."""
    return [row[column].strip() for row in body if len(row) > column and row[column].strip()]


def _comes_back(column: int, cell: str, body: Sequence[Sequence[str]]) -> bool:
    """Whether a first cell is one of the values below it, or looks just like them: prose over
    prose.
    """
    values = _below(column, body)
    if cell in values:
        return True
    words = sorted(len(v.split()) for v in values)
    return len(words) >= 3 and len(cell.split()) >= 4 and words[len(words) // 2] >= 4


def _over_numbers(column: int, cell: str, body: Sequence[Sequence[str]]) -> bool:
    """Whether words are written over a column of nothing but numbers, dates or links."""
    values = _below(column, body)
    if len(values) < 3 or not any(map(str.isalpha, cell)):
        return False
    if all(map(_NUMBER.fullmatch, values)):
        return True
    words = not any(map(str.isdigit, cell)) and "://" not in cell
    return words and all(v[0].isdigit() or _LINK.match(v) for v in values)


def _value_like(cell: str) -> bool:
    number = re.fullmatch(r"[\d\s.,:/+-]+", cell)
    return (
        bool(number or re.search(r"://|\d{5}", cell))
        or cell[0] in "{[<"
        or cell.endswith((".json", ".txt", ".jpg"))
    )
