"""Data that is not a dataset yet: a table of Polars, pandas or `datasets`, dicts, or a file.

Every function that takes a dataset takes these too, and imports them first. The room that imports
is above this one: the front door of the package names it (`imported_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol


class Table(Protocol):
    """A table of Polars, pandas or `datasets`."""

    def to_dict(self) -> object: ...


Rows = Sequence[Mapping[str, object]]
Foreign = Table | Rows

_importer: tuple[str, str] | None = None


def imported_by(module: str, function: str) -> None:
    """Name the function that makes a dataset of such data; it is loaded when it is needed."""
    global _importer
    _importer = module, function


def importer() -> Callable[..., tuple[object, object]]:
    """What makes a dataset, and a report on it, of such data."""
    assert _importer is not None, "the front door names the importer"
    module, name = _importer
    function: Callable[..., tuple[object, object]] = getattr(import_module(module), name)
    return function
