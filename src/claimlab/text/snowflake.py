"""The time in a tweet id: ids made since 4 November 2010 ("snowflakes") have it to the
millisecond.
"""

from __future__ import annotations

import polars as pl

EPOCH_MS = 1_288_834_974_657  # where snowflake time starts: 2010-11-04 01:42:54.657 UTC
FIRST_SNOWFLAKE = 29_700_859_247  # ids up to here were handed out in sequence and hold no time
HOUR, WEEKDAY = "hour of the day", "weekday"
CLOCK_RECORDS = 20  # records with a time other than midnight: with fewer, the times are only dates
_TIME_BITS = 1 << 22  # the low 22 bits number the machine and the tweet within its millisecond


def tweet_time(ids: pl.Series) -> pl.Series:
    """When each id was made (UTC, without a zone); null for ids from before snowflakes and for
    anything else.

    An id that a spreadsheet turned into a float ("1.23E+18") has lost its digits: null, too.
    """
    number = _digits(ids).cast(pl.Int64, strict=False)
    milliseconds = number // _TIME_BITS + EPOCH_MS
    times = milliseconds.cast(pl.Datetime("ms")).cast(pl.Datetime("us"))
    frame = pl.DataFrame({"made": times, "number": number})
    snowflake = pl.when(pl.col("number") >= FIRST_SNOWFLAKE).then("made")
    return frame.select(snowflake.alias(ids.name)).to_series()


def first_digits(ids: pl.Series, n: int = 3) -> pl.Series:
    """The number that the first `n` digits of each id make; null for anything else."""
    return _digits(ids).str.slice(0, n).cast(pl.Int64, strict=False)


def clock(records: pl.DataFrame) -> dict[str, pl.Series]:
    """The hour and the weekday of each record, by its date or else by its tweet id. Midnight counts
    as an hour: a class whose times are missing gives itself away by it. Without real times there is
    no hour, and without dates nothing.
    """
    times = records["date"] if records["date"].count() else tweet_time(records["tweet_id"])
    if not times.count():
        return {}
    midnight = (times.dt.hour() == 0) & (times.dt.minute() == 0) & (times.dt.second() == 0)
    hours = {HOUR: times.dt.hour()} if int((~midnight).sum()) >= CLOCK_RECORDS else {}
    return {**hours, WEEKDAY: times.dt.weekday()}


def _digits(ids: pl.Series) -> pl.Series:
    text = ids if ids.dtype == pl.String else ids.cast(pl.Int64, strict=False).cast(pl.String)
    return text.str.extract(r"^\s*([1-9][0-9]{0,18})\s*$", 1)
