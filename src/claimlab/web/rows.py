"""Rows of a Parquet file, chosen and turned page by page without loading the file.

A choice of rows is their numbers in order, worked out once for a file (as it is now), its filters and its order, and
kept; a page reads only the rows that it shows. Without filters and order there is nothing to work out, and filtering
a large file stops as soon as it has the rows of the page.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.digest import digest_file
from claimlab.core.errors import NotFound
from claimlab.web.filters import COLUMNS, RecordFilters

Numbers = npt.NDArray[np.uint32]
T = TypeVar("T")
_NEAR = 20_000  # rows between two of a page that are rather read through than jumped over
_TOP = 30  # values of a facet that are listed
_MOST = 64  # results of each kind that are kept
_PIECE = 4_096  # rows in which a word is looked for first
_LARGE = 100_000  # rows that are not all looked at before a page is shown


class Memo:
    """A cache of the latest results by key; each is computed once, however many threads ask for it."""

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._lock = most, threading.Lock()
        self._results: OrderedDict[Any, Any] = OrderedDict()
        self._locks: dict[Any, threading.Lock] = {}

    def get(self, key: Any, work: Callable[[], T]) -> T:
        with self._lock:
            mine = self._locks.setdefault(key, threading.Lock())
        with mine:
            with self._lock:
                if key in self._results:
                    self._results.move_to_end(key)
                    return self._results[key]  # type: ignore[no-any-return]
            result = work()
            with self._lock:
                self._results[key] = result
                while len(self._results) > self._most:
                    self._locks.pop(self._results.popitem(last=False)[0], None)
            return result

    def clear(self) -> list[Any]:
        """What was kept; from now on, nothing is."""
        with self._lock:
            results = list(self._results.values())
            self._results.clear()
            return results

    def __contains__(self, key: Any) -> bool:
        return key in self._results


_digests, _choices, _counts = Memo(1_000), Memo(), Memo()


def state_of(file: Path) -> tuple[Path, int, int]:
    """What is another when the file is: its time of change and size. Hashing a large file takes longer than a page."""
    try:
        now = file.stat()
    except OSError:
        raise NotFound(f"'{file.name}' is not there any more.", "Reload the workspace.") from None
    return file, now.st_mtime_ns, now.st_size


def digest_of(file: Path) -> str:
    """The sha256 of a file, read again when its size or time of change differs."""
    return _digests.get(state_of(file), lambda: digest_file(file))


def digest_known(file: Path) -> bool:
    return state_of(file) in _digests


@dataclass(frozen=True)
class Rows:
    """The rows of `file` that pass `conditions`, in the order of `sort` ("-date": newest first); `key` names both."""

    file: Path
    conditions: tuple[pl.Expr, ...]
    sort: str
    key: str

    @classmethod
    def of(cls, file: Path, filters: RecordFilters, ids: Sequence[str] | None = None) -> Rows:
        conditions = tuple(conditions_of(filters))
        if ids is not None:
            conditions = (*conditions, pl.col("id").is_in(list(ids)))
        return cls(file, conditions, filters.sort, f"{filters.key}{'' if ids is None else sorted(ids)}")

    @property
    def scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.file, row_index_name="row").filter(*self.conditions)

    @property
    def height(self) -> int:
        """How many rows the file has."""
        height = pl.scan_parquet(self.file).select(pl.len())
        return _counts.get((state_of(self.file), "height"), lambda: int(height.collect().item()))

    def numbers(self) -> Numbers | None:
        """The numbers of the rows, in order; null: all of them, as they are in the file."""
        if not self.conditions and not self.sort:
            return None
        return _choices.get(self._choice, self._numbers)

    @property
    def _choice(self) -> tuple[Any, ...]:
        return state_of(self.file), self.key, self.sort

    def _numbers(self) -> Numbers:
        column = self.sort.lstrip("-")
        frame = self.scan.select("row", *([column] if column else [])).collect()
        if column:  # rows with the same value stay in the order of the file
            down = self.sort.startswith("-")
            frame = frame.sort("row").sort(column, descending=down, nulls_last=True, maintain_order=True)
        return frame["row"].to_numpy().astype(np.uint32)

    def total(self) -> int:
        numbers = self.numbers()
        return self.height if numbers is None else len(numbers)

    def page(self, number: int, size: int) -> tuple[pl.DataFrame, int, int | None]:
        """The rows of one page in order, the page's number, and how many rows there are on all pages: null where that
        is not counted yet, and there is at least one row more."""
        if self._slow and self._choice not in _choices:
            some = self._first(number * size + 1)
            if some.height > number * size:
                return some.slice((number - 1) * size, size), number, None
        total = self.total()
        number = min(number, max(1, -(-total // size)))
        start, numbers = (number - 1) * size, self.numbers()
        scan = self._listed(pl.scan_parquet(self.file))
        rows = scan.slice(start, size).collect() if numbers is None else take(scan, numbers[start : start + size])
        return rows, number, total

    def _first(self, most: int) -> pl.DataFrame:
        """The first `most` rows, or all, from longer and longer pieces of the file: a common word is in the first."""
        parts: list[pl.DataFrame] = []
        start, length = 0, _PIECE
        while start < self.height and sum(part.height for part in parts) < most:
            piece = pl.scan_parquet(self.file).slice(start, length).filter(*self.conditions)
            parts.append(self._listed(piece).collect())
            start, length = start + length, 4 * length
        return pl.concat(parts).head(most)

    @property
    def _slow(self) -> bool:
        """Whether finding all the rows means to look at every row of a large file."""
        return bool(self.conditions) and not self.sort and self.height > _LARGE

    def _listed(self, scan: pl.LazyFrame) -> pl.LazyFrame:
        return as_text(scan.select(COLUMNS))

    @property
    def counted(self) -> bool:
        """Whether `counts`, `crossed` and `months` need no work any more."""
        return digest_known(self.file) and (state_of(self.file), self.key, "months") in _counts

    def counts(self, columns: Sequence[str]) -> dict[str, list[tuple[str | None, int]]]:
        """The most frequent values of each column among these rows, null as a value of its own."""

        def work() -> dict[str, list[tuple[str | None, int]]]:
            frames = [
                self._chosen(c).group_by(c).len().sort("len", c, descending=[True, False]).head(_TOP) for c in columns
            ]
            tables = pl.collect_all(frames)
            return {c: [(v, n) for v, n in t.iter_rows()] for c, t in zip(columns, tables, strict=True)}

        return _counts.get((state_of(self.file), self.key, "facets", *columns), work)

    def crossed(self, one: str, other: str) -> dict[tuple[str | None, str | None], int]:
        """How many rows have each pair of values."""

        def work() -> dict[tuple[str | None, str | None], int]:
            table = self._chosen(one, other).group_by(one, other).len().sort(one, other).collect()
            return {(a, b): n for a, b, n in table.iter_rows()}

        return _counts.get((state_of(self.file), self.key, "crossed", one, other), work)

    def months(self) -> list[tuple[datetime, int]]:
        """Rows per month; those without a date are left out."""

        def work() -> list[tuple[datetime, int]]:
            known = self._chosen("date").filter(pl.col("date").dt.year().is_between(1, 9999))
            month = known.select(pl.col("date").dt.truncate("1mo").alias("month"))
            return [(m, n) for m, n in month.group_by("month").len().sort("month").collect().iter_rows()]

        return _counts.get((state_of(self.file), self.key, "months"), work)

    def _chosen(self, *columns: str) -> pl.LazyFrame:
        """Some columns of these rows. A large file is searched once, for the numbers of the rows."""
        if not self._slow:
            return self.scan.select(columns)
        numbers = pl.Series(self.numbers())
        return pl.scan_parquet(self.file).select(pl.col(columns).gather(numbers))


def as_text(scan: pl.LazyFrame) -> pl.LazyFrame:
    """Times as text: Polars knows years that Python has no date for."""
    return scan.with_columns(pl.col(pl.Datetime).dt.strftime("%Y-%m-%d %H:%M:%S").str.strip_suffix(" 00:00:00"))


def take(scan: pl.LazyFrame, numbers: Numbers) -> pl.DataFrame:
    """The rows of these numbers, in their order. Rows near each other are read at once, far ones apart."""
    if not len(numbers):
        return scan.head(0).collect()
    ordered = np.sort(numbers)
    starts = np.flatnonzero(np.diff(ordered.astype(np.int64), prepend=-_NEAR - 1) > _NEAR)
    parts = []
    for group in np.split(ordered, starts[1:]):
        first = int(group[0])
        rows = pl.Series(group.astype(np.int64) - first)
        parts.append(scan.slice(first, int(group[-1]) - first + 1).select(pl.all().gather(rows)))
    frame = pl.concat(pl.collect_all(parts))
    places = np.empty(len(numbers), dtype=np.int64)
    places[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return frame[places.tolist()]


def conditions_of(filters: RecordFilters) -> list[pl.Expr]:
    """What a row must hold. Words are looked for in any case; "" among values means: none."""
    text = pl.col("text").str.to_lowercase()
    conditions = [text.str.contains(word.lower(), literal=True) for word in filters.q.split()]
    if filters.word:
        conditions.append(pl.col("text").str.contains(whole_word(filters.word)))
    for column, values in filters.chosen().items():
        known = [v for v in values if v]
        match = pl.col(column).is_in(known)
        conditions.append(match | pl.col(column).is_null() if "" in values else match)
    if filters.since:
        conditions.append(pl.col("date") >= datetime.combine(filters.since, time.min))
    if filters.until:
        conditions.append(pl.col("date") <= datetime.combine(filters.until, time.max))
    return conditions


def whole_word(word: str) -> str:
    """A pattern for `word` where it is not a part of a longer one, in any case."""
    return rf"(?i)(?:^|[^\p{{L}}\p{{N}}]){re.escape(word)}(?:[^\p{{L}}\p{{N}}]|$)"
