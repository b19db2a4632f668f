"""CSV: one file per table, safe to open in a spreadsheet, and readable back without loss.

Every cell is quoted, so line breaks, quotes and commas inside a text stay. Cells that would start a
formula carry an apostrophe (claimlab.files.cells says the rule and how to undo it); numbers in
number columns stay as they are.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, Marker, Road, Settings, Written
from claimlab.exchange.tables import RECORDS, by_name, from_text, to_text, type_names, types_of
from claimlab.files.cells import escape_cell, escape_cells, unescape_cells
from claimlab.files.tables import read_delimited


class Csv(Format):
    name = "csv"
    summary = "One CSV file per table; cells cannot start a formula."
    accepts = frozenset({"bom"})
    back = (Road("cl.import_files(DIR)"),)

    def write(
        self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent
    ) -> Written:
        tables = by_name(dataset)
        names = {table: type_names(frame, table) for table, frame in tables.items()}
        for done, (table, frame) in enumerate(tables.items()):
            progress("csv", done, len(tables))
            cells = frame.select(_cells(frame[column]) for column in frame.columns)
            cells = cells.rename({column: escape_cell(column) for column in frame.columns})
            cells.write_csv(folder / f"{table}.csv", include_bom=settings.bom, quote_style="always")
        progress("csv", len(tables), len(tables))
        return Written(facts={"columns": names})

    def read(self, folder: Path, marker: Marker) -> Dataset:
        tables = {}
        for table, names in marker.fact("columns").items():
            types = types_of(names)
            text = marker.file(folder, f"{table}.csv").read_bytes().decode("utf-8-sig")
            cells = read_delimited(text, header=False, columns=list(types))
            plain = cells.select(unescape_cells(pl.col(column)) for column in types)
            if plain.row(0) != tuple(types):
                raise SchemaError(
                    f"{table}.csv has other columns than were exported.",
                    "Export the dataset again.",
                )
            plain = plain.slice(1)
            tables[table] = pl.DataFrame(
                [from_text(plain[column], dtype) for column, dtype in types.items()]
            )
        return marker.rebuild(folder, tables.pop(RECORDS), tables)


def _cells(values: pl.Series) -> pl.Series:
    """A column as cells. A number is not a formula, though it may start with a minus; "-inf" is not
    a number there.
    """
    text = to_text(values)
    if values.dtype.is_integer() or (values.dtype.is_float() and values.is_finite().all()):
        return text
    return text.to_frame().select(escape_cells(pl.col(text.name))).to_series()


FORMAT = Csv()
