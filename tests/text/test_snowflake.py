"""What tweet ids tell: made-up ids with a known time, the limits of the scheme, and what is no
id.
"""

from __future__ import annotations

from datetime import datetime

import polars as pl

from claimlab.text.snowflake import EPOCH_MS, FIRST_SNOWFLAKE, first_digits, tweet_time


def snowflake(moment: datetime, low_bits: int = 0) -> int:
    milliseconds = round((moment - datetime(1970, 1, 1)).total_seconds() * 1000)
    return ((milliseconds - EPOCH_MS) << 22) | low_bits


def test_the_time_comes_back_to_the_millisecond() -> None:
    moments = [
        datetime(2011, 1, 1),
        datetime(2016, 11, 8, 23, 59, 59, 999000),
        datetime(2020, 3, 11, 12, 30, 0, 1000),
    ]
    ids = pl.Series(
        "tweet_id",
        [str(snowflake(m, low)) for m, low in zip(moments, (0, 1, (1 << 22) - 1), strict=True)],
    )
    times = tweet_time(ids)
    assert times.to_list() == moments
    assert times.dtype == pl.Datetime("us")
    assert times.name == "tweet_id"
    assert tweet_time(ids.cast(pl.Int64)).to_list() == moments


def test_ids_from_before_snowflakes_and_what_is_no_id_have_no_time() -> None:
    wrong = [
        "20",
        str(FIRST_SNOWFLAKE - 1),
        "1.23E+18",
        "1234567890123456789.0",
        "abc",
        "",
        " ",
        "-5",
        "99999999999999999999",
    ]
    assert tweet_time(pl.Series([*wrong, None])).null_count() == len(wrong) + 1


def test_first_digits() -> None:
    ids = pl.Series(["1234567890123456789", " 5678 ", "12", "x12", None])
    assert first_digits(ids).to_list() == [123, 567, 12, None, None]
    assert first_digits(ids, 2).dtype == pl.Int64
    assert first_digits(pl.Series([1234567890123456789]), 4).to_list() == [1234]
    assert first_digits(pl.Series([], dtype=pl.String)).to_list() == []
