"""Rows below a table that sum it up ("Total", "Média"), which are no records.

Such a row lacks a cell that every row above it has and holds at most one cell of words. Its numbers
say what it is: one of them is the sum or the mean of its column, or how many rows there are. Where
they do not, the word for it does.
"""

from __future__ import annotations

import math
import re
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.core.words import several
from claimlab.files.excel import SHEET_COLUMN
from claimlab.files.raw import RawTable, literal_text

MOST_TOTALS = 4  # rows that may sum up a table
LEAST_ROWS = 5  # rows above them
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_MARKS = " :=-–—.()0123456789"

Row = dict[str, str]  # the filled cells


@cache
def _words() -> frozenset[str]:
    words = packaged.toml("claimlab.files", "totals.toml")["words"]
    return frozenset(word for language in words.values() for word in language)


def leave_out_totals(table: RawTable) -> None:
    """Take the rows that sum up the table, or one of its sheets, from below it."""
    frame = table.frame
    if not frame.height or (SHEET_COLUMN not in frame.columns and None not in frame.row(-1)):
        return
    sheets = (
        frame.partition_by(SHEET_COLUMN, maintain_order=True)
        if SHEET_COLUMN in frame.columns
        else [frame]
    )
    bodies = [sheet.head(sheet.height - _totals(sheet, table.literal)) for sheet in sheets]
    if left_out := frame.height - sum(sheet.height for sheet in bodies):
        table.frame = pl.concat(bodies)
        table.notes.append(
            f"{several(left_out, 'row')} below the table in '{table.name}' left out: sums or means"
            " of it."
        )


def _totals(sheet: pl.DataFrame, literal: frozenset[str]) -> int:
    """How many rows below a sheet sum it up."""
    last = sheet.drop(SHEET_COLUMN, strict=False).tail(MOST_TOTALS)
    last = last.with_columns(
        literal_text(last[column]) for column in last.columns if column in literal
    )
    rows = [{name: cell for name, cell in row.items() if cell} for row in last.to_dicts()]
    for number in range(min(len(rows), sheet.height - LEAST_ROWS), 0, -1):
        body = sheet.select(last.columns).head(sheet.height - number)
        full = [name for name in last.columns if not body[name].null_count()]
        if all(_sums_up(row, body, full) for row in rows[-number:]):
            return number
    return 0


def _sums_up(row: Row, body: pl.DataFrame, full: list[str]) -> bool:
    words = [cell for cell in row.values() if not _NUMBER.fullmatch(cell)]
    if len(words) > 1 or all(name in row for name in full):
        return False
    if words and words[0].casefold().strip(_MARKS) in _words():
        return True
    if len(row) == 1 and words:
        return str(body.height) in re.findall(r"\d+", words[0]) and len(words[0].split()) <= 5
    return any(_is_of(cell, body[name]) for name, cell in row.items() if _NUMBER.fullmatch(cell))


def _is_of(cell: str, above: pl.Series) -> bool:
    """Whether a number is the sum or the mean of a column, or, under words, their number."""
    numbers = above.drop_nulls().str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    if numbers.null_count():
        return cell == str(above.len())
    if numbers.n_unique() < 2:
        return False
    total = float(numbers.sum())
    written = float(cell.replace(",", "."))
    decimals = len(re.split("[.,]", f"{cell}.")[1])
    off = abs(written - total / numbers.len())
    return math.isclose(written, total) or (decimals > 0 and off < 0.51 / 10**decimals)
