"""Stated distributions that agents are drawn from: TOML files in `data/`, or one of your own.

Every attribute names the column it depends on (`given`) and holds weights for each value of that
column, so that a student is not also a working engineer. The file says it all: there is no other
constant behind a drawn society.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.errors import SchemaError, UnknownName, UsageError
from claimlab.core.types import JsonObject

Weights = Mapping[str, float]


@dataclass(frozen=True)
class Attribute:
    """`weights` is by value of the column `given`; the weights of one line need not add up to
    anything.
    """

    given: str
    weights: Mapping[str, Weights]

    def values(self) -> list[str]:
        """Every value that any line names, in the order of the file."""
        return list(dict.fromkeys(value for line in self.weights.values() for value in line))


@dataclass(frozen=True)
class Distributions:
    name: str
    groups: Weights
    attributes: Mapping[str, Attribute]
    sha256: str = ""

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        """`group` and every attribute of `size` agents, as Enum columns."""
        if size < 1:
            raise UsageError(f"A society cannot have {size} agents.", "Draw 1 or more.")
        names = {"group": list(self.groups)}
        codes = {"group": _pick(list(self.groups.values()), size, rng)}
        for name, attribute in self.attributes.items():
            values = attribute.values()
            drawn = np.zeros(size, dtype=np.uint32)
            for code, parent in enumerate(names[attribute.given]):
                rows = np.flatnonzero(codes[attribute.given] == code)
                line = attribute.weights.get(parent)
                if line is not None and rows.size:
                    drawn[rows] = _pick([line.get(value, 0.0) for value in values], rows.size, rng)
            names[name], codes[name] = values, drawn
        return {name: _enum(name, codes[name], names[name]) for name in names}


def open_distributions(source: str | Path) -> Distributions:
    """A packaged file by its name ("released"), or the path of a TOML file."""
    folder = resources.files("claimlab.evolve.society") / "data"
    packaged = {
        f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")
    }
    packaged.pop("groups", None)  # what the groups are, in words
    if str(source) in packaged:
        data, name = packaged[str(source)].read_bytes(), str(source)
    elif Path(source).is_file():
        data, name = Path(source).read_bytes(), Path(source).name
    else:
        raise UnknownName("distribution of agents", str(source), packaged)
    try:
        stated = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SchemaError(f"'{name}' is not TOML: {error}.", "Fix that line.") from None
    return _checked(name, stated, hashlib.sha256(data).hexdigest())


def _checked(name: str, stated: JsonObject, digest: str) -> Distributions:
    groups = _line(name, "groups", stated.get("groups"))
    seen: dict[str, list[str]] = {"group": list(groups)}
    attributes: dict[str, Attribute] = {}
    for column, table in stated.get("attributes", {}).items():
        condition = table.get("given", "group")
        if condition not in seen:
            raise SchemaError(
                f"In '{name}', '{column}' depends on '{condition}', which does not appear"
                " above it.",
                f"Name one of: {', '.join(seen)}; or move '{condition}' up.",
            )
        lines = {
            key: _line(name, f"{column}.{key}", line)
            for key, line in table.items()
            if key != "given"
        }
        missing = [value for value in seen[condition] if value not in lines]
        strange = [key for key in lines if key not in seen[condition]]
        if missing or strange:
            raise SchemaError(
                f"In '{name}', '{column}' has no line for {missing} and one for the unknown"
                f" {strange}.",
                f"Give one line of weights for each value of '{condition}'.",
            )
        attributes[column] = Attribute(condition, lines)
        seen[column] = attributes[column].values()
    return Distributions(name, groups, attributes, digest)


def _line(name: str, where: str, line: object) -> dict[str, float]:
    numbers = isinstance(line, dict) and all(
        isinstance(w, int | float) and w >= 0 for w in line.values()
    )
    if not isinstance(line, dict) or not numbers or not sum(line.values()):
        raise SchemaError(
            f"In '{name}', [{where}] is not a table of weights.", 'Write it as: "value" = 12'
        )
    return {str(value): float(weight) for value, weight in line.items()}


def _pick(weights: list[float], size: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    edges = np.cumsum(weights)
    codes: NDArray[np.uint32] = np.searchsorted(
        edges, rng.random(size) * edges[-1], side="right"
    ).astype(np.uint32)
    return codes


def _enum(name: str, codes: NDArray[np.uint32], values: list[str]) -> pl.Series:
    kind = pl.Enum(values)
    return pl.Series(name, values, dtype=kind).gather(codes)
