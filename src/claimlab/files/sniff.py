"""Find out how a delimited file is laid out: its delimiter, whether quotes are syntax or text,
whether it has a header.

The delimiter and the header are read off the first megabyte. Whether quotes are syntax is decided
on the whole file, because the few decisive rows may be anywhere: LIAR's quotes are text, and
reading them as syntax loses 45 of 12,836 rows. Each reading is judged by the rows it would refuse.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

from claimlab.files.marks import Marks, Quotes

SAMPLE = 1 << 20
ROWS = 1_000  # rows of the sample that are looked at
BODY_ROWS = 200  # of these, to see what a column holds below its header
ABOVE, LEAST = 20, 5  # lines that may come before a table, and lines that it must have
REGULAR = 0.95  # of its rows that must have the same number of cells
HEAD_ROWS, LEAST_BODY = 5, 10  # rows of a header at most, and records to compare them with
PROSE = 5  # words of a text
CANDIDATES = ",\t;|"
LABEL = "__label__"  # before a label in the files of fastText
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_PAIR = re.compile(
    r"[A-Za-z][\w-]{0,29}:\w{5,40}"
)  # a word and an id, such as false:498430783699554305
_FIRST = {".tsv": "\t", ".tab": "\t", ".psv": "|"}


def sniff_delimiter(sample: str, suffix: str) -> str | None:
    """The delimiter that cuts the most rows into as many cells as the first row; null when nothing
    does.
    """
    first = _FIRST.get(suffix, ",")
    best: tuple[float, bool, int] | None = None
    chosen = None
    for delimiter in sorted(CANDIDATES, key=lambda d: d != first):
        share, width = _agreed(sample, delimiter)
        if width < 2:
            continue
        score = (round(share, 2), delimiter == first, width)
        if best is None or score > best:
            best, chosen = score, delimiter
    if chosen is None and all(_PAIR.fullmatch(line) for line in sample.splitlines() if line):
        return ":"
    return chosen


def lines_above(sample: str, suffix: str) -> int:
    """How many lines come before the table: a title, or remarks, with fewer cells than every
    row.
    """
    delimiter = sniff_delimiter(sample, suffix)
    if delimiter is not None and agrees(sample, delimiter) >= REGULAR:
        return 0
    lines = sample.split("\n")
    for above in range(1, min(ABOVE, len(lines) - LEAST) + 1):
        rest = "\n".join(lines[above:])
        delimiter = sniff_delimiter(rest, suffix)
        if delimiter is None or not lines[above].strip() or agrees(rest, delimiter) < REGULAR:
            continue
        fewer = all(
            line.count(delimiter) + 1 < usual_width(rest, delimiter) for line in lines[:above]
        )
        return above if fewer else 0
    return 0


def agrees(sample: str, delimiter: str) -> float:
    """The share of the sample's rows that have as many cells as its first row."""
    return _agreed(sample, delimiter)[0]


def usual_width(sample: str, delimiter: str) -> int:
    """How many cells a row has, by the reading that most rows agree on."""
    return _agreed(sample, delimiter)[1]


def _agreed(sample: str, delimiter: str) -> tuple[float, int]:
    """Both, by the reading of quotes that more rows agree on."""
    return max(_agreement(_widths(sample, delimiter, quoted=q)) for q in (True, False))


def commonest_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def sample_rows(sample: str, delimiter: str | None, quotes: Quotes) -> list[list[str]]:
    """The first rows, as lenient as Python's reader is."""
    if delimiter is None:
        return [[line] for line in _lines(sample) if line.strip()][:ROWS]
    if quotes == "none":
        return [line.split(delimiter) for line in _lines(sample) if line][:ROWS]
    escape = "\\" if quotes == "escape" else None
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, escapechar=escape)
    rows = [row for row, _ in zip(_forgiving(reader), range(ROWS), strict=False) if row]
    return rows or [[""]]


def suspicious(marks: Marks, width: int) -> bool:
    """Whether quotes as syntax must be doubted: a quote that neither opens nor closes a cell, or a
    cell that spans lines each of which would be a whole row (two stray quotes that happen to pair
    up swallow the rows between them).
    """
    if not marks.quotes:
        return False
    spans = marks.newlines > marks.newlines_outside
    regular = marks.delimiters == (marks.newlines + (0 if marks.ends_with_newline else 1)) * (
        width - 1
    )
    return not marks.well_formed or (spans and regular and width > 2)


def spans_are_cells(sample: str, delimiter: str) -> bool:
    """Whether the lines of cells that span lines would make strange rows, so that their quotes must
    be syntax.

    By count alone a cell with a line break and as many delimiters as a row cannot be told from two
    rows with stray quotes. What tells is the look of the other columns: an identifier, a verdict or
    a date has one shape all over the file, and the pieces of a text have another.
    """
    rows, spanning = [], []
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    lines, before = io.StringIO(sample, newline="").readlines(), 0
    for row, _ in zip(_forgiving(reader), range(ROWS), strict=False):
        if reader.line_num - before > 1:
            spanning += [
                line.rstrip("\r\n").split(delimiter) for line in lines[before : reader.line_num]
            ]
        rows.append(row)
        before = reader.line_num
    shapes = [_usual_shape(column) for column in zip(*rows[1:], strict=False)]
    regular = [i for i, shape in enumerate(shapes) if shape is not None]
    cells = [(row[i], shapes[i]) for row in spanning for i in regular if i < len(row)]
    return bool(cells) and sum(_shape(cell) == shape for cell, shape in cells) < 0.8 * len(cells)


def _usual_shape(cells: Sequence[str]) -> str | None:
    """The shape that nearly all cells of a column have, if there is one."""
    shape, count = Counter(map(_shape, cells)).most_common(1)[0]
    return shape if count >= 0.9 * len(cells) else None


def _shape(cell: str) -> str:
    """ "id7" is "a9", "2020-01-02" is "9-9-9": runs of letters and of digits, whatever their
    length.
    """
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", cell))


@dataclass(frozen=True)
class Head:
    """The rows before the first record, and the names of the columns; null where none names
    them.
    """

    rows: int
    names: list[str] | None


def head_of(rows: Sequence[Sequence[str]], known: frozenset[str]) -> Head:
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
        return Head(count, _best_names(rows[:count], known))
    if has_header(rows, known):
        return Head(1, list(rows[0]))
    bare = count == 1 and sum(bool(cell.strip()) for cell in rows[0]) * 2 <= len(columns)
    return Head(1 if bare else 0, None)


def lines_in(sample: str, delimiter: str, quotes: Quotes, count: int) -> int:
    """How many lines the first rows take, blank ones between them too."""
    lines = sample.split("\n")
    if quotes == "none":
        filled = [number for number, line in enumerate(lines, 1) if line.strip("\r")]
        return filled[count - 1]
    escape = "\\" if quotes == "escape" else None
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, escapechar=escape)
    rows = (reader.line_num for row in _forgiving(reader) if row)
    return next(islice(rows, count - 1, None))


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
        filled = len(cells) >= REGULAR * len(body)
        if len(cells) < LEAST_BODY:
            return cls(filled)
        values = frozenset(cells)
        shape = _usual_shape(cells)
        return cls(
            filled,
            numbers=all(map(_NUMBER.fullmatch, cells)),
            labels=values if len(values) * 4 <= len(cells) else frozenset(),
            shape=shape if shape is not None and "9" in shape else None,
            prose=sorted(len(cell.split()) for cell in cells)[len(cells) // 2] >= PROSE,
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
            return -1 if _shape(cell) == self.shape else 1
        return int(self.prose and len(cell.split()) < PROSE - 1)


def _is_above(row: Sequence[str], columns: Sequence[_Column]) -> bool:
    """Whether a row is no record: several of its cells are unlike those below, and none is like
    them.
    """
    cells = [cell.strip() for cell in row] + [""] * (len(columns) - len(row))
    votes = [column.speaks(cell) for column, cell in zip(columns, cells, strict=False)]
    return -1 not in votes and sum(votes) >= min(2, len(columns))


def _name_counts(row: Sequence[str], known: frozenset[str]) -> tuple[int, int]:
    """How many cells are usual names of columns, and how many could be names."""
    words = {cell.strip() for cell in row if cell.strip()}
    names = [word for word in words if _name_like(word)]
    return sum(word.lower() in known for word in names), len(names)


def _name_like(cell: str) -> bool:
    return len(cell) <= 60 and not _value_like(cell)


def _best_names(rows: Sequence[Sequence[str]], known: frozenset[str]) -> list[str]:
    """The row that names the columns best, and over names that come back the name of their
    group.
    """
    best = max(range(len(rows)), key=lambda number: _name_counts(rows[number], known))
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


_LINK = re.compile(r"https?://")


def has_header(rows: Sequence[Sequence[str]], known: frozenset[str]) -> bool:
    """Whether the first row names columns. `known` holds usual column names, lower case.

    Names are short, all different (or several are usual ones), no numbers and no links, and do not
    come back as values below; where none of that speaks against it, a first row is taken as a
    header, as most files have one.
    """
    first = (cell.strip().lstrip("\ufeff").strip() for cell in rows[0])
    named = {column: cell for column, cell in enumerate(first) if cell}
    words = list(named.values())
    usual = len(known.intersection(map(str.lower, words)))
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


def _agreement(widths: Sequence[int]) -> tuple[float, int]:
    """Share of rows with the commonest width, when the first row has it too (or is one short, as R
    writes headers).
    """
    if not widths:
        return 0.0, 0
    width, count = Counter(widths).most_common(1)[0]
    if widths[0] not in (width, width - 1):
        return sum(w == widths[0] for w in widths) / len(widths), widths[0]
    return count / len(widths), width


@lru_cache(
    maxsize=8
)  # every delimiter with and without quotes, for the questions that one file raises
def _widths(sample: str, delimiter: str, *, quoted: bool) -> tuple[int, ...]:
    if not quoted:
        return tuple(
            line.count(delimiter) + 1 for line in islice(filter(None, _lines(sample)), ROWS)
        )
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    return tuple(len(row) for row in islice(_forgiving(reader), ROWS) if row)


def _forgiving(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows until the sample ends or breaks: a sample is cut anywhere."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def _lines(sample: str) -> list[str]:
    return sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")
