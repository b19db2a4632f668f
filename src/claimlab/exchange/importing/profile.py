"""The second step of an import: what the values of each column look like, from an evenly spaced
sample. These are the facts that every proposal rests on.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import polars as pl

from claimlab.core.labels import LabelMap, fold, is_blank
from claimlab.core.languages import normalise
from claimlab.exchange.dates import share_parsed
from claimlab.exchange.vocabulary import (
    NO,
    SAYS_NO,
    SAYS_YES,
    SPLITS,
    STANCES,
    UNSPACED,
    YES,
    fold_name,
    named,
)

VALUES_SAMPLED = 600  # values of a column
LEAST_VALUES_SAMPLED = 60  # of a table with very many columns
WIDE_TABLE_COLUMNS = 40  # columns, at which samples begin to be smaller
LEAST_VALUES = 5  # values, before an order among them says anything
DAY_CHARACTERS = 10  # characters of a date that say its day: 2020-03-31, Tue Mar 03
LABEL_VALUES, LABEL_CHARACTERS = 12, 60  # different values of a label, and characters of one
ROWS_COMPARED = 2_000  # rows in which two columns are compared
DATES_SAMPLED = 100  # dates are dear to read
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_TWEET = re.compile(r"\d{17,20}(\.0)?")
_CODE = re.compile(r"-?\d(\.0)?")
_TOKEN = re.compile(r"(?=.*\d)[\w.:#-]+")
_DOMAIN = re.compile(r"(?:https?:/*)?(?:www\.)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,10}/?", re.IGNORECASE)
_PERSON = re.compile(r"@\w+|[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){1,3}|[a-z]+(?:-[a-z]+){1,3}")
_DATED = re.compile(r"\d{4}|\d:\d|[/.-]\s?\d")  # a year, a time, or numbers with marks between
_TIMES = (4, 8, 10, 13)  # digits of a year, a day, and seconds or milliseconds since 1970
_BOOLEANS = {"true", "false"}
_NUMBERED = re.compile(r"(q|question|v|var|item|a|answer) ?\d{1,3} ?[a-z]?")
_IDS = ("id", "tweet_id")
_ELSE = {*_IDS, "date", "url", "language", "author", "split"}  # roles that are no label
ANSWERS = YES | NO
# folded: what answers any question
FLAGS = SAYS_YES | SAYS_NO | {"-1", "-1.0", "t", "f"}
DECIDED = ("true", "false", "mixed")
MOST_PARTS = 30  # different parts of the cells of a column
_BETWEEN = re.compile(r"(?<!\s)\s+and\s+|[;|/,]\s*|\n\s*")
_MARKS = re.compile(r"[,;|]")
_WORD = re.compile(r"\S{1,30}")
_OPENING = re.compile(r"([^.:;!?\n–—]{1,40}?)\s*(?:[.:;!]|\s[-–—])\s+\S")
REASONED_SHARE = 0.9  # of the cells that are a verdict, or begin with one


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
    said = {verdicts.verdict(part.strip()) for part in parts if part.strip()}
    return said.pop() if len(said) == 1 else None


@dataclass(frozen=True)
class LabelledCell:
    """A cell with several labels: its veracity, where one part says it, and the other parts."""

    verdict: str | None
    tags: tuple[str, ...]


def cells_of(values: Collection[str], verdicts: LabelMap) -> dict[str, LabelledCell]:
    """The cells of a column of several labels each ("fake,hate"); nothing where it is none.

    Each part must be one word that comes again, so that "true, but old" is not read as true, and no
    cell may say two things of veracity. What the map knows as a whole is not taken apart.
    """
    parts = {value: _parts(value) for value in values if _is_cut(value, verdicts)}
    words = set().union(*parts.values())
    few = len(words) <= min(MOST_PARTS, len(parts))
    if (
        not few
        or not all(map(_WORD.fullmatch, words))
        or max(map(len, parts.values()), default=0) < 2
    ):
        return {}
    cells = {value: _cell(words_in, verdicts) for value, words_in in parts.items()}
    labelled = {value: cell for value, cell in cells.items() if cell is not None}
    decided = {"true", "false"} & {cell.verdict for cell in labelled.values()}
    return labelled if decided and len(labelled) == len(parts) else {}


def openings(values: Collection[str], verdicts: LabelMap) -> dict[str, str]:
    """The verdict that each cell begins with, where the cells of a column are verdicts with reasons
    ("False. The video is old."); nothing where they are not, or are few enough to be asked about.
    """
    cells = set(values)
    matches = ((cell, _OPENING.match(cell)) for cell in cells)
    begun = {cell: match[1] for cell, match in matches if match and verdicts.verdict(match[1])}
    whole = sum(verdicts.verdict(cell) is not None for cell in cells - begun.keys())
    some = len(begun) > LABEL_VALUES and len(begun) + whole >= REASONED_SHARE * len(cells)
    return begun if some and len({*map(verdicts.verdict, begun.values())}) > 1 else {}


def _is_cut(value: str, verdicts: LabelMap) -> bool:
    known_whole = verdicts.verdict(value) is not None and len(_parts(value)) > 1
    return bool(value.strip()) and not known_whole


def _parts(value: str) -> list[str]:
    if value.lstrip().startswith("["):
        value = value.strip().strip("[]").replace('"', "").replace("'", "")
    return [part.strip() for part in _MARKS.split(value) if part.strip()]


def _cell(parts: Sequence[str], verdicts: LabelMap) -> LabelledCell | None:
    """Null where the parts contradict each other."""
    known = {part: verdicts.verdict(part) for part in parts}
    decided = {verdict for verdict in known.values() if verdict in DECIDED}
    tags = tuple(part for part in parts if known[part] not in DECIDED)
    return LabelledCell(decided.pop() if decided else None, tags) if len(decided) < 2 else None


def tags_column(raw: pl.Series, cells: Mapping[str, LabelledCell]) -> pl.Series:
    """The parts of each cell that say nothing of veracity, as JSON lists."""
    tags = {
        value: json.dumps(list(cell.tags), ensure_ascii=False)
        for value, cell in cells.items()
        if cell.tags
    }
    return raw.replace_strict(tags, default=None, return_dtype=pl.String).alias("tags")


def _may_be_date(value: str) -> bool:
    """Whether it is worth the price of reading it: years, days and times since 1970 are the only
    plain numbers.
    """
    if not 4 <= len(value) <= 40 or "://" in value or not _DATED.search(value):
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


@lru_cache(maxsize=10_000)
def share_of_dates(values: tuple[str, ...]) -> float:
    """Kept, since the columns of a table are looked at again for each answer that is tried."""
    return share_parsed(pl.Series(values))


class _Share(cached_property[float]):
    """The share of the values that pass a test; each different one is tested once."""

    def __init__(self, test: Callable[[str], object]) -> None:
        super().__init__(lambda seen: seen.share(test))


class ColumnProfile:
    """Shares are of the sampled values that are not null. Each is measured when first asked for."""

    prose = _Share(lambda v: len(v.split()) >= 4 or sum(c >= UNSPACED for c in v) >= 10)
    numbers = _Share(_NUMBER.fullmatch)
    links = _Share(lambda v: v.startswith(("http://", "https://", "www.")))
    # lists and objects, as JSON or as Python writes them: parts of a record rather than one of its
    # fields; the fields of objects are columns of their own
    lists = _Share(lambda v: v[:1] + v[-1:] in ("[]", "{}") and len(v) > 1)
    objects = _Share(lambda v: v.startswith("{") and v.endswith("}"))
    tweet_ids = _Share(_TWEET.fullmatch)
    codes = _Share(_CODE.fullmatch)  # numbers of one digit
    answers = _Share(lambda v: v.casefold() in ANSWERS)  # yes and no, in words or as 1 and 0
    tokens = _Share(_TOKEN.fullmatch)  # one word with digits in it, as ids are
    domains = _Share(_DOMAIN.fullmatch)
    people = _Share(_PERSON.fullmatch)  # names of people, or of accounts
    stances = _Share(lambda v: fold(v) in STANCES)  # labels of a pair of texts
    splits = _Share(lambda v: v.lower() in SPLITS)
    languages = _Share(  # "yes" and "no" are codes of languages, too
        lambda v: len(v) <= 20 and v.lower() not in ANSWERS and normalise(v) is not None
    )

    def __init__(self, column: pl.Series, verdicts: LabelMap, sample: int = VALUES_SAMPLED) -> None:
        known = column.drop_nulls()
        self.rename(column.name)
        sampled = known.gather_every(max(1, known.len() // sample)).head(sample).to_list()
        self.values = [v.strip() for v in sampled if not is_blank(v)]
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
    def dates(self) -> float:
        sample = self.values[:: max(1, self.n // DATES_SAMPLED)][:DATES_SAMPLED]
        short = tuple(v for v in sample if _may_be_date(v))
        return share_of_dates(short) * len(short) / len(sample) if short else 0.0

    @cached_property
    def same_day(self) -> float:
        """The share of dates that begin alike, where it is most: those of an export or upload."""
        days = Counter(value[:DAY_CHARACTERS] for value in self.values)
        share = max(days.values(), default=0) / max(self.n, LEAST_VALUES)
        return share if share > 0.5 and self.dates > 0.5 else 0.0

    @cached_property
    def counted(self) -> bool:
        """Numbers that go up row by row."""
        if self.n < LEAST_VALUES or not all(v.isdecimal() for v in self.values):
            return False
        numbers = list(map(int, self.values))
        return all(a < b for a, b in pairwise(numbers))

    @property
    def measured(self) -> bool:
        """Numbers in no order under a name that does not call them ids: scores, counts, shares."""
        if self.nameless or self.counted or not named(self.name).keys().isdisjoint(_IDS):
            return False
        return self.share(lambda v: _NUMBER.fullmatch(v.rstrip("%"))) > 0.95

    @cached_property
    def verdicts(self) -> float:
        """Values that the label map knows, or of which it knows one part ("fake,hate")."""
        known = self.share(lambda v: len(v) <= 60 and verdict_of(v, self._verdicts) is not None)
        if known in (0.0, 1.0) or self.length > LABEL_CHARACTERS:
            return known
        cells = cells_of(self.counts, self._verdicts)
        return max(known, self.share(lambda v: v in cells and cells[v].verdict is not None))

    @cached_property
    def booleans(self) -> bool:
        """Nothing but true and false, which may be the answer to any question."""
        return self.n > 0 and {v.casefold() for v in self.values} <= _BOOLEANS

    @property
    def may_be_label(self) -> bool:
        """Few values that repeat: words other than yes and no, or whatever a name calls a label."""
        words = self.answers < 0.95 and self.numbers < 0.5
        how = named(self.name).get("label")
        named_label = how is not None and how.where != "part"
        return self._few and (named_label or (not self._roles & _ELSE and (words or self.nameless)))

    @property
    def may_be_codes(self) -> bool:
        """Few numbers that repeat, under the number of a question: Q1, v3, item 12."""
        return self._few and self.numbers > 0.95 and bool(_NUMBERED.fullmatch(self.name))

    @property
    def may_be_anything(self) -> bool:
        """Few values that repeat, under a name that says nothing else: yes and no, numbers, too."""
        return self._few and not self._roles & _ELSE

    @property
    def _few(self) -> bool:
        few = (
            2 <= self.distinct <= LABEL_VALUES
            and self.n >= 2 * self.distinct
            and self.length <= LABEL_CHARACTERS
        )
        return few and max(self.links, self.dates, self.splits, self.languages, self.lists) <= 0.5

    @property
    def _roles(self) -> set[str]:
        return {role for role, how in named(self.name).items() if how.where in ("whole", "main")}

    def share(self, test: Callable[[str], object]) -> float:
        passed = sum(times for value, times in self.counts.items() if test(value))
        return passed / self.n if self.n else 0.0


@dataclass(frozen=True)
class Profiled:
    """A table of plain text and the profile of each of its columns."""

    frame: pl.DataFrame
    columns: dict[str, ColumnProfile]
    verdicts: LabelMap
    hidden: frozenset[str]  # columns that say where a row came from: no role is proposed for them

    @property
    def visible(self) -> list[str]:
        return [column for column in self.frame.columns if column not in self.hidden]

    def under(self, verdicts: LabelMap) -> Profiled:
        """The same table as another label map sees it."""
        same = verdicts is self.verdicts
        return self if same else profile(self.frame, verdicts, self.hidden)

    def says_the_same(self, column: str, other: str) -> bool:
        """Whether two columns are copies, or codes and the words for them."""
        copies = self.columns[column].values == self.columns[other].values
        return copies or (
            self.columns[column].distinct <= LABEL_VALUES and self.one_to_one(column, other)
        )

    def one_to_one(self, column: str, other: str) -> bool:
        """Whether each value of one column goes with one value of the other, and back, in a sample
        of rows.
        """
        if column == other:
            return False
        every = max(1, self.frame.height // ROWS_COMPARED)
        pairs = self.frame.select(column, other).gather_every(every).drop_nulls().unique()
        return 1 < pairs.height == pairs[column].n_unique() == pairs[other].n_unique()


def profile(
    frame: pl.DataFrame, verdicts: LabelMap, hidden: Collection[str] = frozenset()
) -> Profiled:
    """What each column of a table of plain text looks like."""
    sample = max(
        LEAST_VALUES_SAMPLED,
        VALUES_SAMPLED * WIDE_TABLE_COLUMNS // max(WIDE_TABLE_COLUMNS, frame.width),
    )
    columns = {name: ColumnProfile(frame[name], verdicts, sample) for name in frame.columns}
    _take_openings(columns, verdicts)
    return Profiled(frame, columns, verdicts, frozenset(hidden))


def _take_openings(columns: Mapping[str, ColumnProfile], verdicts: LabelMap) -> None:
    """Let a column of verdicts with reasons be like its verdicts, where another column may be the
    text and none the label: else it is a headline that says what it is about ("False: ...").
    """
    words_of = {name: openings(column.values, verdicts) for name, column in columns.items()}
    begun = [name for name, words in words_of.items() if words]
    if len(begun) != 1:
        return
    others = [column for name, column in columns.items() if name not in begun]
    labelled = any(column.verdicts > REASONED_SHARE and column.distinct > 1 for column in others)
    if not labelled and any(column.prose > REASONED_SHARE for column in others):
        words, one = words_of[begun[0]], columns[begun[0]]
        one.values = [words.get(value, value) for value in one.values]
