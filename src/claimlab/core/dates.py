"""What the readers of dates share: the words and numbers of one day or time, to UTC without a zone.

How much a reader may take for certain is its own matter: a column of a file (`exchange/dates.py`),
a page of the web (`search/dates.py`) and a published dataset (`catalog/columns.py`) differ in it,
and say so with an argument.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache

from claimlab.core import packaged

FIRST_YEAR = 1900  # before it nothing was posted, and a year is a misread number
# Unix seconds, 1973 to 2286; from there on they are JavaScript's milliseconds
UNIX_FIRST, UNIX_LAST = 1e8, 1e10
_LETTERS = r"[^\s\d,./:-]"  # a letter, or a sign that a script writes on one
_CHARACTERS = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_DAY_FIRST = re.compile(
    rf"^(?:{_LETTERS}+,?\s+)?(?P<day>\d{{1,2}})(?:o|er|\.|st|nd|rd|th)?\s+(?:de\s+)?"
    rf"(?P<month>{_LETTERS}{{2,14}})\.?,?\s+(?:de\s+|del\s+)?(?P<year>\d{{4}})"
    r"(?:\s*(?:г|р|года|року)\.?)?"
)
_MONTH_FIRST = re.compile(
    rf"^(?:{_LETTERS}+,\s+)?(?P<month>{_LETTERS}{{2,14}})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?"
    r"\s+(?P<year>\d{4})"
)
_DAY_FIRST_WITHIN = re.compile(
    r"\b(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|o)?\.?\s+(?:de\s+|of\s+)?"
    r"(?P<month>[a-z]{3,12})\.?,?\s+(?:de\s+)?(?P<year>\d{4})\b"
)
_MONTH_FIRST_WITHIN = re.compile(
    r"\b(?P<month>[a-z]{3,12})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})\b"
)


def fold(text: str) -> str:
    """Lower case without accents: what the tables of words are written in."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in split if not unicodedata.combining(c)).replace("’", "'")


def day_of(year: int, month: int | None, day: int) -> datetime | None:
    """Midnight of that day; null for one that no calendar has, or whose month is not known."""
    try:
        return datetime(year, month, day) if month is not None else None
    except ValueError:
        return None


def in_utc(time: datetime) -> datetime | None:
    """The time in UTC, without its zone; one that names no zone is taken as UTC. Null where the
    calendar ends.
    """
    try:
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo is not None else time
    except OverflowError:
        return None


def plausible(time: datetime, latest: datetime | None = None) -> bool:
    """Whether something can have been published then: after 1900, and not after `latest`."""
    return time.year >= FIRST_YEAR and (latest is None or time <= latest)


def unix_time(seconds: float) -> datetime | None:
    """The time of so many seconds, or milliseconds, since 1970; null before 1973, where a number is
    more likely an id.
    """
    if seconds >= UNIX_LAST:
        seconds /= 1000
    if not UNIX_FIRST <= seconds < UNIX_LAST:
        return None
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def mail_time(text: str) -> datetime | None:
    """The time of a mail's header (RFC 2822)."""
    try:
        return in_utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def worded_day(text: str, *, within: bool) -> datetime | None:
    """A day whose month is a word in one of many languages, or a Chinese, Japanese or Korean sign.

    `within`: the day may be part of a sentence, so that its month must be a whole name in Latin
    letters; otherwise it is all of `text`, and the first letters of a month are enough.
    """
    signs = unicodedata.normalize("NFKC", text)  # composed: folding takes Korean apart
    if match := _CHARACTERS.search(signs) if within else _CHARACTERS.fullmatch(signs):
        year, month, day = map(int, match.groups())
        return day_of(year, month, day)
    folded = fold(text)
    if within:
        worded = _DAY_FIRST_WITHIN.search(folded) or _MONTH_FIRST_WITHIN.search(folded)
    else:
        worded = _DAY_FIRST.fullmatch(folded) or _MONTH_FIRST.fullmatch(folded)
    if worded is None:
        return None
    number = month_named(worded["month"]) if within else month_of(worded["month"])
    return day_of(int(worded["year"]), number, int(worded["day"]))


def month_named(name: str) -> int | None:
    """The number of a month by its whole folded name, or a short form in use."""
    return _months("names").get(name)


def month_of(name: str) -> int | None:
    """The number of a month by the first letters of its folded name; null for a name that is
    another month elsewhere.
    """
    tables = packaged.toml("claimlab.core", "months.toml")
    longer = [start for start in tables["longer"] if name.startswith(start)]
    if longer:
        return tables["longer"][max(longer, key=len)] or None
    starts: dict[str, int] = tables["starts"]
    return _months("whole").get(name) or starts.get(name[:4]) or starts.get(name[:3])


@cache
def _months(table: str) -> dict[str, int]:
    """The numbers of the months by their folded names: `names` has a row for each month, `whole`
    one for each language.
    """
    rows = packaged.toml("claimlab.core", "months.toml")[table].values()
    months = enumerate(rows if table == "names" else zip(*rows, strict=True), 1)
    return {fold(name): number for number, names in months for name in names}
