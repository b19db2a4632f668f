"""Tables from Excel workbooks. Formulas are never run, and no row is lost.

openpyxl's own reader skips rows whose numbers do not rise and counts up to a far row number one
blank row at a time, so the rows are taken from the parser below it.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import polars as pl

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files import sniff
from claimlab.files.archives import check_archive
from claimlab.files.header import Head, head_of
from claimlab.files.layout import FileLayout
from claimlab.files.raw import RawTable, Refused, as_text, typed_table, unique_names

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384  # of a sheet, as Excel has it
# cells, filled or not, that a sheet may have without most of them being filled
SPARSE_CELLS = 20_000_000

# a column of our own: the sheet that a row is in, where several were read
SHEET_COLUMN = "from_sheet"
ROWS_ABOVE = 20  # rows that may come before a table
LEGEND_ROWS = 60  # rows of a sheet that may say what codes of another mean

Rows = list[list[Any]]


@dataclass
class _Sheet:
    """One sheet as a table; `above` are rows of a single cell before the table, such as its
    title.
    """

    title: str
    names: list[str]
    named: bool
    rows: Rows
    above: int

    def is_like(self, main: _Sheet) -> bool:
        return self.named and main.named and set(self.names) == set(main.names)

    def records(self, marked: bool) -> Iterator[JsonObject]:
        """Its rows by column, where `marked` with the sheet that they are in."""
        for row in self.rows:
            record = dict(zip(self.names, row, strict=True))
            yield {**record, SHEET_COLUMN: self.title} if marked else record

    def texts(self) -> list[dict[str, str | None]]:
        return [{name: as_text(cell) for name, cell in row.items()} for row in self.records(False)]


def read_excel_file(
    data: bytes, name: str, sheet: str | None, usual_names: frozenset[str], header: bool | None
) -> RawTable:
    """The named sheet of a workbook, or the one with the most rows and those that have the same
    columns.
    """
    pages = excel_sheets(data, name, sheet)
    sheets = [_sheet(title, rows, usual_names, header) for title, rows in pages.items() if rows]
    if not sheets:
        raise UnreadableFile(f"'{name}' holds an empty sheet.", "Name another one: `sheet`.")
    main = max(sheets, key=lambda sheet: len(sheet.rows))
    alike = [sheet for sheet in sheets if sheet is main or sheet.is_like(main)]
    marked = len(alike) > 1 and SHEET_COLUMN not in main.names
    rows = [row for sheet in alike for row in sheet.records(marked)]
    names = [*main.names, SHEET_COLUMN] if marked else main.names
    table = typed_table(rows, name, FileLayout("Excel", header=main.named), Refused(), names)
    others = [other for other in sheets if other not in alike]
    table.beside = {
        other.title: other.texts() for other in others if len(other.rows) <= LEGEND_ROWS
    }
    table.notes += _left_out(name, alike, [f"'{other.title}'" for other in others])
    return table


def _left_out(name: str, alike: list[_Sheet], others: list[str]) -> Iterator[str]:
    """What of a workbook is not in the table."""
    if others:
        several_sheets = f"a table of {len(alike)} sheets with the same columns"
        read = f"the sheet '{alike[0].title}'" if len(alike) == 1 else several_sheets
        listed = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        yield f"'{name}' also has {listed}; {read} was read (see `sheet`)."
    if above := sum(sheet.above for sheet in alike):
        yield f"{several(above, 'row')} above the table in '{name}' left out."


def _sheet(title: str, cells: Rows, usual_names: frozenset[str], header: bool | None) -> _Sheet:
    width = max(map(len, cells))
    above = _rows_above(cells)
    cells = [[*row, *[None] * (width - len(row))] for row in cells[above:]]
    words = [[as_text(cell) or "" for cell in row] for row in cells[: sniff.ROWS_SAMPLED]]
    if header is None:
        head = head_of(words, usual_names)
    else:
        head = Head(int(header), words[0] if header else None)
    names = unique_names([""] * width if head.names is None else head.names)
    named = head.names is not None
    return _Sheet(title, names, named, cells[head.rows :], above + head.rows - named)


def _rows_above(cells: Rows) -> int:
    """How many rows of a single cell come before a table of several columns."""
    filled = [sum(cell is not None for cell in row) for row in cells]
    if median(filled) <= 1:
        return 0
    return next((number for number, n in enumerate(filled[:ROWS_ABOVE]) if n > 1), 0)


def read_excel(data: bytes, name: str) -> pl.DataFrame:
    """The first sheet of a workbook, cells as text, first row as header."""
    [rows] = excel_sheets(data, name, 0).values()
    if not rows:
        return pl.DataFrame()
    names = unique_names([as_text(cell) or "" for cell in rows[0]])
    columns = zip(names, zip(*rows[1:], strict=True), strict=False)
    texts = [
        pl.Series(column, list(map(as_text, cells)), dtype=pl.String) for column, cells in columns
    ]
    return pl.DataFrame(texts) if texts else pl.DataFrame(schema=names)


def excel_sheets(data: bytes, name: str, sheet: str | int | None = None) -> dict[str, Rows]:
    """The rows of every sheet, or of one, that are not blank."""
    import openpyxl  # read on demand

    check_archive(io.BytesIO(data), name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that are not read
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            pages = {page.title: page for page in book.worksheets}
            return {
                title: _sheet_rows(pages[title], name)
                for title in _wanted(list(pages), name, sheet)
            }
    except UnreadableFile:
        raise
    except Exception as error:  # openpyxl raises many kinds on a damaged file
        words = " ".join(str(error).split())[:200]
        raise UnreadableFile(
            f"'{name}' is not an Excel workbook: {words}.", "Save it again as .xlsx."
        ) from None


def _wanted(titles: list[str], name: str, sheet: str | int | None) -> list[str]:
    if sheet is None:
        return titles
    if isinstance(sheet, int):
        return [titles[sheet]]
    if sheet not in titles:
        raise UnreadableFile(
            f"'{name}' has no sheet '{sheet}'.",
            f"Name one of its sheets: {', '.join(map(repr, titles))}.",
        )
    return [sheet]


def _sheet_rows(page: Any, name: str) -> Rows:
    """Rows in the order of their numbers; two rows of one number are two rows."""
    numbered = list(_filled(page, name))
    width = max((max(cells) for _, cells in numbered), default=0)
    if width * len(numbered) > SPARSE_CELLS and width * len(numbered) > 20 * sum(
        len(cells) for _, cells in numbered
    ):
        raise UnreadableFile(
            f"'{name}' spreads few cells over {len(numbered):,} rows and {width:,} columns.",
            "Remove the cells that lie apart from the table.",
        )
    numbered.sort(key=lambda row: row[0])
    return [[cells.get(column) for column in range(1, width + 1)] for _, cells in numbered]


def _filled(page: Any, name: str) -> Iterator[tuple[int, dict[int, Any]]]:
    """Number and cells, by column, of each row that holds anything."""
    from openpyxl.worksheet._reader import WorkSheetParser

    book = page.parent
    with page._get_source() as source:
        parser = WorkSheetParser(
            source,
            page._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for number, written in parser.parse():
            cells = {
                c["column"]: c["value"]
                for c in written
                if c["value"] is not None and c["value"] != ""
            }
            if not cells:
                continue
            if not 0 < number <= MAX_ROW or max(cells) > MAX_COLUMN:
                raise UnreadableFile(
                    f"'{name}' has a cell in row {number:,}, column {max(cells):,}: a sheet ends at"
                    f" {MAX_ROW:,} rows and {MAX_COLUMN:,} columns.",
                    "Save it again as .xlsx.",
                )
            if len(cells) < sum(c["value"] is not None and c["value"] != "" for c in written):
                raise UnreadableFile(
                    f"'{name}' has two cells in one place of row {number:,}.",
                    "Save it again as .xlsx.",
                )
            yield number, cells
