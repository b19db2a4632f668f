"""Spreadsheet cells that cannot start a formula, by a rule that can be undone.

A spreadsheet runs a cell that starts with =, +, - or @ (or a full-width twin of one), and blanks or control characters
before it do not always stop it. The rule: such a cell gets one apostrophe in front. So does a cell that starts with an
apostrophe already, and so does an empty text; a null stays an empty cell. Undoing it is one step without a guess: an
empty cell is null, and one leading apostrophe is taken away.
"""

from __future__ import annotations

import polars as pl

MARK = "'"

# What stands first once blanks, marks and control characters are skipped; the variants fold to = + - @ under NFKC.
_STARTERS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
_RISKY = rf"\A(?:\z|'|[\x00-\x1f\x7f-\x9f]|[\s\p{{Z}}\p{{C}}]*[{_STARTERS}])"


def escape_cells(text: pl.Expr) -> pl.Expr:
    """`text` as cells that are safe to open; null stays null."""
    return pl.when(text.str.contains(_RISKY).not_()).then(text).otherwise(pl.lit(MARK) + text)


def unescape_cells(cells: pl.Expr) -> pl.Expr:
    """The texts behind cells made by `escape_cells`: an empty cell is null, one leading apostrophe goes."""
    return pl.when(cells != "").then(cells.str.replace(r"\A'", ""))


def escape_cell(text: str) -> str:
    """One cell: for headers."""
    return str(pl.select(escape_cells(pl.lit(text))).item())
