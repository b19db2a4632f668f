"""What every result can do: say in a line what it is, show its table, and hand it to Polars or
pandas.

What a dataset holds, in a few plain lines: the same for `print(dataset)`, `claimlab show` and
its page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import polars as pl

from claimlab.core.errors import MissingExtra
from claimlab.core.plain import one_line, plain
from claimlab.core.types import JsonObject

ROWS = 20  # of a table in a notebook


class Shown(ABC):
    """A result in a notebook or a console. It is as long as its table, and goes row by row."""

    @property
    @abstractmethod
    def table(self) -> pl.DataFrame:
        """The figures or rows that the result is about."""

    @abstractmethod
    def headline(self) -> str:
        """What it is, in a line."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(self.headline())}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{plain(self.table.head(ROWS)._repr_html_())}"

    def __len__(self) -> int:
        return self.table.height

    def __bool__(self) -> bool:
        return True  # a result without rows is still a result

    def __iter__(self) -> Iterator[JsonObject]:
        return self.table.iter_rows(named=True)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return to_pandas(self.table)


def to_pandas(table: pl.DataFrame) -> Any:
    try:
        return table.to_pandas()
    except ImportError:
        raise MissingExtra("A pandas table", "pandas") from None


COUNTED = ("veracity", "split", "language", "kind")
MOST = 12  # values of a column that are listed
FIRST, WIDTH = 5, 80  # records that are printed, and characters of a text


def facts(
    records: pl.DataFrame, counts: Mapping[str, Mapping[str, int]], licence: str | None
) -> list[str]:
    """Licence, dates, counts, labels by split, and how many records have each column filled."""
    dates = date_range(records)
    lines = [
        f"licence: {licence or 'not stated'}",
        f"dates: {' to '.join(dates) if dates else 'none'}",
    ]
    lines += [f"{column}: {tally(counts[column])}" for column in COUNTED if column in counts]
    lines += [f"veracity in {part}: {words}" for part, words in by_split(records).items()]
    filled = {name: records[name].count() for name in records.columns}
    words = [name if n == records.height else f"{name} ({n:,})" for name, n in filled.items() if n]
    return [*lines, f"columns: {', '.join(words)}"] if records.height else lines


def date_range(records: pl.DataFrame) -> list[str]:
    """The first and the last date; nothing where no record has one."""
    dates = records["date"].drop_nulls()
    return [str(dates.min())[:10], str(dates.max())[:10]] if len(dates) else []


def by_split(records: pl.DataFrame) -> dict[str, str]:
    """The labels of each split, where there are splits."""
    parts = records["split"].drop_nulls().unique().sort().to_list()
    return {
        part: tally(value_counts(records.filter(split=part)["veracity"])) for part in parts[:MOST]
    }


def value_counts(values: pl.Series) -> dict[str, int]:
    """How often each value occurs, nulls as "none"."""
    known = values.cast(pl.String).fill_null("none").alias("value")
    return dict(known.value_counts(name="n").sort("value").iter_rows())


def tally(values: Mapping[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    more = f", and {len(ranked) - MOST} more" if len(ranked) > MOST else ""
    return ", ".join(f"{value} {n:,}" for value, n in ranked[:MOST]) + more


def first_records(records: pl.DataFrame) -> list[str]:
    rows = records.head(FIRST).select("id", "veracity", "text").iter_rows()
    return [
        f"{name}  {label or '–'}  {one_line((text or '–')[:WIDTH])}" for name, label, text in rows
    ]
