"""Times as datasets write them, to UTC without a zone: ISO 8601 in its variants, and Unix seconds or milliseconds.

What cannot be read with certainty ("March 5", "05/06/2020") becomes null: a wrong date is worse than none, because
temporal checks and splits trust this column.
"""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl

EARLIEST, LATEST = (
    1e8,
    1e10,
)  # Unix seconds (1973 to 2286): below lie years, counters, and the 0 of a scraper that found none


def utc_column(values: pl.Series) -> pl.Series:
    """`values` as UTC datetimes named "date"; unreadable ones are null."""
    texts = values.cast(pl.String)
    known = {text: utc(text) for text in texts.drop_nulls().unique().to_list()}
    return pl.Series("date", [known.get(text) for text in texts.to_list()], dtype=pl.Datetime("us"))


def dated(values: pl.Series, origin: str = "published") -> dict[str, pl.Series]:
    """The columns `date` and `date_source`; `origin` says what the times are of, where there is one."""
    date = utc_column(values)
    source = pl.select(pl.when(date.is_not_null()).then(pl.lit(origin)).alias("date_source")).to_series()
    return {"date": date, "date_source": source}


def utc(text: str | None) -> datetime | None:
    """One time: a value without a zone is taken as UTC."""
    if text is None or not text.strip():
        return None
    value = text.strip()
    try:
        return _from_unix(float(value))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _from_unix(seconds: float) -> datetime | None:
    if seconds >= LATEST:
        seconds /= 1000  # JavaScript's milliseconds
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) if EARLIEST <= seconds < LATEST else None
