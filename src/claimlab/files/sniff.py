"""Find out how a delimited file is laid out: its delimiter, and whether quotes are syntax or text.

The delimiter is read off the first megabyte. Whether quotes are syntax is decided on the whole
file, because the few decisive rows may be anywhere: LIAR's quotes are text, and reading them as
syntax loses 45 of 12,836 rows. Each reading is judged by the rows it would refuse.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from claimlab.files.marks import FileMarks, Quotes

SAMPLE_BYTES = 1 << 20
ROWS_SAMPLED = 1_000  # rows of the sample that are looked at
LINES_ABOVE = 20  # that may come before a table
LEAST_LINES = 5  # that it must have
REGULAR_SHARE = 0.95  # of its rows that must have the same number of cells
DELIMITERS = ",\t;|"
FASTTEXT_LABEL = "__label__"  # before a label in the files of fastText
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
    for delimiter in sorted(DELIMITERS, key=lambda d: d != first):
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
    if delimiter is not None and agrees(sample, delimiter) >= REGULAR_SHARE:
        return 0
    lines = sample.split("\n")
    for above in range(1, min(LINES_ABOVE, len(lines) - LEAST_LINES) + 1):
        rest = "\n".join(lines[above:])
        delimiter = sniff_delimiter(rest, suffix)
        if delimiter is None or not lines[above].strip() or agrees(rest, delimiter) < REGULAR_SHARE:
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
        return [[line] for line in _lines(sample) if line.strip()][:ROWS_SAMPLED]
    if quotes == "none":
        return [line.split(delimiter) for line in _lines(sample) if line][:ROWS_SAMPLED]
    escape = "\\" if quotes == "escape" else None
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, escapechar=escape)
    rows = [row for row, _ in zip(_forgiving(reader), range(ROWS_SAMPLED), strict=False) if row]
    return rows or [[""]]


def suspicious(marks: FileMarks, width: int) -> bool:
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
    for row, _ in zip(_forgiving(reader), range(ROWS_SAMPLED), strict=False):
        if reader.line_num - before > 1:
            spanning += [
                line.rstrip("\r\n").split(delimiter) for line in lines[before : reader.line_num]
            ]
        rows.append(row)
        before = reader.line_num
    shapes = [usual_shape(column) for column in zip(*rows[1:], strict=False)]
    regular = [i for i, shape in enumerate(shapes) if shape is not None]
    cells = [(row[i], shapes[i]) for row in spanning for i in regular if i < len(row)]
    return bool(cells) and sum(shape_of(cell) == shape for cell, shape in cells) < 0.8 * len(cells)


def usual_shape(cells: Sequence[str]) -> str | None:
    """The shape that nearly all cells of a column have, if there is one."""
    shape, count = Counter(map(shape_of, cells)).most_common(1)[0]
    return shape if count >= 0.9 * len(cells) else None


def shape_of(cell: str) -> str:
    """ "id7" is "a9", "2020-01-02" is "9-9-9": runs of letters and of digits, whatever their
    length.
    """
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", cell))


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
            line.count(delimiter) + 1 for line in islice(filter(None, _lines(sample)), ROWS_SAMPLED)
        )
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    return tuple(len(row) for row in islice(_forgiving(reader), ROWS_SAMPLED) if row)


def _forgiving(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows until the sample ends or breaks: a sample is cut anywhere."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def _lines(sample: str) -> list[str]:
    return sample.replace("\r\n", "\n").replace("\r", "\n").split("\n")
