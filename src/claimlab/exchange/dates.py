"""Dates as people write them, to times in UTC. A column is read as a whole, because 03/04/2020 alone says nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import polars as pl

SAMPLE = 500
_EARLIEST, _LATEST = datetime(1000, 1, 1), datetime(9999, 12, 31)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S %p")
_ISO = (*(f"%Y-%m-%d{t}" for t in _TIMES[:4]), "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M")
_ZONED = (
    "%Y-%m-%dT%H:%M:%S%#z", "%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%#z", "%Y-%m-%d %H:%M:%S%.f%#z",
    "%a %b %d %H:%M:%S %z %Y", "%a, %d %b %Y %H:%M:%S %z",
)  # fmt: skip
_NAMED = (
    "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d-%b-%y", "%d-%b-%Y", "%A, %B %d, %Y", "%B %d, %Y %H:%M",
    "%b %d, %Y %I:%M %p", "%Y%m%d", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y.%m.%d",
)  # fmt: skip
_DAY_FIRST = tuple(f"%d{s}%m{s}{y}{t}" for y in ("%Y", "%y") for s in "/-." for t in _TIMES)
_MONTH_FIRST = tuple(f"%m{s}%d{s}{y}{t}" for y in ("%Y", "%y") for s in "/-" for t in _TIMES)

# Month names by their first letters, which are enough: Portuguese, Spanish, French, German, Italian.
_MONTHS = {
    "jan": 1, "ene": 1, "gen": 1, "fev": 2, "feb": 2, "mar": 3, "abr": 4, "avr": 4, "apr": 4, "mai": 5, "may": 5,
    "mag": 5, "jun": 6, "juin": 6, "giu": 6, "jul": 7, "juil": 7, "lug": 7, "ago": 8, "aou": 8, "aug": 8, "set": 9,
    "sep": 9, "out": 10, "oct": 10, "okt": 10, "ott": 10, "nov": 11, "dez": 12, "dic": 12, "dec": 12,
}  # fmt: skip
_WORDED = re.compile(
    r"(?:[a-z-]+,?\s+)?(\d{1,2})(?:o|er|\.)?\s+(?:de\s+)?([a-z]{3,10})\.?,?\s+(?:de\s+|del\s+)?(\d{4})"
)
_WORD_FIRST = re.compile(r"(?:[a-z]+,\s+)?([a-z]{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")


@dataclass
class Dates:
    """`order` is said when day and month could be taken either way and the column had to decide, or could not."""

    times: pl.Series
    unparsed: int = 0
    examples: list[str] = field(default_factory=list)
    coarse: int = 0  # only a year, or a year and month: read as the first day of it
    order: str | None = None  # "day first" | "month first"
    ambiguous: bool = False


def parse_dates(column: pl.Series, day_first: bool | None = None) -> Dates:
    """Times of a text column. What cannot be read is null and counted; zones are taken into account, then dropped."""
    text = column.str.strip_chars()
    text = text.set(text == "", None)
    found = Dates(pl.Series(column.name, [None], dtype=pl.Datetime("us")).new_from_index(0, text.len()))
    _by_formats(text, found, _ISO)
    _numbers(text, found)
    for formats in (_ZONED, _NAMED):
        _by_formats(text, found, formats)
    _by_order(text, found, day_first)
    _worded(text, found)
    rest = _rest(text, found)
    found.unparsed = rest.len()
    found.examples = rest.unique(maintain_order=True).head(3).to_list()
    return found


def share_parsed(values: pl.Series) -> float:
    """The share of values that read as dates; bare numbers only count when they are plausible ones."""
    known = values.drop_nulls()
    return 1 - parse_dates(known).unparsed / known.len() if known.len() else 0.0


def _rest(text: pl.Series, found: Dates) -> pl.Series:
    return text.filter(text.is_not_null() & found.times.is_null())


def _fill(found: Dates, times: pl.Series) -> None:
    found.times = found.times.to_frame("a").with_columns(times.alias("b")).select(pl.coalesce("a", "b"))["a"]


def _by_formats(text: pl.Series, found: Dates, formats: tuple[str, ...]) -> None:
    """Try the formats that a sample of what is left shows to be in use, the commonest first."""
    while (rest := _rest(text, found)).len():
        sample = rest.gather_every(max(1, rest.len() // SAMPLE)).head(SAMPLE)
        counts = {f: _read(sample, f).count() for f in formats}
        best = max(counts, key=lambda f: counts[f])
        if not counts[best]:
            return
        before = rest.len()
        _fill(found, _read(text.set(found.times.is_not_null(), None), best))
        if _rest(text, found).len() == before:
            return


def _by_order(text: pl.Series, found: Dates, day_first: bool | None) -> None:
    """Numbers with day and month: the order that reads more of them; if both read all, as told, else month first."""
    rest = _rest(text, found)
    if not rest.len() or not rest.str.contains(r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2}").any():
        return
    readings = {}
    for name, formats in (("month first", _MONTH_FIRST), ("day first", _DAY_FIRST)):
        trial = Dates(found.times)
        _by_formats(text, trial, formats)
        readings[name] = trial
    month, day = readings["month first"], readings["day first"]
    nulls = {name: trial.times.null_count() for name, trial in readings.items()}
    if nulls["month first"] == found.times.null_count() == nulls["day first"]:
        return
    found.ambiguous = nulls["month first"] == nulls["day first"] and day_first is None and not _same(month, day)
    prefer_day = nulls["day first"] < nulls["month first"] if day_first is None else day_first
    chosen = day if prefer_day else month
    found.order = "day first" if prefer_day else "month first"
    found.times = chosen.times


def _same(a: Dates, b: Dates) -> bool:
    return bool(a.times.equals(b.times, null_equal=True))


def _read(text: pl.Series, pattern: str) -> pl.Series:
    zoned = "%z" in pattern or "%#z" in pattern
    if not zoned and not any(mark in pattern for mark in ("%H", "%I")):
        times = text.str.to_date(pattern, strict=False).cast(pl.Datetime("us"))
    else:
        times = text.str.to_datetime(pattern, strict=False, time_unit="us", time_zone="UTC" if zoned else None)
        times = times.dt.replace_time_zone(None)
    plausible = (times >= _EARLIEST) & (times <= _LATEST)  # %Y also reads 20 as the year 20
    return pl.select(pl.when(plausible).then(times)).to_series()


def _numbers(text: pl.Series, found: Dates) -> None:
    """Seconds or milliseconds since 1970 (as a spreadsheet may write them, with .0), bare years, years with month."""
    if not _rest(text, found).len():
        return
    digits = text.set(found.times.is_not_null(), None).str.strip_suffix(".0")
    if not digits.str.contains(r"^\d{4}(-\d{2})?$|^\d{9,13}$").any():
        return
    whole = digits.str.extract(r"^(\d{9,13})$", 1).cast(pl.Int64, strict=False)
    frame = pl.DataFrame({"n": whole, "t": digits})
    epoch = pl.when(pl.col("n") >= 10**11).then(pl.col("n") * 1000).otherwise(pl.col("n") * 1_000_000)
    month = pl.col("t").str.extract(r"^((?:1[5-9]|20)\d{2}-\d{2})$", 1) + "-01"
    year = pl.col("t").str.extract(r"^((?:1[5-9]|20)\d{2})$", 1) + "-01-01"
    read = frame.select(
        epoch.cast(pl.Datetime("us")).alias("epoch"),
        pl.coalesce(month, year).str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us")).alias("coarse"),
    )
    found.coarse = read["coarse"].count()
    _fill(found, read.select(pl.coalesce("epoch", "coarse")).to_series())


def _worded(text: pl.Series, found: Dates) -> None:
    """What no format reads: month names in other languages, mail headers, ISO 8601 in its rarer spellings."""
    rest = _rest(text, found).unique(maintain_order=True)
    if not any(_one(value) for value in rest.gather_every(max(1, rest.len() // SAMPLE)).head(SAMPLE)):
        return  # a column that holds no dates is not read a million times to make sure
    table = {value: time for value in rest.to_list() if (time := _one(value)) is not None}
    if table:
        _fill(found, text.replace_strict(table, default=None, return_dtype=pl.Datetime("us")))


def _one(value: str) -> datetime | None:
    folded = "".join(c for c in unicodedata.normalize("NFKD", value.casefold()) if not unicodedata.combining(c))
    worded, first = _WORDED.fullmatch(folded), _WORD_FIRST.fullmatch(folded)
    try:
        if worded and (month := _month(worded[2])):
            return datetime(int(worded[3]), month, int(worded[1]))
        if first and (month := _month(first[1])):
            return datetime(int(first[3]), month, int(first[2]))
        time = datetime.fromisoformat(value)
    except ValueError:
        try:
            time = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    try:
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except OverflowError:
        return None


def _month(name: str) -> int | None:
    return _MONTHS.get(name[:4]) or _MONTHS.get(name[:3])
