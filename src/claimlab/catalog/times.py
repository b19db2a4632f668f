"""Times as datasets write them, to UTC without a zone.

ISO 8601 in its variants, Unix seconds or milliseconds, and dates that name their month are read
everywhere. A spelling that needs knowing the file ("05/06/2020", "19-Feb-18") is read only where a
loader names its format. What cannot be read with certainty becomes null: a wrong date is worse than
none, because temporal checks and splits trust this column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import polars as pl

TWITTER = "%a %b %d %H:%M:%S %z %Y"
CERTAIN = (
    TWITTER,
    "%I:%M %p · %b %d, %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",  # with one digit, as in 2021-7-9; year first leaves no doubt
)
PAGE = re.compile(
    r"(\d{1,2}:\d{2} [AP]M · [A-Z][a-z]{2} \d{1,2}, \d{4})(?:\s?·.*| from .*)"
)  # Twitter's page adds client or place
UNIX = re.compile(r"\d{9,13}(\.\d+)?")
EARLIEST, LATEST = (
    1e8,
    1e10,
)  # Unix seconds, 1973 to 2286; from there on they are JavaScript's milliseconds


def utc(values: pl.Series, *formats: str) -> pl.Series:
    """`values` as a column `date`; `formats` are those of this file, for `strptime`, tried before
    the usual ones.
    """
    texts = values.cast(pl.String)
    known = {text: moment(text, *formats) for text in texts.drop_nulls().unique().to_list()}
    return pl.Series("date", [known.get(text) for text in texts.to_list()], dtype=pl.Datetime("us"))


def dated(
    readings: Mapping[str, pl.Series], *formats: str, written: pl.Series | None = None
) -> dict[str, pl.Series]:
    """The columns `date` and `date_source` from times by where they come from: of several, the
    first that is there.

    Text is read as by `utc`; `written` is the text of readings that a loader has read itself. What
    a row has in writing while no date can be read goes to `date_raw`: the catalogue counts these,
    shows one, and keeps each in `meta`.
    """
    times = {k: utc(v, *formats) if v.dtype == pl.String else v for k, v in readings.items()}
    frame = pl.DataFrame(times)
    sources = [
        pl.when(values.is_not_null()).then(pl.lit(source)) for source, values in times.items()
    ]
    dates = frame.select(
        pl.coalesce(frame.columns).alias("date"), pl.coalesce(sources).alias("date_source")
    )
    texts = [v for v in (written, *readings.values()) if v is not None and v.dtype == pl.String]
    raw = (
        pl.select(pl.coalesce(texts)).to_series()
        if texts
        else pl.Series([None] * dates.height, dtype=pl.String)
    )
    unread = raw.set(dates["date"].is_not_null(), None)
    return {
        "date": dates["date"],
        "date_source": dates["date_source"],
        "date_raw": unread.alias("date_raw"),
    }


def moment(text: str, *formats: str) -> datetime | None:
    """One time; without a zone it is taken as UTC. A day at Unix zero is what scrapers write when
    they found none.
    """
    value = " ".join(text.replace("\ufeff", "").split())
    if page := PAGE.fullmatch(value):
        value = page[1]
    if UNIX.fullmatch(value):
        return _from_unix(float(value))
    instant = _parsed(value, formats)
    if instant is None or instant.year < 1900 or instant.date() == datetime(1970, 1, 1).date():
        return None
    return instant.astimezone(UTC).replace(tzinfo=None) if instant.tzinfo else instant


def _parsed(value: str, formats: tuple[str, ...]) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for form in (*formats, *CERTAIN):
        try:
            return datetime.strptime(value, form)
        except ValueError:
            continue
    return None


def _from_unix(seconds: float) -> datetime | None:
    if seconds >= LATEST:
        seconds /= 1000
    return (
        datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        if EARLIEST <= seconds < LATEST
        else None
    )
