"""Columns that several loaders make: an article as one text, and a column found whatever the case of its name."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.core.errors import UnreadableFile


def title_and_body(title: pl.Series, body: pl.Series) -> pl.Series:
    """The headline, a blank line and the body, since a reader sees both; either alone where the other is missing."""
    frame = pl.DataFrame({"title": blank_to_null(title), "body": blank_to_null(body)})
    both = pl.concat_str("title", "body", separator="\n\n", ignore_nulls=True)
    empty = pl.all_horizontal(pl.col("title", "body").is_null())
    return frame.select(pl.when(empty).then(None).otherwise(both).alias("text"))["text"]


def blank_to_null(values: pl.Series) -> pl.Series:
    stripped = values.cast(pl.String).str.strip_chars()
    return stripped.set(stripped == "", None)


def constant(value: str | None, height: int) -> pl.Series:
    return pl.Series([value], dtype=pl.String).new_from_index(0, height)


def find_column(frame: pl.DataFrame, *names: str) -> str | None:
    """The first of `names` among the columns; case, blanks, dashes and underscores do not matter."""
    known = {_fold(c): c for c in reversed(frame.columns)}
    return next((known[_fold(n)] for n in names if _fold(n) in known), None)


def column(frame: pl.DataFrame, *names: str) -> pl.Series:
    """That column with blanks as null, or nulls where there is none."""
    found = find_column(frame, *names)
    return blank_to_null(frame[found]) if found is not None else constant(None, frame.height)


def require_columns(frame: pl.DataFrame, member: str, wanted: Sequence[Sequence[str]]) -> None:
    """Raise a sentence unless, for each group of spellings, one is among the columns."""
    for names in wanted:
        if find_column(frame, *names) is None:
            shown = ", ".join(frame.columns[:12]) or "none"
            raise UnreadableFile(
                f"'{member}' has no column {' or '.join(map(repr, names))} (it has: {shown}).",
                "Give the files as their authors publish them.",
            )


def _fold(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
