"""Dates as people write them, to times in UTC. A column is read as a whole, because 03/04/2020
alone says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from operator import itemgetter

import polars as pl

from claimlab.core import packaged
from claimlab.core.dates import in_utc, mail_time, worded_day
from claimlab.text.rows import not_ascii

SAMPLE = 500
NO_DATES = (date(1970, 1, 1), date(1900, 1, 1))  # what software writes when it knows no date
PLACEHOLDER, STRIKING = (
    0.5,
    0.1,
)  # share of dates that are the same day: treated as missing; reported
PLACEHOLDER_ROWS = 20  # fewer dates are not reported
# a day with so many dates, and so many times those of the next day, is treated as missing, too
OUTLIER_ROWS, OUTLIER = 100, 10
BUDDHIST, AHEAD = (2443, 2643), 543  # years of its calendar from 1900 to 2100
_EARLIEST, _LATEST = datetime(1500, 1, 1), datetime(9999, 12, 31)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S %p")
_DAY_FIRST = (
    *(f"%d{s}%m{s}{y}{t}" for y in ("%Y", "%y") for s in "/-." for t in _TIMES),
    "%d.%m.%Y.",
)
_MONTH_FIRST = tuple(f"%m{s}%d{s}{y}{t}" for y in ("%Y", "%y") for s in "/-" for t in _TIMES)

_FORMATS = packaged.toml("claimlab.exchange", "date_formats.toml")
_ISO, _ZONED, _NAMED = (_FORMATS[name] for name in ("iso", "zoned", "named"))
_OTHER_DIGITS = "[٠-٩۰-۹०-९০-৯]"
_DIGITS = {chr(zero + i): str(i) for zero in (0x660, 0x6F0, 0x966, 0x9E6) for i in range(10)}
_NUMERIC = r"^\d{1,2}[/.-] ?\d{1,2}[/.-] ?\d{2}"
_CLOCK_FIRST = re.compile(r"(\d{1,2}):(\d{2})\s*+([ap])?\.?m?\.?\s*+[·•,|-]\s*+(\S.*)")


@dataclass
class Dates:
    """`order` is said when day and month could be taken either way and the column had to decide, or
    could not.
    """

    times: pl.Series
    unparsed: int = 0
    examples: list[str] = field(default_factory=list)
    coarse: int = 0  # only a year, or a year and month: read as the first day of it
    order: str | None = None  # "day first" | "month first"
    ambiguous: int = 0  # could be read either way, so that they are null
    formats: dict[str, int] = field(
        default_factory=dict
    )  # how dates were written, and how many of them
    placeholders: dict[str, int] = field(
        default_factory=dict
    )  # what was set to null for being no date
    common: tuple[str, int] | None = None  # a date that strikingly many rows have, but not most

    def drop_placeholders(self) -> None:
        """Set to null what software writes for no date at all, and one date that most rows have."""
        days = self.times.dt.date().alias("day")
        counts = (
            days.drop_nulls()
            .value_counts(name="n")
            .sort(["n", days.name], descending=[True, False])
        )
        dated = int(counts["n"].sum())
        drop = {day for day in counts[days.name] if day in NO_DATES}
        if dated >= PLACEHOLDER_ROWS and self.coarse * 2 < dated:
            day, n = counts.row(0)
            if _stands_out(counts["n"].to_list(), dated):
                drop.add(day)
            elif n > max(STRIKING * dated, PLACEHOLDER_ROWS) and day not in drop:
                self.common = (day.isoformat(), n)
        self.placeholders = {day.isoformat(): n for day, n in counts.iter_rows() if day in drop}
        if drop:
            self.times = self.times.set(days.is_in(list(drop)).fill_null(False), None)


def _stands_out(counts: Sequence[int], dated: int) -> bool:
    """Whether most rows have the commonest date, or so many more than have the next one."""
    most, second = [*counts, 0][:2]
    alone = most >= OUTLIER_ROWS and most > STRIKING * dated and most > OUTLIER * second
    return most > PLACEHOLDER * dated or alone


def parse_dates(column: pl.Series, day_first: bool | None = None) -> Dates:
    """Times of a text column. What cannot be read is null and counted; zones are taken into
    account, then dropped.
    """
    text = column.str.strip_chars()
    text = text.set(text == "", None)
    if not_ascii(text).any() and text.str.contains(_OTHER_DIGITS).any():
        text = text.str.replace_many(list(_DIGITS), list(_DIGITS.values()))
    dates = Dates(
        pl.Series(column.name, [None], dtype=pl.Datetime("us")).new_from_index(0, text.len())
    )
    _by_formats(text, dates, _ISO)
    _numbers(text, dates)
    for formats in (_ZONED, _NAMED):
        _by_formats(text, dates, formats)
    _by_order(text, dates, day_first)
    _worded(text, dates)
    _in_buddhist_years(dates)
    rest = _rest(text, dates)
    if dates.ambiguous:
        rest = rest.filter(~rest.str.contains(_NUMERIC))
    dates.unparsed = rest.len()
    dates.examples = rest.unique(maintain_order=True).head(3).to_list()
    return dates


def _in_buddhist_years(dates: Dates) -> None:
    """Thai years are 543 ahead: 2564 is 2021."""
    last = dates.times.max()
    if not isinstance(last, datetime) or last.year <= BUDDHIST[0]:
        return
    ahead = int(dates.times.dt.year().is_between(*BUDDHIST).sum())
    if ahead > PLACEHOLDER * dates.times.count():
        dates.times = dates.times.dt.offset_by(f"-{AHEAD}y")
        order = f"{dates.order} and " if dates.order else ""
        dates.order = f"{order}years of the Buddhist calendar"


def share_parsed(values: pl.Series) -> float:
    """The share of values that read as dates; bare numbers only count when they are plausible
    ones.
    """
    known = values.drop_nulls()
    return 1 - parse_dates(known).unparsed / known.len() if known.len() else 0.0


def _rest(text: pl.Series, dates: Dates) -> pl.Series:
    if not _left(text, dates):
        return text.clear()
    return text.filter(text.is_not_null() & dates.times.is_null())


def _left(text: pl.Series, dates: Dates) -> int:
    """How many are not read yet: what is null has no time."""
    return dates.times.null_count() - text.null_count()


def _fill(dates: Dates, times: pl.Series) -> None:
    dates.times = dates.times.to_frame("a").with_columns(b=times).select(pl.coalesce("a", "b"))["a"]


def _by_formats(text: pl.Series, dates: Dates, formats: Sequence[str]) -> None:
    """Try the formats that a sample of what is left shows to be in use, the commonest first."""
    while (rest := _rest(text, dates)).len():
        sample = rest.gather_every(max(1, rest.len() // SAMPLE)).head(SAMPLE)
        counts = sample.to_frame("text").select(
            _plausible(_times(form)).sum().alias(form) for form in formats
        )
        best, most = max(counts.row(0, named=True).items(), key=itemgetter(1))
        if not most:
            return
        unread = text.set(dates.times.is_not_null(), None) if dates.times.count() else text
        times = unread.to_frame("text").select(t=_times(best))  # apart, or it is read three times
        _fill(dates, times.select(pl.when(_plausible(pl.col("t"))).then("t")).to_series())
        read = rest.len() - _left(text, dates)
        if not read:
            return
        dates.formats[best] = dates.formats.get(best, 0) + read


def _by_order(text: pl.Series, dates: Dates, day_first: bool | None) -> None:
    """Numeric dates: the order of day and month that parses more of them; if both parse all,
    `day_first`, else none.
    """
    rest = _rest(text, dates)
    if not rest.len() or not rest.str.contains(_NUMERIC).any():
        return
    readings = {}
    for name, formats in (("month first", _MONTH_FIRST), ("day first", _DAY_FIRST)):
        trial = Dates(dates.times, formats=dict(dates.formats))
        _by_formats(text, trial, formats)
        readings[name] = trial
    month, day = readings["month first"], readings["day first"]
    nulls = {name: trial.times.null_count() for name, trial in readings.items()}
    if nulls["month first"] == dates.times.null_count() == nulls["day first"]:
        return
    if (
        nulls["month first"] == nulls["day first"]
        and day_first is None
        and not month.times.equals(day.times)
    ):
        dates.ambiguous = dates.times.null_count() - nulls["day first"]
        return
    prefer_day = nulls["day first"] < nulls["month first"] if day_first is None else day_first
    chosen = day if prefer_day else month
    dates.order = "day first" if prefer_day else "month first"
    dates.times, dates.formats = chosen.times, chosen.formats


@cache
def _times(pattern: str) -> pl.Expr:
    """The times of the column `text`, read by one pattern."""
    text = pl.col("text")
    zoned = "%z" in pattern or "%#z" in pattern
    if not zoned and not any(mark in pattern for mark in ("%H", "%I")):
        return text.str.to_date(pattern, strict=False).cast(pl.Datetime("us"))
    times = text.str.to_datetime(
        pattern, strict=False, time_unit="us", time_zone="UTC" if zoned else None
    )
    return times.dt.replace_time_zone(None)


def _plausible(times: pl.Expr) -> pl.Expr:
    """%Y also reads 20 as the year 20."""
    return times.is_between(_EARLIEST, _LATEST)


def _numbers(text: pl.Series, dates: Dates) -> None:
    """Seconds or milliseconds since 1970 (as a spreadsheet may write them, with .0), bare years,
    years with month.
    """
    if not _rest(text, dates).len():
        return
    digits = (
        text.set(dates.times.is_not_null(), None)
        .str.replace(r"^(\d{9,13})\.\d+$", "$1")
        .str.strip_suffix(".0")
    )
    if not digits.str.contains(r"^\d{4}(-\d{2})?$|^\d{9,13}$").any():
        return
    whole = digits.str.extract(r"^(\d{9,13})$", 1).cast(pl.Int64, strict=False)
    frame = pl.DataFrame({"n": whole, "t": digits})
    epoch = (
        pl.when(pl.col("n") >= 10**11).then(pl.col("n") * 1000).otherwise(pl.col("n") * 1_000_000)
    )
    month = pl.col("t").str.extract(r"^((?:1[5-9]|20)\d{2}-\d{2})$", 1) + "-01"
    year = pl.col("t").str.extract(r"^((?:1[5-9]|20)\d{2})$", 1) + "-01-01"
    read = frame.select(
        epoch=epoch.cast(pl.Datetime("us")),
        coarse=pl.coalesce(month, year)
        .str.to_date("%Y-%m-%d", strict=False)
        .cast(pl.Datetime("us")),
    )
    dates.coarse = read["coarse"].count()
    _fill(dates, read.select(pl.coalesce("epoch", "coarse")).to_series())


def _worded(text: pl.Series, dates: Dates) -> None:
    """What no format reads: month names in other languages, mail headers, ISO 8601 in its rarer
    spellings.
    """
    rest = _rest(text, dates).unique(maintain_order=True)
    if not any(
        _time_of(value) for value in rest.gather_every(max(1, rest.len() // SAMPLE)).head(SAMPLE)
    ):
        return  # a column that holds no dates is not read a million times to make sure
    table = {value: time for value in rest.to_list() if (time := _time_of(value)) is not None}
    if table:
        _fill(dates, text.replace_strict(table, default=None, return_dtype=pl.Datetime("us")))


def _time_of(value: str) -> datetime | None:
    clock = _CLOCK_FIRST.fullmatch(value.casefold().strip())
    if clock is not None and (day := _time_of(clock[4])) is not None:  # 3:36 PM · Jan 24, 2020
        hour = int(clock[1]) % 12 + 12 * (clock[3] == "p") if clock[3] else int(clock[1])
        minute = int(clock[2])
        valid = hour < 24 and minute < 60
        return day + timedelta(hours=hour, minutes=minute) if valid else None
    if (day := worded_day(value, within=False)) is not None:
        return day
    try:
        return in_utc(datetime.fromisoformat(value))
    except ValueError:
        return mail_time(value)
