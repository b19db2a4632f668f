"""Rows of a Parquet file, chosen and turned page by page without loading the file.

A choice of rows is their numbers in order, worked out once for a file (as it is now), its filters
and its order, and kept; a page reads only the rows that it shows. Without filters and order there
is nothing to work out, filtering a large file stops as soon as it has the rows of the page, and the
first page of an order needs only its first rows. Rows that are far apart in the file cost as much
as the file, so that later pages are read many at a time, and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.dataset import RECORDS
from claimlab.core.tables import scan_parquet
from claimlab.core.types import JsonObject
from claimlab.web.filters import COLUMNS, RecordFilters
from claimlab.web.memo import Memo, T, digest_known, state_of
from claimlab.web.workspace import Workspace, WorkspaceFolder, finding_at

Numbers = npt.NDArray[np.uint32]
Tallies = dict[str, list[tuple[str | None, int]]]  # by column: values, and how often each occurs
Crossed = dict[tuple[str | None, str | None], int]
Months = list[tuple[datetime, int]]
_NEAR_ROWS = 20_000  # rows between two of a page that are rather read through than jumped over
_APART = 64  # places in a file above which it is rather read through
_AHEAD = 1_000  # rows that are read with the page that needs one of them
_CHARACTERS_KEPT = 2_000  # characters of a text that are kept: an excerpt looks at no more
_TOP = 30  # values of a facet that are listed
_PIECE = 4_096  # rows in which a word is looked for first
MOST_ROWS = 50  # of a side table, for a record
_STEP = 50  # rows that are read to step through them
_MOST_READ = 400_000_000  # bytes of a file whose texts are all read, to draw their lengths
_STEPS = 20  # lengths of texts between 10 and 100 characters that are told apart
_MANY_ROWS = 100_000  # rows that are not all looked at before a page is shown


_choices, _counts, _tops, _windows, _lengths = Memo(), Memo(), Memo(), Memo(16), Memo(16)


@dataclass(frozen=True)
class FilteredRows:
    """The rows of `file` that pass `conditions`, in the order of `sort` ("-date": newest first);
    `key` names both.
    """

    file: Path
    conditions: tuple[pl.Expr, ...]
    sort: str
    key: str

    @classmethod
    def of(
        cls, file: Path, filters: RecordFilters, ids: Sequence[str] | None = None
    ) -> FilteredRows:
        conditions = (*conditions_of(filters), *_as_long(file, filters))
        if ids is not None:
            conditions = (*conditions, pl.col("id").is_in(list(ids)))
        key = f"{filters.key}{'' if ids is None else sorted(ids)}"
        return cls(file, conditions, filters.sort, key)

    @property
    def scan(self) -> pl.LazyFrame:
        return scan_parquet(self.file, row_index_name="row").filter(*self.conditions)

    @property
    def height(self) -> int:
        """How many rows the file has."""
        height = scan_parquet(self.file).select(pl.len())
        return self._kept(lambda: int(height.collect().item()), "height")

    def numbers(self) -> Numbers | None:
        """The numbers of the rows, in order; null: all of them, as they are in the file."""
        if not self.conditions and not self.sort:
            return None
        return _choices.get(self._choice, self._numbers)

    @property
    def _choice(self) -> tuple[Any, ...]:
        return state_of(self.file), self.key, self.sort

    def _numbers(self) -> Numbers:
        frame = self._keys()
        if self.sort:  # rows with the same value stay in the order of the file
            down = self.sort.startswith("-")
            frame = frame.sort("row").sort(
                self._column, descending=down, nulls_last=True, maintain_order=True
            )
        return frame["row"].to_numpy().astype(np.uint32)

    def _top(self, most: int) -> tuple[Numbers, int]:
        """The first `most` of the numbers in order, and how many there are."""
        frame, down = self._keys(), [self.sort.startswith("-"), False]
        top = (
            frame.lazy()
            .sort(self._column, "row", descending=down, nulls_last=True)
            .head(most)
            .collect()
        )
        return top["row"].to_numpy().astype(np.uint32), frame.height

    def _keys(self) -> pl.DataFrame:
        return self.scan.select("row", *([self._column] if self.sort else [])).collect()

    @property
    def _column(self) -> str:
        return self.sort.removeprefix("-")

    def total(self) -> int:
        numbers = self.numbers()
        return self.height if numbers is None else len(numbers)

    def page(self, number: int, size: int) -> tuple[pl.DataFrame, int, int | None]:
        """The rows of one page in order, the page's number, and how many rows there are on all
        pages: null where that is not counted yet, and there is at least one row more."""
        if self._slow and self._choice not in _choices:
            some = self._first(number * size + 1)
            if some is not None:
                return some.slice((number - 1) * size, size), number, None
        top = size + _ahead(size) * size  # the first page and the window behind it
        numbers: Numbers | None
        if self.sort and number * size <= top and self._choice not in _choices:
            numbers, total = _tops.get((self._choice, size), lambda: self._top(top))
        else:
            numbers, total = self.numbers(), self.total()
        number = min(number, max(1, -(-total // size)))
        if numbers is None:
            scan = as_text(scan_parquet(self.file).select(COLUMNS))
            return scan.slice((number - 1) * size, size).collect(), number, total
        return self._read(numbers, number, size), number, total

    def id_at(self, at: int) -> str | None:
        """The id of the row at a place of the list; null behind its end."""
        number, inside = at // _STEP + 1, at % _STEP
        rows, rows_shown, _ = self.page(number, _STEP)
        return str(rows["id"][inside]) if rows_shown == number and inside < rows.height else None

    def place(self, at: int) -> str:
        """Which row of the list it is, and of how many where that is known."""
        if self.conditions and self._choice not in _choices:
            return f"{at + 1:,}"
        return f"{at + 1:,} of {self.total() if self.conditions else self.height:,}"

    def _read(self, numbers: Numbers, number: int, size: int) -> pl.DataFrame:
        """The first page alone, and any other from a window of several pages: whoever turns one
        turns more.
        """
        pages = _ahead(size)
        window = -(-(number - 1) // pages)
        first, last = (0, 1) if number == 1 else ((window - 1) * pages + 1, window * pages + 1)

        def work() -> pl.DataFrame:
            rows = take(self.file, COLUMNS, numbers[first * size : last * size])
            return rows.with_columns(pl.col("text").str.slice(0, _CHARACTERS_KEPT))

        return _windows.get((self._choice, size, window), work).slice(
            (number - 1 - first) * size, size
        )

    def _first(self, most: int) -> pl.DataFrame | None:
        """The first `most` rows, from longer and longer pieces of the file: a common word is in the
        first. Null where there are fewer: then all of their numbers are known.
        """
        parts: list[pl.DataFrame] = []
        start, length, scan = 0, _PIECE, scan_parquet(self.file, row_index_name="row")
        while start < self.height and sum(part.height for part in parts) < most:
            piece = scan.slice(start, length).filter(*self.conditions)
            parts.append(as_text(piece.select("row", *COLUMNS)).collect())
            start, length = start + length, 4 * length
        rows = pl.concat(parts)
        if rows.height >= most:
            return rows.drop("row").head(most)
        _choices.get(self._choice, lambda: rows["row"].to_numpy().astype(np.uint32))
        return None

    @property
    def _slow(self) -> bool:
        """Whether finding all the rows means to look at every row of a large file."""
        read = {name for condition in self.conditions for name in condition.meta.root_names()}
        return bool(read - {"row"}) and not self.sort and self.height > _MANY_ROWS

    @property
    def counted(self) -> bool:
        """Whether `counts`, `crossed` and `months` need no work any more."""
        return digest_known(self.file) and (state_of(self.file), self.key, "months") in _counts

    def counts(self, columns: Sequence[str]) -> Tallies:
        """The most frequent values of each column among these rows, null as a value of its own."""

        def work() -> Tallies:
            tallies = ((c, self._chosen(c).group_by(c).len()) for c in columns)
            frames = [
                tally.sort("len", c, descending=[True, False]).head(_TOP) for c, tally in tallies
            ]
            tables = pl.collect_all(frames)
            return {c: table.rows() for c, table in zip(columns, tables, strict=True)}

        return self._kept(work, self.key, "facets", *columns)

    def crossed(self, one: str, other: str) -> Crossed:
        """How many rows have each pair of values."""

        def work() -> Crossed:
            table = self._chosen(one, other).group_by(one, other).len().sort(one, other).collect()
            return {(a, b): n for a, b, n in table.iter_rows()}

        return self._kept(work, self.key, "crossed", one, other)

    def months(self) -> Months:
        """Rows per month; those without a date are left out."""

        def work() -> Months:
            dates = self._chosen("date").filter(pl.col("date").dt.year().is_between(1, 9999))
            month = dates.select(month=pl.col("date").dt.truncate("1mo"))
            return month.group_by("month").len().sort("month").collect().rows()

        return self._kept(work, self.key, "months")

    @property
    def dated(self) -> bool:
        """Whether any row of the file has a date."""
        dates = scan_parquet(self.file).select(pl.col("date").count())
        return self._kept(lambda: bool(dates.collect().item()), "dated")

    def lengths(self) -> list[tuple[int, int, int]]:
        """Texts by their characters, in steps of a constant factor: at least, below, and how
        many.
        """
        if self.file.stat().st_size > _MOST_READ:
            return []

        def work() -> list[tuple[int, int, int]]:
            numbers, known_lengths = self.numbers(), characters(self.file)
            length = known_lengths if numbers is None else known_lengths.gather(numbers)
            step = (length.drop_nulls().clip(1).log(10) * _STEPS + 1e-9).floor().cast(pl.Int32)
            counts = dict(step.value_counts().iter_rows())
            ends = range(min(counts, default=0), max(counts, default=-1) + 1)
            bounds = [ceil(10 ** (step / _STEPS)) for step in (*ends, ends.stop)]
            return [
                (least, most, counts.get(step, 0))
                for step, least, most in zip(ends, bounds, bounds[1:], strict=False)
                if most > least
            ]

        return self._kept(work, self.key, "lengths")

    def _kept(self, work: Callable[[], T], *name: str) -> T:
        """What was counted once, for as long as the file stays the same."""
        return _counts.get((state_of(self.file), *name), work)

    def _chosen(self, *columns: str) -> pl.LazyFrame:
        """Some columns of these rows. A large file is searched once, for the numbers of the
        rows.
        """
        if not self._slow:
            return self.scan.select(columns)
        numbers = pl.Series(self.numbers())
        return scan_parquet(self.file).select(pl.col(columns).gather(numbers))


def about(file: Path, id: str) -> list[JsonObject]:
    """The rows of a side table for a record, without nulls; a limited number."""
    scan = scan_parquet(file)
    if "record_id" not in scan.collect_schema():
        return []
    side_rows = scan.filter(record_id=id).drop("record_id").head(MOST_ROWS)
    rows = as_text(side_rows).collect().iter_rows(named=True)
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _ahead(size: int) -> int:
    """How many pages are read at a time."""
    return max(1, _AHEAD // size)


def as_text(scan: pl.LazyFrame) -> pl.LazyFrame:
    """Times as text: Polars knows years that Python has no date for."""
    return scan.with_columns(
        pl.col(pl.Datetime).dt.strftime("%Y-%m-%d %H:%M:%S").str.strip_suffix(" 00:00:00")
    )


def take(file: Path, columns: Sequence[str], numbers: Numbers) -> pl.DataFrame:
    """The rows of these numbers, in their order. Rows near each other are read at once, far ones
    apart.

    One place after another: side by side, the same reading takes three times the work.
    """
    ordered = np.sort(numbers)
    starts = np.flatnonzero(np.diff(ordered.astype(np.int64), prepend=-_NEAR_ROWS - 1) > _NEAR_ROWS)
    if len(starts) > _APART:
        scan = scan_parquet(file, row_index_name="row").filter(
            pl.col("row").is_in(ordered.tolist())
        )
        frame = scan.select("row", *columns).collect().sort("row").drop("row")
    else:
        scan = scan_parquet(file).select(columns)
        parts = [scan.head(0).collect()]
        for group in np.split(ordered, starts[1:]) if len(ordered) else []:
            first, rows = int(group[0]), (group - group[0]).tolist()
            parts.append(scan.slice(first, rows[-1] + 1).collect()[rows])
        frame = pl.concat(parts)
    places = np.empty(len(numbers), dtype=np.int64)
    places[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return as_text(frame[places.tolist()].lazy()).collect()


def conditions_of(filters: RecordFilters) -> list[pl.Expr]:
    """What a row must hold. Words are looked for in any case; "" among values means: none."""
    conditions = filters.searched()
    if filters.word:
        conditions.append(pl.col("text").str.contains(whole_word(filters.word)))
    for column, values in filters.chosen().items():
        given = [v for v in values if v]
        match = pl.col(column).is_in(given)
        conditions.append(match | pl.col(column).is_null() if "" in values else match)
    if filters.since:
        conditions.append(pl.col("date") >= datetime.combine(filters.since, time.min))
    if filters.until:
        conditions.append(pl.col("date") <= datetime.combine(filters.until, time.max))
    return conditions


def characters(file: Path) -> pl.Series:
    """How many characters each text of the file has. All texts are read for it, once."""
    scan = scan_parquet(file).select(pl.col("text").str.len_chars())
    return _lengths.get(state_of(file), lambda: scan.collect().to_series())


def _as_long(file: Path, filters: RecordFilters) -> list[pl.Expr]:
    """The rows whose texts have as many characters as the filters want."""
    least, most = filters.shortest, filters.longest
    if least is None and most is None:
        return []
    lengths = characters(file)
    fits = lengths.is_between(least or 0, lengths.max() if most is None else most)
    return [pl.col("row").is_in(fits.arg_true().implode())]


def whole_word(word: str) -> str:
    """A pattern for `word` where it is not a part of a longer one, in any case."""
    return rf"(?i)(?:^|[^\p{{L}}\p{{N}}]){re.escape(word)}(?:[^\p{{L}}\p{{N}}]|$)"


def chosen_rows(
    workspace: Workspace, place: WorkspaceFolder, filters: RecordFilters
) -> tuple[FilteredRows, str]:
    """The rows that the filters choose, and a title where they are those of a finding."""
    from claimlab.audit.views.wording import finding_title

    if not filters.audit or filters.finding is None:
        return FilteredRows.of(place.folder / RECORDS, filters), ""
    _, finding = finding_at(workspace.get(filters.audit, "audit"), filters.finding)
    return FilteredRows.of(place.folder / RECORDS, filters, finding.records), finding_title(finding)
