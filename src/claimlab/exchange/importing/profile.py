"""The second step of an import: what the values of each column look like, from an evenly spaced
sample. These are the facts that every proposal rests on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.languages import normalise
from claimlab.exchange.dates import share_parsed
from claimlab.exchange.vocabulary import SPLITS, fold_name, named

SAMPLE = 600  # values of a column
LEAST_SAMPLE = 60  # of a table with very many columns
WIDE = 40  # columns, at which samples begin to be smaller
LEAST = 5  # values, before an order among them says anything
FEW, LONGEST = 12, 60  # different values of a label, and characters of one
PAIRS = 2_000  # rows in which two columns are compared
DATE_SAMPLE = 100  # dates are dear to read
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_TWEET = re.compile(r"\d{17,20}(\.0)?")
_CODE = re.compile(r"-?\d(\.0)?")
_TOKEN = re.compile(r"(?=.*\d)[\w.:#-]+")
_DOMAIN = re.compile(r"(?:https?:/*)?(?:www\.)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}/?", re.IGNORECASE)
_PERSON = re.compile(r"@\w+|[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){1,3}|[a-z]+(?:-[a-z]+){1,3}")
_TIMES = (4, 8, 10, 13)  # digits of a year, a day, and seconds or milliseconds since 1970
_BOOLEANS = {"true", "false"}
_ELSE = {"id", "tweet_id", "date", "url", "language", "author", "split"}  # roles that are no label
_ANSWERS = {"true", "false", "yes", "no", "y", "n", "t", "f", "0", "1", "0.0", "1.0"}
_BETWEEN = re.compile(r"(?<!\s)\s+and\s+|[;|/,]\s*|\n\s*")


def verdict_of(value: str, verdicts: LabelMap) -> str | None:
    """The verdict of a label, or that of all of its parts."""
    return verdicts.verdict(value) or (
        verdict_of_parts(value, verdicts) if _BETWEEN.search(value) or "[" in value else None
    )


def verdict_of_parts(value: str, verdicts: LabelMap) -> str | None:
    """The verdict on which all parts of a cell agree: "false; hoax", or the JSON list ["false",
    "hoax"].
    """
    parts = _BETWEEN.split(value.strip().strip("[]").replace('"', "").replace("'", ""))
    known = {verdicts.verdict(part.strip()) for part in parts if part.strip()}
    return known.pop() if len(known) == 1 else None


def _may_be_date(value: str) -> bool:
    """Whether it is worth the price of reading it: years, days and times since 1970 are the only
    plain numbers.
    """
    if not 4 <= len(value) <= 40 or "://" in value or not any(c.isdigit() for c in value):
        return False
    whole, _, rest = value.partition(".")
    return not (whole.isdecimal() and (not rest or rest.isdecimal())) or len(whole) in _TIMES


def _without_remarks(name: str) -> str:
    """label (0: fake, 1: real)"""
    for opening, closing in ("()", "[]"):
        start, end = name.find(opening), name.rfind(closing)
        if 0 <= start < end:
            name = f"{name[:start]} {name[end + 1 :]}"
    return name


class Profile:
    """Shares are of the sampled values that are not null. Each is measured when first asked for."""

    def __init__(self, column: pl.Series, verdicts: LabelMap, sample: int = SAMPLE) -> None:
        known = column.drop_nulls()
        self.rename(column.name)
        self.values = [
            v.strip()
            for v in known.gather_every(max(1, known.len() // sample)).head(sample).to_list()
        ]
        self.n = len(self.values)
        self.filled = known.len() / column.len() if column.len() else 0.0
        self.example = self.values[0] if self.values else None
        self._verdicts = verdicts

    def rename(self, name: str) -> None:
        self.folded = fold_name(name)
        self.name = fold_name(_without_remarks(name)) or self.folded

    @property
    def nameless(self) -> bool:
        """A name that leaves open what these are."""
        return self.name in ("id", "value", "ids") or self.name.startswith("column ")

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.values)

    @cached_property
    def distinct(self) -> int:
        return len(self.counts)

    @cached_property
    def spread(self) -> float:
        return self.distinct / self.n if self.n else 0.0

    @cached_property
    def length(self) -> float:
        return sum(map(len, self.values)) / self.n if self.n else 0.0

    @cached_property
    def prose(self) -> float:
        """Several words, or long in a script that writes no spaces (Thai, Chinese and those between
        them).
        """
        return self._share(lambda v: len(v.split()) >= 4 or sum(c >= "\u0e00" for c in v) >= 10)

    @cached_property
    def numbers(self) -> float:
        return self._share(lambda v: _NUMBER.fullmatch(v) is not None)

    @cached_property
    def links(self) -> float:
        return self._share(lambda v: v.startswith(("http://", "https://", "www.")))

    @cached_property
    def lists(self) -> float:
        """Lists and objects, as JSON or as Python writes them: parts of a record rather than one of
        its fields.
        """
        return self._share(lambda v: (v[:1] + v[-1:]) in ("[]", "{}") and len(v) > 1)

    @cached_property
    def objects(self) -> float:
        """Objects as JSON writes them, whose fields are columns of their own."""
        return self._share(lambda v: v.startswith("{") and v.endswith("}"))

    @cached_property
    def dates(self) -> float:
        sample = self.values[:: max(1, self.n // DATE_SAMPLE)][:DATE_SAMPLE]
        short = [v for v in sample if _may_be_date(v)]
        return share_parsed(pl.Series(short)) * len(short) / len(sample) if short else 0.0

    @cached_property
    def tweet_ids(self) -> float:
        return self._share(lambda v: _TWEET.fullmatch(v) is not None)

    @cached_property
    def codes(self) -> float:
        """Numbers of one digit."""
        return self._share(lambda v: _CODE.fullmatch(v) is not None)

    @cached_property
    def answers(self) -> float:
        """Yes and no, in words or as 1 and 0."""
        return self._share(lambda v: v.casefold() in _ANSWERS)

    @cached_property
    def tokens(self) -> float:
        """One word with digits in it, as ids are."""
        return self._share(lambda v: _TOKEN.fullmatch(v) is not None)

    @cached_property
    def domains(self) -> float:
        return self._share(lambda v: _DOMAIN.fullmatch(v) is not None)

    @cached_property
    def people(self) -> float:
        """Names of people, or of accounts."""
        return self._share(lambda v: _PERSON.fullmatch(v) is not None)

    @cached_property
    def counted(self) -> bool:
        """Numbers that go up row by row."""
        if self.n < LEAST or not all(v.isdecimal() for v in self.values):
            return False
        numbers = list(map(int, self.values))
        return all(a < b for a, b in pairwise(numbers))

    @cached_property
    def markup(self) -> float:
        return self._share(lambda v: v.startswith("<"))

    @cached_property
    def splits(self) -> float:
        return self._share(lambda v: v.lower() in SPLITS)

    @cached_property
    def languages(self) -> float:
        return self._share(lambda v: len(v) <= 20 and normalise(v) is not None)

    @cached_property
    def verdicts(self) -> float:
        """Values that the verdict map knows."""
        return self._share(lambda v: len(v) <= 60 and verdict_of(v, self._verdicts) is not None)

    @cached_property
    def booleans(self) -> bool:
        """Nothing but true and false, which may be the answer to any question."""
        return self.n > 0 and {v.casefold() for v in self.values} <= _BOOLEANS

    @property
    def may_be_label(self) -> bool:
        """Few values that repeat: words other than yes and no, or whatever a name calls a label."""
        few = 2 <= self.distinct <= FEW and self.n >= 2 * self.distinct and self.length <= LONGEST
        strange = max(self.links, self.dates, self.splits, self.languages, self.lists) > 0.5
        words = self.answers < 0.95 and self.numbers < 0.5
        roles = {role for role, how in named(self.name).items() if how.where in ("whole", "main")}
        likely = "label" in roles or (not roles & _ELSE and (words or self.nameless))
        return few and not strange and likely

    def _share(self, test: Callable[[str], bool]) -> float:
        """The share of values that pass; each different one is tested once."""
        passed = sum(times for value, times in self.counts.items() if test(value))
        return passed / self.n if self.n else 0.0


@dataclass(frozen=True)
class Profiled:
    """A table of plain text and the profile of each of its columns."""

    frame: pl.DataFrame
    columns: dict[str, Profile]
    verdicts: LabelMap
    hidden: frozenset[str]  # columns that say where a row came from: no role is proposed for them

    @property
    def visible(self) -> list[str]:
        return [column for column in self.frame.columns if column not in self.hidden]

    def under(self, verdicts: LabelMap) -> Profiled:
        """The same table as another verdict map sees it."""
        same = verdicts is self.verdicts
        return self if same else profile(self.frame, verdicts, self.hidden)

    def says_the_same(self, one: str, other: str) -> bool:
        """Whether two columns are copies, or codes and the words for them."""
        copies = self.columns[one].values == self.columns[other].values
        return copies or (self.columns[one].distinct <= FEW and self.one_to_one(one, other))

    def one_to_one(self, one: str, other: str) -> bool:
        """Whether each value of one column goes with one value of the other, and back, in a sample
        of rows.
        """
        if one == other:
            return False
        every = max(1, self.frame.height // PAIRS)
        pairs = self.frame.select(one, other).gather_every(every).drop_nulls().unique()
        return 1 < pairs.height == pairs[one].n_unique() == pairs[other].n_unique()


def profile(
    frame: pl.DataFrame, verdicts: LabelMap, hidden: Collection[str] = frozenset()
) -> Profiled:
    """What each column of a table of plain text looks like."""
    sample = max(LEAST_SAMPLE, SAMPLE * WIDE // max(WIDE, frame.width))
    columns = {name: Profile(frame[name], verdicts, sample) for name in frame.columns}
    return Profiled(frame, columns, verdicts, frozenset(hidden))
