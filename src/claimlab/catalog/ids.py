"""Ids and groups that loaders give their records."""

from __future__ import annotations

import polars as pl


def numbered(prefix: str, height: int, width: int = 6) -> pl.Series:
    """`prefix-000001` and on, in the order of the file."""
    numbers = (
        pl.int_range(1, height + 1, eager=True)
        .cast(pl.String)
        .str.zfill(max(width, len(str(height))))
    )
    return (f"{prefix}-" + numbers).alias("id")


def distinct(ids: pl.Series) -> pl.Series:
    """`ids` with "-2", "-3" ... behind those that came before: a file may hold a tweet, or a
    rounded id, twice.
    """
    frame = pl.DataFrame({"id": ids})
    earlier = pl.int_range(pl.len()).over("id")
    again = pl.format("{}-{}", "id", earlier + 1)
    return frame.select(pl.when(earlier == 0).then("id").otherwise(again))["id"]


def unique_ids(prefix: str, keys: pl.Series) -> pl.Series:
    """`prefix-key`, with "-2", "-3" behind a key that comes again and the row's number for a
    missing one.
    """
    texts = keys.cast(pl.String).to_list()
    names = [f"{prefix}-{(key or '').strip() or f'row{row}'}" for row, key in enumerate(texts, 1)]
    return distinct(pl.Series("id", names, dtype=pl.String))


def repeated(texts: pl.Series, ids: pl.Series) -> pl.Series:
    """A group for rows that say the same, case and white space aside: the id of the first; null for
    a single.
    """
    key = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    frame = pl.DataFrame({"key": key, "id": ids})
    again = pl.col("key").is_not_null() & (pl.len().over("key") > 1)
    return frame.select(pl.when(again).then(pl.col("id").first().over("key")).alias("group"))[
        "group"
    ]
