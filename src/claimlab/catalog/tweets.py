"""Tweet ids as loaders meet them: text, sometimes rounded by a spreadsheet, and carrying the time
they were made.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.times import dated
from claimlab.text.snowflake import tweet_time


def tweet_ids(raw: pl.Series) -> pl.Series:
    """The values that name a tweet. What a spreadsheet rounded ("1.37041E+18") names none any more:
    null.
    """
    text = raw.cast(pl.String).str.strip_chars()
    return text.set(~text.str.contains(r"^[0-9]{1,19}$").fill_null(False), None)


def sent(ids: pl.Series) -> dict[str, pl.Series]:
    """The columns `date` and `date_source` as the ids themselves tell them."""
    return dated({"snowflake id": tweet_time(ids)})
