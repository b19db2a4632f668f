"""Texts with a known value: what a classifier learns from, read from any claimlab dataset.

Where a record says its dimension and value (the released evolved claims, or what `claimlab evolve run` wrote with an
outcome of success), that is taken; else `label_raw` is, if it names a value of the dimension asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.evolve.target import Target, steerable

FEWEST = 5  # examples of a value; with less there is nothing to learn


@dataclass(frozen=True)
class Examples:
    """`groups` keep what came from one claim together."""

    texts: NDArray[np.object_]
    values: NDArray[np.object_]
    groups: NDArray[np.object_]

    def take(self, rows: Any) -> Examples:
        return Examples(self.texts[rows], self.values[rows], self.groups[rows])


def examples(dataset: Dataset, dimension: str) -> Examples:
    """Every record of `dataset` that is an example of a value of `dimension`."""
    rows = dataset.records.select("id", "text", "label_raw", "group", "meta").iter_rows()
    found = [
        (text, target.value, group or record_id)
        for record_id, text, label, group, meta in rows
        if text is not None and (target := _target(meta, label, dimension)) is not None
    ]
    counts = {value: sum(v == value for _, v, _ in found) for value in steerable()[dimension].values}
    if few := [f"{value} ({n})" for value, n in counts.items() if n < FEWEST]:
        raise DataError(
            f"'{dataset.name}' has too few examples of {dimension}: {', '.join(few)}.",
            f"Give at least {FEWEST} of each value, such as: claimlab load evolved-claims FILE -o DIR",
        )
    columns = [np.array(column, dtype=object) for column in zip(*found, strict=True)]
    return Examples(*columns)


def _target(meta: str | None, label: str | None, dimension: str) -> Target | None:
    values = json.loads(meta) if meta else {}
    changes = (
        (values.get("synthetic") or {}).get("changes") or [{}] if isinstance(values.get("synthetic"), dict) else [{}]
    )
    said = changes[-1] if isinstance(changes[-1], dict) else {}
    if values.get("dimension") and values.get("target_value"):
        pair = (values["dimension"], values["target_value"]) if values.get("status") == "success" else None
    else:
        pair = (said["dimension"], said["value"]) if said.get("dimension") and said.get("value") else None
        pair = pair or ((dimension, label) if label else None)
    if pair is None:
        return None
    try:
        target = Target.of(*pair)
    except UsageError:
        return None
    return target if target.dimension == dimension else None
