"""Rows of a Parquet file, chosen and turned page by page without loading the file.

A choice of rows is their numbers in order, worked out once for a file (by its hash), its filters and its order, and
kept; a page reads only the rows that it shows. Without filters and order there is nothing to work out.
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
_KEPT = 64  # results of each kind that are kept


class Kept:
    """The newest results by key; each is worked out once, however many ask for it."""

    def __init__(self, most: int = _KEPT) -> None:
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


_digests, _choices, _counts = Kept(1_000), Kept(), Kept()


def digest_of(file: Path) -> str:
    """The sha256 of a file, read anew when its size or time of change differs."""
    try:
        now = file.stat()
    except OSError:
        raise NotFound(f"'{file.name}' is not there any more.", "Reload the workspace.") from None
    return _digests.get((file, now.st_mtime_ns, now.st_size), lambda: digest_file(file))


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

    def numbers(self) -> Numbers | None:
        """The numbers of the rows, in order; null: all of them, as they are in the file."""
        if not self.conditions and not self.sort:
            return None
        return _choices.get((digest_of(self.file), self.key, self.sort), self._numbers)

    def _numbers(self) -> Numbers:
        column = self.sort.lstrip("-")
        frame = self.scan.select("row", *([column] if column else [])).collect()
        order = [column] if column else []
        down = [self.sort.startswith("-")] * len(order)
        ordered = frame.sort([*order, "row"], descending=[*down, False], nulls_last=True)
        return ordered["row"].to_numpy().astype(np.uint32)

    def total(self) -> int:
        numbers = self.numbers()
        if numbers is not None:
            return len(numbers)
        height = pl.scan_parquet(self.file).select(pl.len())
        return _counts.get((digest_of(self.file), "total"), lambda: int(height.collect().item()))

    def page(self, number: int, size: int) -> pl.DataFrame:
        """The rows of one page, in order."""
        start = (number - 1) * size
        numbers = self.numbers()
        scan = as_text(pl.scan_parquet(self.file).select(COLUMNS))
        if numbers is None:
            return scan.slice(start, size).collect()
        return take(scan, numbers[start : start + size])

    def counts(self, columns: Sequence[str]) -> dict[str, list[tuple[str | None, int]]]:
        """The most frequent values of each column among these rows, null as a value of its own."""

        def work() -> dict[str, list[tuple[str | None, int]]]:
            frames = [self.scan.group_by(c).len().sort("len", c, descending=[True, False]).head(_TOP) for c in columns]
            tables = pl.collect_all(frames)
            return {c: [(v, n) for v, n in t.iter_rows()] for c, t in zip(columns, tables, strict=True)}

        return _counts.get((digest_of(self.file), self.key, "facets", *columns), work)

    def crossed(self, one: str, other: str) -> dict[tuple[str | None, str | None], int]:
        """How many rows have each pair of values."""

        def work() -> dict[tuple[str | None, str | None], int]:
            table = self.scan.group_by(one, other).len().sort(one, other).collect()
            return {(a, b): n for a, b, n in table.iter_rows()}

        return _counts.get((digest_of(self.file), self.key, "crossed", one, other), work)

    def months(self) -> list[tuple[datetime, int]]:
        """Rows per month; those without a date are left out."""

        def work() -> list[tuple[datetime, int]]:
            known = self.scan.filter(pl.col("date").dt.year().is_between(1, 9999))
            month = known.select(pl.col("date").dt.truncate("1mo").alias("month"))
            return [(m, n) for m, n in month.group_by("month").len().sort("month").collect().iter_rows()]

        return _counts.get((digest_of(self.file), self.key, "months"), work)


def as_text(scan: pl.LazyFrame) -> pl.LazyFrame:
    """Times as text: Polars knows years that Python has no date for."""
    return scan.with_columns(pl.col(pl.Datetime).dt.strftime("%Y-%m-%d %H:%M:%S").str.strip_suffix(" 00:00:00"))


def take(scan: pl.LazyFrame, numbers: Numbers) -> pl.DataFrame:
    """The rows of these numbers, in their order. Rows near each other are read in one go, far ones apart."""
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
