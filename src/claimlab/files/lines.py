"""Lines of text that are alike, cut into columns: labels before a text, as fastText writes them, or
records of a few lines each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from claimlab.files import sniff

if TYPE_CHECKING:
    from claimlab.files.raw import RawTable

_LABELLED = rf"^((?:{sniff.FASTTEXT_LABEL}\S+\s+)+)(.*)$"
MOST_LINES = 6  # of one record
LEAST_BLOCKS = 5  # records
LINK = "\0"  # the kind of a line that is a link
CELL_MARKS = ("|", "\t")  # what separates cells
_CELL = r"[^|\t]+"


def part_lines(table: RawTable) -> None:
    """Cut lines of text into columns, where they are alike."""
    table.frame = _labels_apart(table.frame)
    blocks = None if table.layout.header else _blocks(table.frame)
    if blocks is not None:
        table.frame, length = blocks
        table.notes.append(
            f"Every {length} lines of '{table.name}' are one record: their kinds repeat."
        )


def _labels_apart(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines as fastText reads them, each after its labels, as two columns; others as they are."""
    line = lines.to_series()
    if not line.len() or not line.str.contains(_LABELLED).all():
        return lines
    labels = (
        line.str.extract(_LABELLED, 1).str.replace_all(sniff.FASTTEXT_LABEL, " ").str.strip_chars()
    )
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
    marks = [kind[0][0] if kind[0][:1] in CELL_MARKS else LINK for kind in kinds]
    cells = [line.str.split(mark) for line, mark in zip(lines, marks, strict=True)]
    columns = [cell.list.get(n) for cell in cells for n in range(len(cell[0]))]
    return pl.DataFrame([c.alias(f"column_{n}") for n, c in enumerate(columns, 1)])
