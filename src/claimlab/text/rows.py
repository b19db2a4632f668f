"""Change only the rows that need it: most texts of a dataset hold no emoji, no URL and no
accent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import polars as pl

RowChange = Callable[[pl.Series], pl.Series]
Rows = TypeVar("Rows", pl.Series, pl.DataFrame)
ROWS_PER_SLICE = 250_000


def change_where(texts: pl.Series, mask: pl.Series, change: RowChange) -> pl.Series:
    """`texts` with `change` applied to the rows where `mask` is true; every other row keeps its
    very bytes.
    """
    where = mask.fill_null(False).arg_true()
    if not where.len():
        return texts
    # Put the changed rows behind the others and pick: works for word lists too, and leaves `texts`
    # alone.
    changed = change(texts.gather(where)).rename(texts.name)
    pick = pl.int_range(texts.len(), eager=True)
    behind = pl.int_range(texts.len(), texts.len() + changed.len(), eager=True)
    pick = pick.scatter(where, behind)
    return pl.concat([texts, changed]).gather(pick)


def by_slices(function: Callable[[Rows], pl.Series], rows: Rows) -> pl.Series:
    """`function` of slices of `rows`, put together: what it holds meanwhile does not grow with the
    data.
    """
    starts = range(0, max(1, len(rows)), ROWS_PER_SLICE)
    return pl.concat([function(rows.slice(start, ROWS_PER_SLICE)) for start in starts])


def cut_out(texts: pl.Series, pattern: str) -> pl.Series:
    """`texts` without what `pattern` matches, and without the whitespace that remains.

    A match becomes a space, so that the words on both sides of an emoji stay two words.
    """

    return change_where(
        texts, texts.str.contains(pattern), lambda rows: tidy(rows.str.replace_all(pattern, " "))
    )


def tidy(texts: pl.Series) -> pl.Series:
    """`texts` with runs of spaces reduced to one and stripped lines; line ends stay."""
    return (
        texts.str.replace_all(r"[ \t]{2,}", " ").str.replace_all(r" ?\n ?", "\n").str.strip_chars()
    )


def not_ascii(texts: pl.Series) -> pl.Series:
    """Whether a row holds a character outside ASCII: compares two stored lengths, so it costs next
    to nothing.
    """
    return texts.str.len_bytes() != texts.str.len_chars()
