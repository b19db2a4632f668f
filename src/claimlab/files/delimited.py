"""Read a delimited file of unknown layout into a table of text, losing no row in silence.

The fast way is Polars. It fills short rows with nulls and breaks on quotes that are not syntax, so
it is only believed when an independent count of delimiters and line ends (files.marks) agrees
with what it returned; otherwise the file is read again row by row (files.rows), with every refused
row listed by line.
"""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.core.bounds import refuse_wide
from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.encoding import read_text
from claimlab.files.header import has_header, head_of
from claimlab.files.kinds import DELIMITED_SUFFIXES
from claimlab.files.layout import FileLayout, ReadOptions
from claimlab.files.lines import part_lines
from claimlab.files.marks import PIECE_BYTES, FileMarks, Quotes, count_marks
from claimlab.files.raw import RawTable, Refused, unique_names
from claimlab.files.rows import DelimitedRow, count_refused, is_blank, read_rows, take, text_lines
from claimlab.files.source import opened

csv.field_size_limit(1 << 30)

CUT_ROWS, CUT_SHARE = 20, 0.05  # rows that lack the same last columns, at which they are meant so


Source = Path | bytes

ROWS_PER_BATCH = 20_000
_UTF8 = ("utf-8", "utf-8-sig", "utf8", "ascii")


def read_delimited_file(
    source: Source, name: str, options: ReadOptions, usual_names: frozenset[str] = frozenset()
) -> RawTable:
    """The table in `source`; `known` holds usual column names, which tell a header from a first
    row.
    """
    check_delimiter(options.delimiter)
    text, encoding, notes = _as_utf8(source, name, options.encoding)
    text, sample = _with_newlines(text)
    suffix = PurePosixPath(name).suffix.lower()
    guessed = options.delimiter is None and suffix in DELIMITED_SUFFIXES
    if guessed and (above := sniff.lines_above(sample, suffix)):
        text, sample = _with_newlines(_whole(text).split(b"\n", above)[above])
        left_out = f"{several(above, 'line')} above the table in '{name}' left out;"
        notes = [*notes, f"{left_out} lines are counted from there."]
    layout, names, marks = _layout(text, sample, name, options, usual_names)
    surplus, head = _rows_above(sample, layout, options, usual_names)
    if surplus:
        lines = sniff.lines_in(sample, str(layout.delimiter), layout.quotes or "none", surplus)
        text = _whole(text).removeprefix(codecs.BOM_UTF8).split(b"\n", lines)[lines]
        text, sample = _with_newlines(text)
        layout, names, marks = _layout(
            text, sample, name, replace(options, header=head is not None), usual_names
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
            return read_delimited_file(_whole(text), name, options, usual_names)
        if layout.delimiter is None:
            part_lines(table)
    table.notes[:0] = notes
    return table


def _rows_above(
    sample: str, layout: FileLayout, options: ReadOptions, usual_names: frozenset[str]
) -> tuple[int, list[str] | None]:
    """How many rows come before the header or the first record, and the names of the columns."""
    if options.header is not None or layout.delimiter is None:
        return 0, None
    rows = sniff.sample_rows(sample, layout.delimiter, layout.quotes or "none")
    head = head_of(rows, usual_names)
    return head.rows - (head.names is not None), head.names


def _layout(
    text: Source, sample: str, name: str, options: ReadOptions, usual_names: frozenset[str]
) -> tuple[FileLayout, list[str], FileMarks]:
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
    header = has_header(rows, usual_names) if options.header is None else options.header
    if delimiter is None:
        layout = FileLayout("one text per line", header=header)
    else:
        form = "TSV" if delimiter == "\t" else "CSV"
        layout = FileLayout(form, None, delimiter, quotes, header)
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
        while piece := file.read(PIECE_BYTES):
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
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < sniff.SAMPLE_BYTES)
    except UnicodeDecodeError:
        return None
    return None if b"\0" in head else "utf-8"


def _head(source: Source) -> bytes:
    with opened(source) as file:
        return file.read(sniff.SAMPLE_BYTES)


def _sample(source: Source) -> str:
    head = _head(source)
    if len(head) == sniff.SAMPLE_BYTES and b"\n" in head:
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
    if delimiter is None and suffix in DELIMITED_SUFFIXES:
        return "\t" if suffix in (".tsv", ".tab") else ","
    return delimiter


def quotes_in(text: str, delimiter: str) -> Quotes:
    """What quotes are in `text`: the reading under which the most rows are whole."""
    source, sample = _with_newlines(text.encode())
    return _quotes(source, sample, delimiter, count_marks(pieces(source), delimiter))


def _quotes(source: Source, sample: str, delimiter: str | None, marks: FileMarks) -> Quotes:
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
    source: Source, name: str, layout: FileLayout, names: list[str], marks: FileMarks
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


def _is_regular(source: Source, layout: FileLayout, width: int, marks: FileMarks) -> bool:
    """Whether every row has as many cells."""
    if not marks.quotes or layout.quotes == "double":
        return marks.fewest == marks.most == width - 1
    # delimiters between quotes were not counted as such
    rows = read_rows(text_lines(source), layout.delimiter, "none")
    return all(not row.cells or len(row.cells) == width for row in rows)


def _slow(
    source: Source, name: str, layout: FileLayout, names: list[str], cut: int | None = None
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
        if len(batch) == ROWS_PER_BATCH:
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
    name: str, frame: pl.DataFrame, layout: FileLayout, refused: Refused, blank: int = 0
) -> RawTable:
    """Empty cells become null; rows without a single character are left out and counted."""
    frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    if frame.width and all(frame[c].null_count() for c in frame.columns):
        rows = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        blank += frame.height - rows.height
        frame = rows
    return RawTable(name, frame, layout, refused=refused, blank=blank)


def _refuse_nul(marks: FileMarks, source: Source, name: str) -> None:
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
