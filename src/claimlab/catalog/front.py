"""The catalogue as a user asks for it: the datasets that match, as a list or a table.

    catalog(topic="covid", language="Portuguese", quality="keywords=pass", loadable=True)

Several values of one criterion mean "any of these", several criteria "all of these". A card that
does not say what a criterion asks for is never taken: not known is not a yes. A value that no card
could have is an error that names the near miss; a proper value that no card happens to have just
finds nothing.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, TypedDict, Unpack, get_args

import polars as pl

from claimlab.catalog.entry import MARKS, Entry, Modality, loader_state
from claimlab.catalog.load import DATASETS
from claimlab.catalog.sources import sources_of
from claimlab.core.call import in_storage
from claimlab.core.choices import each_of
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.options import InPython, Option, Setting
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several

Words = str | Sequence[str]
GRADES = ("pass", "fail", "not-assessed")
SURVEYS = ("cdl", "cdl-claims", "cdl-paragraphs", "cdl-listed")
NONE_STATED = "none"
FREE_WORDS: dict[str, Callable[[Entry], str | None]] = {
    "topic": lambda e: e.card.topic,
    "region": lambda e: e.card.region,
    "licence": lambda e: e.card.licence or NONE_STATED,
    "task": lambda e: e.card.task,
}
FLAGS: dict[str, Callable[[Entry], bool]] = {
    "evidence": lambda e: e.card.has_evidence,
    "loadable": lambda e: bool(e.variants),
    "available": lambda e: sources_of(e.card.name) is not None,
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
        Words, Setting("claims, articles, posts, tweets, images, ...", metavar="KIND")
    ]
    region: Annotated[Words, Setting("A region, such as Brazil.", metavar="WORD")]
    licence: Annotated[Words, Setting("How the licence starts: MIT, CC, none.", metavar="WORD")]
    task: Annotated[Words, Setting("What the labels are about, such as stance.", metavar="WORD")]
    min_size: Annotated[
        int | None, Setting("At least N records, as published.", least=0, metavar="N")
    ]
    max_size: Annotated[
        int | None, Setting("At most N records, as published.", least=0, metavar="N")
    ]
    since: Annotated[
        str | None,
        Setting("Data from this year, month or day: 2020-03.", metavar="DATE"),
    ]
    until: Annotated[str | None, Setting("Data up to this year, month or day.", metavar="DATE")]
    quality: Annotated[
        Words,
        Setting(
            "A published verdict: keywords=pass, time=fail, feasibility=not-assessed.",
            metavar="MARK=VERDICT",
        ),
    ]
    survey: Annotated[
        Words,
        Setting("Place in the guide: cdl-claims, cdl-paragraphs, cdl-listed, or cdl."),
    ]
    evidence: Annotated[bool, Setting("Only those that come with evidence.", default=False)]
    loadable: Annotated[bool, Setting("Only those with a loader.", default=False)]
    available: Annotated[
        bool, Setting("Only those that `load NAME` downloads by itself.", default=False)
    ]
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
        *sized(filters),
        *timed(filters),
        *(Criterion(f"`{name}=True`", keeps) for name, keeps in FLAGS.items() if values.get(name)),
    ]


def everything() -> list[Entry]:
    return list(DATASETS.all().values())


def phrases(text: str) -> list[str]:
    """The parts of a list written as prose: 'Politics & Celebrities' -> Politics, Celebrities."""
    parts = [part.strip() for part in re.split(r",|;|&|\band\b", text)]
    return [part[:1].upper() + part[1:] for part in parts if part]


def days(text: str) -> tuple[date, date]:
    """The first and the last day of a year, month or day in ISO 8601."""
    if match := re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", text.strip()):
        year, month, day = (int(part or 0) for part in match.groups())
        with suppress(ValueError):
            last = calendar.monthrange(year, month or 12)[1]
            return date(year, month or 1, day or 1), date(year, month or 12, day or last)
    raise UsageError(
        f"'{text}' is not a date.", "Give a year, a month or a day: 2020, 2020-03 or 2020-03-01."
    )


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
    code_of, of = LISTS[option]
    wanted = {code_of(value) for value in values}
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


def sized(filters: Filters) -> Iterator[Criterion]:
    low, high = filters.get("min_size"), filters.get("max_size")
    if low is not None and high is not None and low > high:
        raise UsageError(f"`min_size={low}` is above `max_size={high}`.", "Swap them.")
    if low is not None:
        yield Criterion(
            f"`min_size={low}`", lambda e: e.card.size is not None and low <= e.card.size
        )
    if high is not None:
        yield Criterion(f"`max_size={high}`", lambda e: e.card.size in range(high + 1))


def timed(filters: Filters) -> Iterator[Criterion]:
    """A dataset is taken when its data reach into the span asked for."""
    since, until = filters.get("since"), filters.get("until")
    start, end = days(since)[0] if since else date.min, days(until)[1] if until else date.max
    if start > end:
        raise UsageError(f"`since={since}` is after `until={until}`.", "Swap them.")
    never = (date.max, date.min)  # of a card that gives no time
    if since:
        yield Criterion(f"`since={since}`", lambda e: start <= (span_of(e) or never)[1])
    if until:
        yield Criterion(f"`until={until}`", lambda e: (span_of(e) or never)[0] <= end)


def span_of(entry: Entry) -> tuple[date, date] | None:
    """First and last day of the data, as precise as published; one end that is not published is as
    the other, and without both it is null.
    """
    ends = [text for text in (entry.card.time_start, entry.card.time_end) if text]
    return (days(ends[0])[0], days(ends[-1])[1]) if ends else None


@dataclass(frozen=True, repr=False)
class Listing(Shown):
    """The entries that meet every criterion in `asked`, of those in `pool`."""

    entries: list[Entry]
    pool: list[Entry]
    criteria: list[Criterion]
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        return f"{len(self.entries)} of {len(self.pool)} datasets"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each dataset."""
        kinds: dict[str, pl.DataType | type[pl.DataType]] = {
            "size": pl.Int64,
            "modality": pl.List(pl.String),
            "languages": pl.List(pl.String),
        }
        names = ("name", "title", "size", "modality", "topic", "region", "languages", "licence")
        rows = [
            {
                **{n: getattr(e.card, n) for n in names},
                "loader": loader_state(e),
                "available": sources_of(e.card.name) is not None,
            }
            for e in self.entries
        ]
        return pl.DataFrame(
            rows, schema={name: kinds.get(name, pl.String) for name in (*names, "loader")}
        )

    def alone(self) -> list[tuple[str, int]]:
        """How many entries match each criterion alone, which shows the criterion to relax."""
        return [(c.words, sum(map(c.keeps, self.pool))) for c in self.criteria]


@in_storage()
def catalog(
    entries: Annotated[
        Sequence[Entry] | None, InPython("The entries to choose from; all of them, by default.")
    ] = None,
    **filters: Unpack[Filters],
) -> Listing:
    """List the datasets of the catalogue that meet every criterion; all of them without any.

    `entries` are searched instead of the catalogue. `topic`, `region` and `licence` are words that
    a card has; the data reach into the time from `since` to `until`.
    """
    pool = everything() if entries is None else list(entries)
    criteria = criteria_of(filters, pool)
    matching = [e for e in pool if all(c.keeps(e) for c in criteria)]
    unnamed = sum(1 for e in pool if e.card.language_count and not e.card.languages)
    note = (
        f"{several(unnamed, 'dataset')} with only a number of languages cannot be matched by"
        " `language`."
    )
    return Listing(matching, pool, criteria, (note,) if unnamed and filters.get("language") else ())
