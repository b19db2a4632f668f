"""What every result can do: say in a line what it is, show its table, and hand it to Polars or
pandas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any

import polars as pl

from claimlab.core.errors import MissingExtra
from claimlab.core.plain import one_line, plain
from claimlab.core.types import JsonObject

ROWS_SHOWN = 20  # of a table in a notebook


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
        return f"<p>{escape(repr(self))}</p>{plain(self.table.head(ROWS_SHOWN)._repr_html_())}"

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
    """The table for pandas. Both packages are asked for by name: what Polars raises where one of
    them cannot be imported depends on what else was imported before.
    """
    try:
        for package in ("pandas", "pyarrow"):
            import_module(package)
    except ImportError:
        raise MissingExtra("A pandas table", "pandas") from None
    return table.to_pandas()
