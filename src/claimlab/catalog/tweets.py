"""Tweet ids as loaders meet them: text, sometimes rounded by a spreadsheet, and carrying the time they were made."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.times import dated
from claimlab.text.snowflake import tweet_time


def tweet_ids(raw: pl.Series) -> pl.Series:
    """The values that name a tweet. What a spreadsheet rounded ("1.37041E+18") names none any more: null."""
    text = raw.cast(pl.String).str.strip_chars()
    return text.set(~text.str.contains(r"^[0-9]{1,19}$").fill_null(False), None)


def rounded(raw: pl.Series, ids: pl.Series) -> list[str]:
    """A remark when some of `raw` are no ids any more."""
    lost = int((raw.is_not_null() & ids.is_null()).sum())
    return [f"{lost} tweet id(s) were rounded by a spreadsheet and name no tweet any more."] if lost else []


def sent(ids: pl.Series) -> dict[str, pl.Series]:
    """The columns `date` and `date_source` as the ids themselves tell them."""
    return dated({"snowflake id": tweet_time(ids)})
