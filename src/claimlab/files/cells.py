"""Spreadsheet cells that cannot start a formula, by a rule that can be undone.

A spreadsheet runs a cell that starts with =, +, - or @ (or its full-width form), and whitespace or
control characters before it do not always prevent that. The rule: such a cell gets one apostrophe
in front. So does a cell that already starts with an apostrophe, and so does an empty text; a null
stays an empty cell. The rule is reversible: an empty cell is null, and one leading apostrophe is
removed.

Control characters other than tabs and line breaks would steer a terminal that shows the file. A
cell with one of them starts with '\\ and has them as \\x1b, with every backslash doubled; that
start is given to no other cell.
"""

from __future__ import annotations

import polars as pl

APOSTROPHE = "'"

# The first character after whitespace, marks and control characters; the variants fold to = + - @
# under NFKC.
_STARTERS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
_RISKY = rf"\A(?:\z|'|[\x00-\x1f\x7f-\x9f]|[\s\p{{Z}}\p{{C}}]*[{_STARTERS}])"

_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_CODED = "'\\"
_CODES = {"\\": "\\\\"} | {
    chr(code): f"\\x{code:02x}"
    for code in (*range(0x20), *range(0x7F, 0xA0))
    if chr(code) not in "\t\n\r"
}


def escape_cells(text: pl.Expr) -> pl.Expr:
    """`text` as cells that are safe to open; null stays null."""
    coded = pl.lit(_CODED) + text.str.replace_many(list(_CODES), list(_CODES.values()))
    control, risky = text.str.contains(_CONTROL), text.str.contains(_RISKY)
    return (
        pl.when((control | risky).not_())
        .then(text)
        .when(control)
        .then(coded)
        .otherwise(pl.lit(APOSTROPHE) + text)
    )


def unescape_cells(cells: pl.Expr) -> pl.Expr:
    """The texts behind cells made by `escape_cells`: an empty cell is null, one leading apostrophe
    goes.
    """
    decoded = cells.str.strip_prefix(_CODED).str.replace_many(list(_CODES.values()), list(_CODES))
    texts = (
        pl.when(cells.str.starts_with(_CODED))
        .then(decoded)
        .otherwise(cells.str.replace(r"\A'", ""))
    )
    return pl.when(cells != "").then(texts)


def escape_cell(text: str) -> str:
    """One cell: for headers."""
    return str(pl.select(escape_cells(pl.lit(text))).item())
