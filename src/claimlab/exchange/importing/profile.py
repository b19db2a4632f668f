"""The second step of an import: what the values of each column look like, from an evenly spaced
sample. These are the facts that every proposal rests on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.languages import normalise
from claimlab.exchange.dates import share_parsed
from claimlab.exchange.vocabulary import SPLITS, fold_name

SAMPLE = 600
DATE_SAMPLE = 100  # dates are dear to read: a table may have thousands of columns
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_TWEET = re.compile(r"\d{15,20}(\.0)?")
_BOOLEANS = {"true", "false"}
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


def _without_remarks(name: str) -> str:
    """label (0: fake, 1: real)"""
    for opening, closing in ("()", "[]"):
        start, end = name.find(opening), name.rfind(closing)
        if 0 <= start < end:
            name = f"{name[:start]} {name[end + 1 :]}"
    return name


class Profile:
    """Shares are of the sampled values that are not null. Each is measured when first asked for."""

    def __init__(self, column: pl.Series, verdicts: LabelMap, *, first: bool = False) -> None:
        known = column.drop_nulls()
        self.folded = fold_name(column.name)
        self.name = fold_name(_without_remarks(column.name)) or self.folded
        self.first = first  # column of the table
        self.values = [
            v.strip()
            for v in known.gather_every(max(1, known.len() // SAMPLE)).head(SAMPLE).to_list()
        ]
        self.n = len(self.values)
        self.filled = known.len() / column.len() if column.len() else 0.0
        self.example = self.values[0] if self.values else None
        self._verdicts = verdicts

    @property
    def nameless(self) -> bool:
        """A name that leaves open what these are."""
        return self.name in ("id", "value", "ids") or self.name.startswith("column ")

    @cached_property
    def distinct(self) -> int:
        return len(set(self.values))

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
    def dates(self) -> float:
        sample = self.values[:: max(1, self.n // DATE_SAMPLE)][:DATE_SAMPLE]
        short = [v for v in sample if len(v) <= 40 and any(c.isdigit() for c in v)]
        return share_parsed(pl.Series(short)) * len(short) / len(sample) if short else 0.0

    @cached_property
    def tweet_ids(self) -> float:
        return self._share(lambda v: _TWEET.fullmatch(v) is not None)

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

    def _share(self, test: Callable[[str], bool]) -> float:
        return sum(map(test, self.values)) / self.n if self.n else 0.0


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

    def one_to_one(self, one: str, other: str) -> bool:
        """Whether each value of one column goes with one value of the other, and back."""
        if one == other:
            return False
        pairs = self.frame.select(one, other).drop_nulls().unique()
        return 1 < pairs.height == pairs[one].n_unique() == pairs[other].n_unique()


def profile(
    frame: pl.DataFrame, verdicts: LabelMap, hidden: Collection[str] = frozenset()
) -> Profiled:
    """What each column of a table of plain text looks like."""
    first = next((column for column in frame.columns if column not in hidden), None)
    columns = {name: Profile(frame[name], verdicts, first=name == first) for name in frame.columns}
    return Profiled(frame, columns, verdicts, frozenset(hidden))
