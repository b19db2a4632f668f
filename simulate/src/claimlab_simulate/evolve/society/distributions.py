"""The distributions that agents are drawn from (`data/released.toml`).

Every attribute names the column it depends on (`given`) and holds weights for each value of that
column, so that a student is not also a working engineer. The file says it all: there is no other
constant behind a drawn society.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject

RELEASED = "released"


def drawn_attributes(
    stated: JsonObject, size: int, rng: np.random.Generator
) -> dict[str, pl.Series]:
    """`group` and every attribute of `size` agents, as Enum columns."""
    if size < 1:
        raise UsageError(f"A society cannot have {size} agents.", "Draw 1 or more.")
    groups = stated["groups"]
    names = {"group": list(groups)}
    codes = {"group": _pick([*groups.values()], size, rng)}
    for name, lines in stated["attributes"].items():
        condition = lines["given"]
        weights = [lines[parent] for parent in names[condition]]
        values = list(dict.fromkeys(value for line in weights for value in line))
        codes[name], names[name] = np.zeros(size, dtype=np.uint32), values
        for code, line in enumerate(weights):
            rows = np.flatnonzero(codes[condition] == code)
            if rows.size:
                codes[name][rows] = _pick([line.get(v, 0.0) for v in values], rows.size, rng)
    return {
        name: pl.Series(name, values, dtype=pl.Enum(values)).gather(codes[name])
        for name, values in names.items()
    }


def _pick(weights: Sequence[float], size: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    edges = np.cumsum(weights)
    places = np.searchsorted(edges, rng.random(size) * edges[-1], side="right")
    return np.asarray(places, dtype=np.uint32)
