"""What was read of several files: one table, which of its columns say where a row came from, and
each file's layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from claimlab.exchange.read.texts import FOLDER, PATH
from claimlab.files.excel import SHEET
from claimlab.files.raw import RawTable
from claimlab.files.typed import literal_text

FILE = "from_file"  # a column of our own: the file that a row came from
PLACES = (FILE, FOLDER, PATH, SHEET)


@dataclass
class Gathered:
    """`tables` keeps each file's layout, columns and refusals; its rows are in `frame`."""

    frame: pl.DataFrame
    literal: frozenset[str]
    tables: list[RawTable]
    inputs: dict[str, str]
    ignored: list[str] = field(default_factory=list)
    chosen: bool = False  # whether the user said which files to read
    inner: frozenset[str] = frozenset()  # columns made of the fields of objects in others

    @property
    def rows_read(self) -> int:
        return self.frame.height + sum(t.refused.total for t in self.tables)

    def plain(self) -> pl.DataFrame:
        """The rows with every column as plain text, JSON values too."""
        return self.frame.with_columns(
            literal_text(self.frame[c]) for c in self.frame.columns if c in self.literal
        )

    def columns_of(self, table: RawTable) -> list[str]:
        """The columns of one file, without those of our own."""
        return [c for c in table.frame.columns if c not in PLACES]

    def layouts(self) -> list[tuple[list[str], list[RawTable]]]:
        """The different sets of columns and the files that have them, the commonest first."""
        sets: dict[frozenset[str], list[RawTable]] = {}
        for table in self.tables:
            sets.setdefault(frozenset(self.columns_of(table)), []).append(table)
        common = sorted(sets.values(), key=lambda tables: -len(tables))
        return [(self.columns_of(tables[0]), tables) for tables in common]

    def describe(self) -> str:
        """'a.csv' (CSV, utf-8, comma, header), or how many files and in which layouts."""
        words = list(dict.fromkeys(t.layout.describe() for t in self.tables))
        what = f"'{self.tables[0].name}'" if len(self.tables) == 1 else f"{len(self.tables)} files"
        return f"{what} ({' | '.join(words[:6])}{' | …' if len(words) > 6 else ''})"
