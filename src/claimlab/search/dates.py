"""When something was published, parsed by claimlab: no provider's filter decides what is newer than
a claim.

Understood: ISO 8601, RFC 2822, "4 de março de 2021", "Mar 4, 2021", "4. März 2021", "2021年3月4日",
numeric dates whose order is certain, and "3 days ago" counted back from the time of retrieval.
Search engines round ages down, so a relative date is the latest the page can be: an error drops a
piece of evidence, it never lets a later one in. A date that is ambiguous (03/04/2021 in English, a
bare month) is null.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

from claimlab.core import packaged
from claimlab.core.dates import day_of, fold, in_utc, mail_time, month_named, plausible, worded_day

# Languages that write the day first, so that 03/04/2021 is the third of April.
_DAY_FIRST = "por spa deu fra ita nld pol rus ukr tur ron cat glg ell"
DAY_FIRST = frozenset(_DAY_FIRST.split())
_URL_DATE = re.compile(
    r"(?:^|[/_-])((?:19|20)\d\d)[/_-]?(0[1-9]|1[0-2]|[A-Za-z]{3,9})[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)"
)


class Dated(NamedTuple):
    """When, and where that was read: the result itself, an age relative to retrieval, the page, or
    its address.
    """

    published: datetime | None
    dated_from: str | None


NO_DATE = Dated(None, None)


def read_date(raw: object, *, retrieved: datetime, language: str | None = None) -> Dated:
    """The date that `raw` states, as UTC; no date when it is absent, uncertain, before 1900 or in
    the future.
    """
    if not isinstance(raw, str) or not raw.strip():
        return NO_DATE
    text = raw.strip()
    stated = _iso(text) or _mail(text) or worded_day(text, within=True) or _numeric(text, language)
    if stated is not None:
        return Dated(stated, "result") if _plausible(stated, retrieved) else NO_DATE
    ago = _ago(text, retrieved)
    return Dated(ago, "relative") if ago is not None and _plausible(ago, retrieved) else NO_DATE


def date_of(
    *candidates: object, url: str | None, retrieved: datetime, language: str | None = None
) -> Dated:
    """The first candidate that states a date; as a last resort the date in the address, marked as
    such.
    """
    for raw in candidates:
        date = read_date(raw, retrieved=retrieved, language=language)
        if date.published is not None:
            return date
    return url_date(url, retrieved=retrieved) if url else NO_DATE


def url_date(url: str, *, retrieved: datetime) -> Dated:
    """The day in an address such as /2021/03/04/ or /2021-03-04-storm or /2021/mar/04/."""
    for match in _URL_DATE.finditer(urlsplit(url).path):
        year, month, day = match.groups()
        number = int(month) if month.isdigit() else month_named(fold(month))
        published = day_of(int(year), number, int(day))
        if published is not None and _plausible(published, retrieved):
            return Dated(published, "url")
    return NO_DATE


def _iso(text: str) -> datetime | None:
    if not re.match(r"\d{4}-?\d\d-?\d\d(?!\d)", text):
        return None
    tidy = re.sub(r"([.,]\d{6})\d+", r"\1", text)  # Google writes nanoseconds
    tidy = re.sub(r"(?<!\s)\s*(?:UTC|GMT)$", "Z", tidy)
    try:
        return in_utc(datetime.fromisoformat(tidy))
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    if not re.match(r"(?:[A-Za-z]{3,9},? +)?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d", text):
        return None
    return mail_time(text)


def _numeric(text: str, language: str | None) -> datetime | None:
    if match := re.search(r"(?<!\d)(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)", text):
        return day_of(int(match[1]), int(match[2]), int(match[3]))
    match = re.search(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)", text)
    if match is None:
        return None
    first, mark, second, year = int(match[1]), match[2], int(match[3]), int(match[4])
    if first > 12 or mark == "." or language in DAY_FIRST or first == second:
        return day_of(year, second, first)
    return day_of(year, first, second) if second > 12 else None


def _ago(text: str, retrieved: datetime) -> datetime | None:
    phrase = " ".join(fold(text).split()).rstrip(".")
    words = _ages()
    for days, names in enumerate((words.today, words.yesterday)):
        if phrase in names:
            return _midnight(retrieved - timedelta(days=days))
    match = words.phrase.fullmatch(phrase)
    if match is None:
        return None
    number, unit = (
        next(v for k, v in match.groupdict().items() if v is not None and k.startswith(part))
        for part in "nu"
    )
    return _back(retrieved, int(number) if number.isdigit() else 1, words.units[unit])


def _back(retrieved: datetime, number: int, unit: str) -> datetime | None:
    try:
        if unit in ("month", "year"):
            before = number * (12 if unit == "year" else 1)
            year, month = divmod(retrieved.year * 12 + retrieved.month - 1 - before, 12)
            last = monthrange(year, month + 1)[1]
            return datetime(year, month + 1, min(retrieved.day, last))
        moment = retrieved - timedelta(**{f"{unit}s": number})
    except (ValueError, OverflowError):
        return None
    exact = unit in ("second", "minute", "hour")
    return moment.replace(microsecond=0) if exact else _midnight(moment)


class _Ages(NamedTuple):
    phrase: re.Pattern[str]
    units: dict[str, str]
    today: frozenset[str]
    yesterday: frozenset[str]


@cache
def _ages() -> _Ages:
    raw = packaged.toml("claimlab.search", "ago.toml")
    units = {word: unit for unit, words in raw["units"].items() for word in words}
    number = "|".join([r"\d{1,4}", *map(re.escape, raw["one"])])
    unit = "|".join(sorted(map(re.escape, units), key=len, reverse=True))
    frames = []
    for i, frame in enumerate(raw["frames"]):
        parts = {"n": f"(?P<n{i}>{number})", "unit": f"(?P<u{i}>{unit})"}
        frames.append(frame.replace(" ", r"\s*").format(**parts))
    return _Ages(
        re.compile("|".join(frames)), units, frozenset(raw["today"]), frozenset(raw["yesterday"])
    )


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _plausible(moment: datetime, retrieved: datetime) -> bool:
    """A page cannot be newer than its retrieval, but for the day that zones may differ by."""
    return plausible(moment, latest=retrieved + timedelta(days=1))
