"""What a detector learned, as files that other processes read: plain values in JSON, arrays and
tables beside them.

A file holds values only and names no class: the detector that reads it knows what it expects
(`Learned`), so that a file from anywhere can be wrong, but makes nothing and runs nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.digest import write_parquet
from claimlab.core.errors import DataError
from claimlab.core.tables import read_parquet

FILE = "learned.json"
ARRAY, TABLE = "$array", "$table"  # the number of the file that holds it
PLAIN = (str, int, float, bool, type(None))


def write_learned(values: Mapping[str, Any], folder: Path) -> None:
    """Write plain values, lists, arrays, tables, and mappings of these by words."""
    files = 0

    def written(value: Any) -> Any:
        nonlocal files
        if isinstance(value, np.ndarray):
            files += 1
            np.save(folder / f"{files}.npy", value, allow_pickle=False)
            return {ARRAY: files}
        if isinstance(value, pl.DataFrame):
            files += 1
            write_parquet(value, folder / f"{files}.parquet")
            return {TABLE: files}
        if type(value) is dict and all(
            type(name) is str and not name.startswith("$") for name in value
        ):
            return {name: written(part) for name, part in value.items()}
        if type(value) is list:
            return [written(part) for part in value]
        if type(value) not in PLAIN:
            raise TypeError(f"{type(value)} is not a plain value")
        return value

    (folder / FILE).write_text(json.dumps(written(dict(values))), encoding="utf-8")


def read_learned(folder: Path) -> Learned:
    """The values that `write_learned` wrote."""

    def read(content: Any) -> Any:
        if isinstance(content, list):
            return [read(part) for part in content]
        if not isinstance(content, dict):
            return content
        if ARRAY in content:
            return np.load(folder / f"{int(content[ARRAY])}.npy", allow_pickle=False)
        if TABLE in content:
            return read_parquet(folder / f"{int(content[TABLE])}.parquet")
        return {name: read(part) for name, part in content.items()}

    try:
        values = read(json.loads((folder / FILE).read_bytes()))
    except (OSError, ValueError, TypeError, RecursionError, pl.exceptions.PolarsError) as error:
        raise _wrong(f"({error})") from None
    return Learned(values)


class Learned:
    """What was learned, each value asked for by its name and as what it must be; anything else is
    an error.
    """

    def __init__(self, values: Any) -> None:
        if not isinstance(values, dict):
            raise _wrong("(no names)")
        self._values = values

    def _of(self, name: str, kind: type | tuple[type, ...]) -> Any:
        value = self._values.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _wrong(f"('{name}' is {type(value).__name__})")
        return value

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def part(self, name: str) -> Learned:
        return Learned(self._of(name, dict))

    def word(self, name: str) -> str:
        return str(self._of(name, str))

    def words(self, name: str) -> list[str]:
        """A list of words, not empty."""
        values = self._of(name, list)
        if not values or not all(isinstance(value, str) for value in values):
            raise _wrong(f"('{name}' is not a list of words)")
        return list(values)

    def number(self, name: str) -> float:
        """A number that is neither infinite nor nan."""
        value = self._of(name, (int, float))
        if not math.isfinite(value):
            raise _wrong(f"('{name}' is {value})")
        return float(value)

    def whole(self, name: str) -> int:
        return int(self._of(name, int))

    def array(
        self, name: str, kind: npt.DTypeLike, shape: Sequence[int | None]
    ) -> npt.NDArray[Any]:
        """An array of this kind of numbers; null in its shape is any length."""
        value: npt.NDArray[Any] = self._of(name, np.ndarray)
        fits = len(value.shape) == len(shape) and all(
            s in (None, n) for s, n in zip(shape, value.shape, strict=True)
        )
        if not np.issubdtype(value.dtype, kind) or not fits:
            raise _wrong(f"('{name}' is an array of {value.dtype}, {value.shape})")
        return value

    def table(self, name: str, schema: Mapping[str, Any]) -> pl.DataFrame:
        """A table of these columns, without missing values."""
        value: pl.DataFrame = self._of(name, pl.DataFrame)
        if dict(value.schema) != dict(schema) or sum(value.null_count().row(0)):
            raise _wrong(f"('{name}' is a table of {dict(value.schema)})")
        return value


def _wrong(what: str) -> DataError:
    return DataError(f"What a detector learned cannot be read {what}.", "Run the same again.")
