"""Tweet ids as loaders meet them: text, sometimes rounded by a spreadsheet, and carrying the time they were made."""

from __future__ import annotations

import polars as pl

EPOCH_MS = 1_288_834_974_657  # the zero of the clock inside an id
FIRST_SNOWFLAKE = 29_700_859_247  # smaller ids were counted one by one and hold no time


def tweet_ids(raw: pl.Series) -> pl.Series:
    """The values that name a tweet. What a spreadsheet rounded ("1.37041E+18") names none any more: null."""
    text = raw.cast(pl.String).str.strip_chars()
    return text.set(~text.str.contains(r"^[0-9]{1,19}$").fill_null(False), None)


def sent_at(ids: pl.Series) -> pl.Series:
    """When the tweets of `ids` were sent (UTC), read from the ids themselves; null where an id holds no time."""
    number = ids.cast(pl.Int64, strict=False)
    known = number.set((number < FIRST_SNOWFLAKE).fill_null(True), None)
    return pl.from_epoch(known // (1 << 22) + EPOCH_MS, time_unit="ms").cast(pl.Datetime("us"))


def dated(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with `date` and `date_source` filled from its `tweet_id`."""
    date = sent_at(records["tweet_id"])
    return records.with_columns(date=date, date_source=pl.when(date.is_not_null()).then(pl.lit("snowflake id")))
