"""CSV: one file per table, safe to open in a spreadsheet, and readable back without loss.

Every cell is quoted, so line breaks, quotes and commas inside a text stay. Cells that would start a
formula carry an apostrophe (claimlab.files.cells says the rule and how to undo it); numbers in
number columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from claimlab.core.errors import SchemaError
from claimlab.exchange.format import FormatSettings
from claimlab.exchange.tables import TextTables, from_text, to_text
from claimlab.files.cells import escape_cell, escape_cells, unescape_cells
from claimlab.files.tables import read_delimited


class Csv(TextTables):
    name = "csv"
    summary = "One CSV file per table; cells cannot start a formula."
    accepts = frozenset({"bom"})

    def write_table(self, frame: pl.DataFrame, file: Path, settings: FormatSettings) -> None:
        cells = frame.select(_cells(frame[column]) for column in frame.columns)
        cells = cells.rename({column: escape_cell(column) for column in frame.columns})
        cells.write_csv(file, include_bom=settings.bom, quote_style="always")

    def read_table(self, file: Path, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
        text = file.read_bytes().decode("utf-8-sig")
        cells = read_delimited(text, columns=list(types))
        plain = cells.select(unescape_cells(pl.col(column)) for column in types)
        if plain.row(0) != tuple(types):
            raise SchemaError(
                f"{file.name} has other columns than were exported.", "Export the dataset again."
            )
        rows = plain.slice(1)
        return pl.DataFrame([from_text(rows[column], dtype) for column, dtype in types.items()])


FORMAT = Csv()


def _cells(values: pl.Series) -> pl.Series:
    """A column as cells. A number is not a formula, though it may start with a minus; "-inf" is not
    a number there.
    """
    text = to_text(values)
    if values.dtype.is_integer() or (values.dtype.is_float() and values.is_finite().all()):
        return text
    return text.to_frame().select(escape_cells(pl.col(text.name))).to_series()
