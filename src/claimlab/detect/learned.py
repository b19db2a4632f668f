"""What a detector learned, as files that other processes read: plain values in JSON, arrays and tables beside them.

No pickle: the state of an object is written value by value, and only objects of packages that are trusted anyway are
made again. What does not consist of such values cannot be written, and the detector predicts where it was fitted.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.digest import write_parquet

FILE = "learned.json"
PACKAGES = frozenset({"claimlab", "sklearn"})  # and that of the detector
PLAIN = (str, int, float, bool, type(None))
GROUPS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def write_learned(values: dict[str, Any], folder: Path, package: str) -> bool:
    """Write the values into `folder`; false where one of them cannot be written."""
    try:
        content = _Writer(folder, PACKAGES | {package}).of(values)
    except TypeError:
        return False
    (folder / FILE).write_text(json.dumps(content), encoding="utf-8")
    return True


def read_learned(folder: Path, package: str) -> dict[str, Any]:
    """The values that `write_learned` wrote."""
    content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    values: dict[str, Any] = _Reader(folder, PACKAGES | {package}).of(content)
    return values


class _Writer:
    """A value in JSON is itself, or a list of its kind and its content."""

    def __init__(self, folder: Path, packages: frozenset[str]) -> None:
        self.folder, self.packages, self.files = folder, packages, 0

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind.__name__ in GROUPS and kind is GROUPS[kind.__name__]:
            items = sorted(value, key=repr) if kind in (set, frozenset) else value
            return [kind.__name__, [self.of(item) for item in items]]
        if kind is dict:
            return ["dict", [[self.of(key), self.of(item)] for key, item in value.items()]]
        if isinstance(value, (np.ndarray, np.generic)):
            if value.dtype.hasobject:
                raise TypeError("an array of objects")
            np.save(self._file("npy"), value, allow_pickle=False)
            return ["array" if kind is np.ndarray else "number", self.files]
        if isinstance(value, (pl.DataFrame, pl.Series)):
            table = value.to_frame() if isinstance(value, pl.Series) else value
            write_parquet(table, self._file("parquet"))
            return ["table" if table is value else "column", self.files]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__.split(".")[0] not in self.packages or "<" in kind.__qualname__ or isinstance(value, type):
            raise TypeError(f"{kind} is of no trusted package")
        name = f"{kind.__module__}:{kind.__qualname__}"
        if hasattr(value, "__dict__"):
            return [name, self.of(dict(vars(value)))]
        make, arguments, *state = value.__reduce__()  # of a compiled class, such as a tree of scikit-learn
        if make is not kind or not state:
            raise TypeError(f"{kind} does not show its state")
        return [name, self.of(state[0]), self.of(arguments)]

    def _file(self, ending: str) -> Path:
        self.files += 1
        return self.folder / f"{self.files}.{ending}"


class _Reader:
    def __init__(self, folder: Path, packages: frozenset[str]) -> None:
        self.folder, self.packages = folder, packages

    def of(self, content: Any) -> Any:
        if not isinstance(content, list):
            return content
        kind, inside, *more = content
        if kind in GROUPS:
            return GROUPS[kind](self.of(item) for item in inside)
        if kind == "dict":
            return {self.of(key): self.of(item) for key, item in inside}
        if kind in ("array", "number"):
            array = np.load(self.folder / f"{inside}.npy", allow_pickle=False)
            return array if kind == "array" else array[()]
        if kind in ("table", "column"):
            table = pl.read_parquet(self.folder / f"{inside}.parquet")
            return table if kind == "table" else table.to_series()
        return self._object(kind, self.of(inside), *map(self.of, more))

    def _object(self, name: str, state: dict[str, Any], arguments: tuple[Any, ...] | None = None) -> Any:
        module, _, attributes = name.partition(":")
        if module.split(".")[0] not in self.packages:
            raise TypeError(f"{name} is of no trusted package")
        kind: Any = import_module(module)
        for attribute in attributes.split("."):
            kind = getattr(kind, attribute)
        assert isinstance(kind, type), name
        if arguments is not None:
            result: Any = kind(*arguments)
            result.__setstate__(state)
            return result
        result = object.__new__(kind)
        vars(result).update(state)
        return result
