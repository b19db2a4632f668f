"""Read a delimited file of unknown layout into a table of text, losing no row in silence.

The fast way is Polars. It fills short rows with nulls and breaks on quotes that are not syntax, so
it is only believed when an independent count of delimiters and line ends (files.marks) agrees
with what it returned; otherwise the file is read again row by row, with every refused row listed by
line. The slow reader is strict: a quote that opens a cell must close it before a delimiter or line
end. A row that breaks this is refused alone, and reading goes on with the line after the one it
began on, so that one stray quote does not swallow the rest.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import polars as pl

from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.encoding import read_text
from claimlab.files.kinds import DELIMITED
from claimlab.files.marks import PIECE, Marks, Quotes, count_marks
from claimlab.files.raw import Layout, Options, RawTable, Refused, unique_names
from claimlab.files.safety import opened, refuse_wide

csv.field_size_limit(1 << 30)

CUT_ROWS, CUT_SHARE = 20, 0.05  # rows that lack the same last columns, at which they are meant so
LONGEST = 10_000  # lines in one cell; a quote open for longer was never meant as one
# replaces a return inside a line, which Python's reader refuses; cannot occur in UTF-8
BARE_RETURN = "\udc0d"

RAGGED = "wrong number of columns"
UNCLOSED = "a quote that opens a cell is not closed before a delimiter or line end"

Source = Path | bytes

BATCH = 20_000
_LABELLED = rf"^((?:{sniff.LABEL}\S+\s+)+)(.*)$"
MOST_LINES, LEAST_BLOCKS = 6, 5  # of one record, and records
LINK, MARKS = "\0", ("|", "\t")  # the kind of a line that is a link; what separates cells
_CELL = r"[^|\t]+"
_UTF8 = ("utf-8", "utf-8-sig", "utf8", "ascii")


def read_delimited_file(
    source: Source, name: str, options: Options, known: frozenset[str] = frozenset()
) -> RawTable:
    """The table in `source`; `known` holds usual column names, which tell a header from a first
    row.
    """
    check_delimiter(options.delimiter)
    text, encoding, notes = _as_utf8(source, name, options.encoding)
    text, sample = _with_newlines(text)
    suffix = PurePosixPath(name).suffix.lower()
    guessed = options.delimiter is None and suffix in DELIMITED
    if guessed and (above := sniff.lines_above(sample, suffix)):
        text, sample = _with_newlines(_whole(text).split(b"\n", above)[above])
        left_out = f"{several(above, 'line')} above the table in '{name}' left out;"
        notes = [*notes, f"{left_out} lines are counted from there."]
    layout, names, marks = _layout(text, sample, name, options, known)
    surplus, head = _rows_above(sample, layout, options, known)
    if surplus:
        lines = sniff.lines_in(sample, str(layout.delimiter), layout.quotes or "none", surplus)
        text = _whole(text).removeprefix(codecs.BOM_UTF8).split(b"\n", lines)[lines]
        text, sample = _with_newlines(text)
        layout, names, marks = _layout(
            text, sample, name, replace(options, header=head is not None), known
        )
        names = names if head is None else unique_names(head)
        left_out = f"{several(surplus, 'more row')} above the table in '{name}' left out;"
        notes = [*notes, f"{left_out} lines are counted from there."]
    layout = replace(layout, encoding=encoding)
    table = _fast(text, name, layout, names, marks)
    if table is None:
        try:
            table = _slow(text, name, layout, names)
        except UnicodeDecodeError:  # not in the sample, but beyond it
            return read_delimited_file(_whole(text), name, options, known)
        if layout.delimiter is None:
            _part_lines(table)
    table.notes[:0] = notes
    return table


def _rows_above(
    sample: str, layout: Layout, options: Options, known: frozenset[str]
) -> tuple[int, list[str] | None]:
    """How many rows come before the header or the first record, and the names of the columns."""
    if options.header is not None or layout.delimiter is None:
        return 0, None
    rows = sniff.sample_rows(sample, layout.delimiter, layout.quotes or "none")
    head = sniff.head_of(rows, known)
    return head.rows - (head.names is not None), head.names


def _part_lines(table: RawTable) -> None:
    """Cut lines of text into columns, where they are alike."""
    table.frame = _labels_apart(table.frame)
    blocks = None if table.layout.header else _blocks(table.frame)
    if blocks is not None:
        table.frame, length = blocks
        table.notes.append(
            f"Every {length} lines of '{table.name}' are one record: their kinds repeat."
        )


def _layout(
    text: Source, sample: str, name: str, options: Options, known: frozenset[str]
) -> tuple[Layout, list[str], Marks]:
    """How the file is laid out, the names of its columns, and the marks that were counted in it."""
    delimiter = options.delimiter or _delimiter(sample, PurePosixPath(name).suffix.lower())
    marks = count_marks(pieces(text), delimiter or ",")
    _refuse_nul(marks, text, name)
    if options.delimiter is not None and not marks.delimiters:
        _refuse_wrong_delimiter(sample, options.delimiter, name)
    if delimiter is not None:
        first = sample.split("\n", 1)[0].count(delimiter)
        refuse_wide((first if marks.newlines else marks.delimiters) + 1, name)
    quotes = options.quotes or _quotes(text, sample, delimiter, marks)
    rows = sniff.sample_rows(sample, delimiter, quotes)
    if not rows:
        raise UnreadableFile(f"'{name}' has no rows.", "Give a file that holds records.")
    header = sniff.has_header(rows, known) if options.header is None else options.header
    if delimiter is None:
        layout = Layout("one text per line", header=header)
    else:
        form = "TSV" if delimiter == "\t" else "CSV"
        layout = Layout(form, None, delimiter, quotes, header)
    return layout, _names(rows, header), marks


def check_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
    ):
        raise UsageError(
            f"`delimiter` cannot be {delimiter!r}.", "Give one ASCII character, or the word tab."
        )


def pieces(source: Source) -> Iterator[bytes]:
    """The bytes after a byte-order mark, a piece at a time."""
    with opened(source) as file:
        if file.read(3) != codecs.BOM_UTF8:
            file.seek(0)
        while piece := file.read(PIECE):
            yield piece


def _as_utf8(source: Source, name: str, encoding: str | None) -> tuple[Source, str, list[str]]:
    """The source itself if a sample of it is UTF-8, else its text encoded as UTF-8."""
    if isinstance(source, Path):
        sampled = _sampled_encoding(source) if encoding is None else encoding.lower()
        if sampled in _UTF8:
            return source, sampled, []  # the rest is checked while reading
    text, chosen, notes = read_text(_whole(source), name, encoding)
    return text.encode("utf-8", "replace"), chosen, notes


def _sampled_encoding(path: Path) -> str | None:
    head = _head(path)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < sniff.SAMPLE)
    except UnicodeDecodeError:
        return None
    return None if b"\0" in head else "utf-8"


def _head(source: Source) -> bytes:
    with opened(source) as file:
        return file.read(sniff.SAMPLE)


def _sample(source: Source) -> str:
    head = _head(source)
    if len(head) == sniff.SAMPLE and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]  # a row cut in two would count as a wrong one
    return head.decode("utf-8-sig", errors="ignore")


def _with_newlines(source: Source) -> tuple[Source, str]:
    """The source and its sample; the line ends of old Macintosh files, lone returns, are made
    newlines.
    """
    sample = _sample(source)
    if (
        "\r" in sample
        and "\n" not in sample
        and not any(b"\n" in piece for piece in pieces(source))
    ):
        source = _whole(source).replace(b"\r", b"\n")
        sample = _sample(source)
    return source, sample


def _delimiter(sample: str, suffix: str) -> str | None:
    delimiter = sniff.sniff_delimiter(sample, suffix)
    if (
        delimiter is not None
        and suffix in (".txt", ".text", "")
        and sniff.agrees(sample, delimiter) < 0.9
    ):
        return None
    if delimiter is None and suffix in DELIMITED:
        return "\t" if suffix in (".tsv", ".tab") else ","
    return delimiter


def quotes_in(text: str, delimiter: str) -> Quotes:
    """What quotes are in `text`: the reading under which the most rows are whole."""
    source, sample = _with_newlines(text.encode())
    return _quotes(source, sample, delimiter, count_marks(pieces(source), delimiter))


def _quotes(source: Source, sample: str, delimiter: str | None, marks: Marks) -> Quotes:
    if delimiter is None:
        return "none"
    if not sniff.suspicious(marks, sniff.usual_width(sample, delimiter)):
        return "double"
    readings: list[Quotes] = ["double", "none"]
    # Where quotes pair up over lines that are whole rows, the simpler reading is that they are
    # text.
    if marks.well_formed and not sniff.spans_are_cells(sample, delimiter):
        readings.reverse()
    if any(b'\\"' in piece for piece in pieces(source)):
        readings.append("escape")
    refusals: dict[Quotes, int] = {}
    for quotes in readings:
        width = sniff.commonest_width(sniff.sample_rows(sample, delimiter, quotes))
        best = min(refusals.values(), default=None)
        enough = None if best is None else best + 1
        refusals[quotes] = count_refused(text_lines(source), delimiter, quotes, width, enough)
    return min(refusals, key=lambda quotes: refusals[quotes])  # between equals, the first


def _names(rows: list[list[str]], header: bool) -> list[str]:
    usual = sniff.commonest_width(rows)
    if not header:
        return unique_names([""] * usual)
    first = list(rows[0])
    if (
        len(first) == usual - 1
    ):  # R names every column but that of the row names; others end each row with a delimiter
        trailing = all(not row[-1] for row in rows[1:] if len(row) == usual)
        first = [*first, ""] if trailing else ["row", *first]
    return unique_names(first)


def _fast(
    source: Source, name: str, layout: Layout, names: list[str], marks: Marks
) -> RawTable | None:
    """The table as Polars reads it, or null when it refuses or its answer does not add up."""
    quoted = layout.quotes == "double"
    if layout.delimiter is None or layout.quotes == "escape" or (quoted and not marks.well_formed):
        return None
    if marks.returns != marks.pairs:  # Polars reads some lone returns as whitespace
        return None
    try:
        frame = pl.read_csv(
            source,
            has_header=bool(layout.header),
            separator=layout.delimiter,
            quote_char='"' if quoted else None,
            infer_schema=False,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    height = marks.rows(quoted=quoted) - bool(layout.header)
    if frame.shape != (height, len(names)) or not _is_regular(source, layout, len(names), marks):
        return None
    frame.columns = names
    return _table(name, frame, layout, Refused())


def _is_regular(source: Source, layout: Layout, width: int, marks: Marks) -> bool:
    """Whether every row has as many cells."""
    if not marks.quotes or layout.quotes == "double":
        return marks.fewest == marks.most == width - 1
    # delimiters between quotes were not counted as such
    rows = read_rows(text_lines(source), layout.delimiter, "none")
    return all(not row.cells or len(row.cells) == width for row in rows)


def _slow(
    source: Source, name: str, layout: Layout, names: list[str], cut: int | None = None
) -> RawTable:
    """The table row by row. Rows of `cut` cells end early: the columns behind are empty there."""
    refused = Refused()
    batches: list[pl.DataFrame] = []
    batch: list[list[str]] = []
    widths: Counter[int] = Counter()
    blank, header = 0, bool(layout.header)
    for row in read_rows(text_lines(source), layout.delimiter, layout.quotes or "none"):
        if row.cells is not None and is_blank(row.cells, len(names)):
            blank += 1
            continue
        if header:
            header = False
            continue
        widths[len(row.cells or ())] += 1
        if row.cells and len(row.cells) == cut:
            row = DelimitedRow(row.line, row.cells + [""] * (len(names) - cut))
        if (cells := take(row, len(names), refused)) is not None:
            batch.append(cells)
        if len(batch) == BATCH:
            batches.append(_frame(batch, names))
            batch = []
    if cut is None and (cut := _cut_rows(widths, len(names))):
        return _slow(source, name, layout, names, cut)
    batches.append(_frame(batch, names))
    table = _table(name, pl.concat(batches), layout, refused, blank)
    if cut:
        behind = " and ".join(f"'{column}'" for column in names[cut:])
        table.notes.append(
            f"{widths[cut]:,} rows of '{name}' end before {behind}, which is empty there."
        )
    return table


def _labels_apart(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines as fastText reads them, each after its labels, as two columns; others as they are."""
    line = lines.to_series()
    if not line.len() or not line.str.contains(_LABELLED).all():
        return lines
    labels = line.str.extract(_LABELLED, 1).str.replace_all(sniff.LABEL, " ").str.strip_chars()
    return pl.DataFrame(
        {"label": labels.str.replace_all(r"\s+", ","), "text": line.str.extract(_LABELLED, 2)}
    )


def _blocks(lines: pl.DataFrame) -> tuple[pl.DataFrame, int] | None:
    """Records of a few lines each (metadata, links, text) and how many: a column for each line, or
    for each cell of a line that has as many in every record.
    """
    if lines.width > 1:
        return None
    line = lines.to_series().fill_null("")
    link = line.str.starts_with("http")
    kinds = pl.select(pl.when(link).then(pl.lit(LINK)).otherwise(line.str.replace_all(_CELL, "")))
    for length in range(2, MOST_LINES + 1):
        if line.len() % length or line.len() < LEAST_BLOCKS * length:
            continue
        parts = [kinds.to_series().gather_every(length, n).unique() for n in range(length)]
        if {*map(len, parts)} == {1} and pl.concat(parts).n_unique() > 1:
            return _cells_of([line.gather_every(length, n) for n in range(length)], parts), length
    return None


def _cells_of(lines: list[pl.Series], kinds: list[pl.Series]) -> pl.DataFrame:
    """Lines that go side by side, cut at the mark that each kind of line begins with."""
    marks = [kind[0][0] if kind[0][:1] in MARKS else LINK for kind in kinds]
    cells = [line.str.split(mark) for line, mark in zip(lines, marks, strict=True)]
    columns = [one.list.get(n) for one in cells for n in range(len(one[0]))]
    return pl.DataFrame([c.alias(f"column_{n}") for n, c in enumerate(columns, 1)])


def _cut_rows(widths: Counter[int], width: int) -> int | None:
    """The width of rows that were written without the last columns: too many, and too much alike,
    to be broken rows.
    """
    short = {cells: rows for cells, rows in widths.items() if 0 < cells < width}
    rows = sum(short.values())
    if len(short) != 1 or rows < CUT_ROWS or rows < CUT_SHARE * widths.total():
        return None
    cells = next(iter(short))
    return cells if cells > 1 else None


def _frame(rows: list[list[str]], names: list[str]) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pl.DataFrame(
        {n: pl.Series(n, c, dtype=pl.String) for n, c in zip(names, columns, strict=True)}
    )


def _table(
    name: str, frame: pl.DataFrame, layout: Layout, refused: Refused, blank: int = 0
) -> RawTable:
    """Empty cells become null; rows without a single character are left out and counted."""
    frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    if frame.width and all(frame[c].null_count() for c in frame.columns):
        rows = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        blank += frame.height - rows.height
        frame = rows
    return RawTable(name, frame, layout, refused=refused, blank=blank)


def _refuse_nul(marks: Marks, source: Source, name: str) -> None:
    if marks.nul is None:
        return
    line = _whole(source).count(b"\n", 0, marks.nul) + 1
    raise UnreadableFile(
        f"'{name}' holds a NUL byte on line {line:,}: it is damaged, or not text.",
        "Get it again, or name its encoding with `encoding` (utf-16 is full of NULs).",
    )


def _refuse_wrong_delimiter(sample: str, delimiter: str, name: str) -> None:
    """A delimiter that occurs nowhere is meant for one column, or mistaken when another would cut
    the first line.
    """
    other = sniff.sniff_delimiter(sample, "")
    if other is not None and other in sample.split("\n", 1)[0]:
        raise UsageError(
            f"There is no {delimiter!r} in '{name}'.", "Leave out `delimiter` to have it found."
        )


def _whole(source: Source) -> bytes:
    return source.read_bytes() if isinstance(source, Path) else source


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
        if len(self.current) > LONGEST:
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
