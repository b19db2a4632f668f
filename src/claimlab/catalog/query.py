"""Choose datasets by what their cards say.

    catalog(topic="covid", language="Portuguese", quality="keywords=pass", loadable=True)

Several values of one criterion mean "any of these", several criteria "all of these". A card that
does not say what a criterion asks for is never taken: not known is not a yes. A value that no card
could have is an error that names the near miss; a proper value that no card happens to have just
finds nothing.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, TypedDict, get_args

from claimlab.catalog.card import Modality
from claimlab.catalog.entry import MARKS, Entry
from claimlab.catalog.load import DATASETS
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.options import Option, Setting
from claimlab.core.settings import each_of
from claimlab.core.types import JsonObject

Words = str | Sequence[str]
GRADES = ("pass", "fail", "not-assessed")
SURVEYS = ("cdl", "cdl-claims", "cdl-paragraphs", "cdl-listed")
NONE_STATED = "none"
FREE_WORDS: dict[str, Callable[[Entry], str | None]] = {
    "topic": lambda e: e.card.topic,
    "region": lambda e: e.card.region,
    "licence": lambda e: e.card.licence or NONE_STATED,
}
FLAGS: dict[str, Callable[[Entry], bool]] = {
    "evidence": lambda e: e.card.has_evidence,
    "loadable": lambda e: bool(e.variants),
    "tested": lambda e: e.tested,
}


@dataclass(frozen=True)
class Criterion:
    """One thing asked for: in the caller's words, and as a test of an entry."""

    words: str
    keeps: Callable[[Entry], bool]


class Filters(TypedDict, total=False):
    """What a card must say. Several values of one criterion mean "any of these"."""

    topic: Annotated[Words, Option("A topic, such as covid; may be repeated.", metavar="WORD")]
    language: Annotated[
        Words, Option("A language in any spelling: pt, por, Portuguese.", metavar="LANGUAGE")
    ]
    modality: Annotated[
        Words, Option("claims, articles, posts, tweets, images, ...", metavar="KIND")
    ]
    region: Annotated[Words, Option("A region, such as Brazil.", metavar="WORD")]
    licence: Annotated[Words, Setting("How the licence starts: MIT, CC, none.", metavar="WORD")]
    min_size: Annotated[
        int | None, Option("At least N records, as published.", least=0, metavar="N")
    ]
    max_size: Annotated[
        int | None, Setting("At most N records, as published.", least=0, metavar="N")
    ]
    since: Annotated[
        str | None,
        Option("Data from this year, month or day: 2020-03.", flag="--from", metavar="DATE"),
    ]
    until: Annotated[
        str | None, Option("Data up to this year, month or day.", flag="--to", metavar="DATE")
    ]
    quality: Annotated[
        Words,
        Option(
            "A published verdict: keywords=pass, time=fail, feasibility=not-assessed.",
            metavar="MARK=VERDICT",
        ),
    ]
    survey: Annotated[
        Words,
        Setting("Place in the guide: cdl-claims, cdl-paragraphs, cdl-listed, or cdl."),
    ]
    evidence: Annotated[bool, Setting("Only those that come with evidence.", default=False)]
    loadable: Annotated[bool, Option("Only those with a loader.", default=False)]
    tested: Annotated[
        bool,
        Setting("Only those whose loader is tested on the published files.", default=False),
    ]


def criteria_of(filters: Filters, entries: Sequence[Entry]) -> list[Criterion]:
    """A criterion for each filter, and for each published verdict."""
    values: JsonObject = {**filters}
    words = {name: each_of(values.get(name, ())) for name in (*FREE_WORDS, *LISTS, "quality")}
    return [
        *(worded(name, words[name], entries) for name in FREE_WORDS if words[name]),
        *(listed(name, words[name]) for name in LISTS if words[name]),
        *map(graded, words["quality"]),
        *sized(filters.get("min_size"), filters.get("max_size")),
        *dated(filters.get("since"), filters.get("until")),
        *(Criterion(f"`{name}=True`", keeps) for name, keeps in FLAGS.items() if values.get(name)),
    ]


def everything() -> list[Entry]:
    return list(DATASETS.all().values())


def unnamed_languages(entries: Iterable[Entry]) -> int:
    """How many cards give only a number of languages, so that no question for a language can find
    them.
    """
    return sum(1 for e in entries if not e.card.languages and e.card.language_count)


def phrases(text: str) -> list[str]:
    """The parts of a list written as prose: 'Politics & Celebrities' -> Politics, Celebrities."""
    parts = [part.strip() for part in re.split(r",|;|&|\band\b", text)]
    return [part[:1].upper() + part[1:] for part in parts if part]


def first_day(text: str) -> date:
    """The first day of a year, month or day in ISO 8601."""
    year, month, day = _date_parts(text)
    return date(year, month or 1, day or 1)


def last_day(text: str) -> date:
    year, month, day = _date_parts(text)
    month = month or 12
    return date(year, month, day or calendar.monthrange(year, month)[1])


def _date_parts(text: str) -> tuple[int, int | None, int | None]:
    match = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", text.strip())
    problem = f"'{text}' is not a date."
    todo = "Give a year, a month or a day: 2020, 2020-03 or 2020-03-01."
    if match is None:
        raise UsageError(problem, todo)
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        date(year or 1, month or 1, day or 1)
    except ValueError:
        raise UsageError(problem, todo) from None
    return year or 1, month, day


def as_options(option: str, values: Sequence[str]) -> str:
    return " ".join(f"`{option}={v}`" for v in values)


def worded(option: str, values: Sequence[str], entries: Sequence[Entry]) -> Criterion:
    """Free words on cards: a value finds those in which a word starts with it, so that 'covid'
    finds 'Covid-19'.
    """
    of = FREE_WORDS[option]
    there = {text for e in entries if (text := of(e))}
    for value in values:
        if not any(_starts_a_word(value, text) for text in there):
            raise UnknownName(
                option, value, {phrase.lower() for text in there for phrase in phrases(text)}
            )
    return Criterion(
        as_options(option, values), lambda e: any(_starts_a_word(v, of(e) or "") for v in values)
    )


def _starts_a_word(value: str, text: str) -> bool:
    start = value.strip().casefold()
    return bool(start) and re.search(rf"(?<!\w){re.escape(start)}", text.casefold()) is not None


def listed(option: str, values: Sequence[str]) -> Criterion:
    """Names of a list: a card has one of them or not."""
    known, of = LISTS[option]
    wanted = {known(value) for value in values}
    return Criterion(as_options(option, values), lambda e: not wanted.isdisjoint(of(e)))


def _language(value: str) -> str:
    from claimlab.core.languages import normalise, table

    code = normalise(value)
    if code is None:
        raise UnknownName("language", value, (lang.name.lower() for lang in table().values()))
    return code


def _one_of(option: str, allowed: Sequence[str], value: str) -> str:
    key = value.strip().lower().replace("_", "-").replace(" ", "-")
    if key not in allowed:
        raise UnknownName(option, value, allowed)
    return key


LISTS: dict[str, tuple[Callable[[str], str], Callable[[Entry], Iterable[str]]]] = {
    "language": (_language, lambda e: e.card.languages),
    "modality": (partial(_one_of, "modality", get_args(Modality)), lambda e: e.card.modality),
    "survey": (
        partial(_one_of, "survey", SURVEYS),
        lambda e: ["cdl", e.card.survey] if e.card.survey else [],
    ),
}


def graded(text: str) -> Criterion:
    mark, equals, grade = text.partition("=")
    if not equals:
        raise UsageError(
            f"'{text}' names no verdict.",
            f"Write it as `quality={text}=pass` (or fail, not-assessed).",
        )
    mark = {"temporal": "time"}.get(mark.strip().lower(), mark)
    field = MARKS[_one_of("quality mark", tuple(MARKS), mark)]
    wanted = _one_of("verdict", GRADES, grade)
    value = None if wanted == "not-assessed" else wanted
    return Criterion(f"`quality={text}`", lambda e: getattr(e.card.quality, field, None) == value)


def sized(low: int | None, high: int | None) -> list[Criterion]:
    if low is not None and high is not None and low > high:
        raise UsageError(f"`min_size={low}` is above `max_size={high}`.", "Swap them.")

    def within(entry: Entry, least: float, most: float) -> bool:
        return entry.card.size is not None and least <= entry.card.size <= most

    least = [Criterion(f"`min_size={low}`", lambda e: within(e, low or 0, math.inf))]
    most = [Criterion(f"`max_size={high}`", lambda e: within(e, 0, high or 0))]
    return [*(least if low is not None else []), *(most if high is not None else [])]


def dated(since: str | None, until: str | None) -> list[Criterion]:
    """A dataset is taken when its data reach into the span asked for; one end that is not published
    is as the other.
    """
    start = first_day(since) if since else date.min
    end = last_day(until) if until else date.max
    if start > end:
        raise UsageError(f"`since={since}` is after `until={until}`.", "Swap them.")

    def reaches(entry: Entry, start: date, end: date) -> bool:
        span = span_of(entry)
        return span is not None and span[1] >= start and span[0] <= end

    after = [Criterion(f"`since={since}`", lambda e: reaches(e, start, date.max))]
    before = [Criterion(f"`until={until}`", lambda e: reaches(e, date.min, end))]
    return [*(after if since else []), *(before if until else [])]


def span_of(entry: Entry) -> tuple[date, date] | None:
    """First and last day of the data, as precise as published; null when neither is."""
    start, end = (
        entry.card.time_start or entry.card.time_end,
        entry.card.time_end or entry.card.time_start,
    )
    return (first_day(start), last_day(end)) if start and end else None
