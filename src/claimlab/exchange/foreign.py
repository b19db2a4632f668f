"""What a user passes in as files: paths, or a table in memory, which is written for as long as it
is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import polars as pl

from claimlab.core.digest import write_parquet
from claimlab.core.errors import DataError, MissingExtra, UsageError
from claimlab.core.foreign import Foreign

Paths = str | Path | Sequence[str | Path]
TABLE_FILE = "data.parquet"  # the dataset is called "data" after it
HOW_TO_PASS = (
    "Pass a file or folder, a data frame of Polars, pandas or `datasets`, or a list of dicts."
)


@contextmanager
def as_files(data: Paths | Foreign) -> Iterator[list[str | Path]]:
    """The files of `data`: itself, or a table that is written for as long as it is read."""
    files = _files(data)
    if files is not None:
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="claimlab-") as folder:
        file = Path(folder) / TABLE_FILE
        write_parquet(as_table(data), file)
        yield [file]


def files_of(data: Paths | Foreign) -> list[Path]:
    """The files of `data` that the user has; a table in memory has none."""
    return [Path(file) for file in _files(data) or ()]


def _files(data: object) -> list[str | Path] | None:
    """The paths that `data` is; null where it is a table or rows."""
    if isinstance(data, str | Path):
        return [data]
    if isinstance(data, Sequence) and all(isinstance(item, str | Path) for item in data):
        if not data:
            raise UsageError("No file was given.", "Give at least one file, folder or zip.")
        return list(data)
    return None


def as_table(data: object) -> pl.DataFrame:
    """The table of Polars that `data` is."""
    if isinstance(data, pl.DataFrame | pl.LazyFrame):
        return data.lazy().collect()
    try:
        if hasattr(data, "to_polars"):  # of `datasets`
            return pl.DataFrame(data.to_polars())
        if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
            return cast("Callable[[object], pl.DataFrame]", pl.from_pandas)(data)
    except ImportError:
        raise MissingExtra("A pandas table", "pandas") from None
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"The data frame cannot be read: {error}.", HOW_TO_PASS) from None
    if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        rows = [{str(name): value for name, value in row.items()} for row in data]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
    raise UsageError(f"`data` cannot be of type {type(data).__name__}.", HOW_TO_PASS)
