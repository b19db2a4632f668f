"""Data that is not a dataset yet: a table of Polars, pandas or `datasets`, dicts, or a file.

Every function that takes a dataset takes these too, and imports them first. The room that imports
is above this one: its function is asked for by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol


class ForeignTable(Protocol):
    """A table of Polars, pandas or `datasets`."""

    def to_dict(self) -> object: ...


Rows = Sequence[Mapping[str, object]]
Foreign = ForeignTable | Rows


def importer() -> Callable[..., tuple[object, object]]:
    """What makes a dataset, and a report on it, of such data."""
    from claimlab.core.front_door import FUNCTIONS

    function: Callable[..., tuple[object, object]] = FUNCTIONS.get("import_files")
    return function
