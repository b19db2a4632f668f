"""When a tweet was posted, read from its id: since November 2010 ids carry the time in their upper bits."""

from __future__ import annotations

import polars as pl

EPOCH_MS = 1_288_834_974_657  # Twitter's zero, 2010-11-04 01:42:54 UTC
FIRST = 29_700_859_247  # older ids were plain counters and say nothing of time
SOURCE = "snowflake id"


def posted(ids: pl.Series) -> pl.Series:
    """UTC times for a column of tweet ids as text; null for ids from before snowflakes and for what is no id."""
    number = ids.cast(pl.Int64, strict=False)
    ms = (number // (1 << 22)) + EPOCH_MS
    times = ms.cast(pl.Datetime("ms")).cast(pl.Datetime("us"))
    return times.set(~(number >= FIRST).fill_null(False), None).alias("date")


def dated(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with `date` and `date_source` filled from `tweet_id`."""
    times = posted(records["tweet_id"])
    source = pl.when(times.is_not_null()).then(pl.lit(SOURCE)).alias("date_source")
    return records.with_columns(times).with_columns(source)
