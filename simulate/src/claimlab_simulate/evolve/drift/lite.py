"""drift-lite: how far a text has moved from its base claim, in six dimensions, without a model.

It asks the six questions of FUSE-EVAL with word lists and counts, and it is its own measure: it was
not fitted to a judge, and its figures must never be called FUSE-EVAL. What each dimension is worth
was measured on released pairs (bench/evolve_drift.py pairs); the ones that hardly separate anything
are marked weak, here and wherever they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.progress import progress
from claimlab_simulate.evolve.drift.features import TextFeatures, read

PAIRS_A_REPORT = 2_000
TOTAL = "drift"


@dataclass(frozen=True)
class DriftDimension:
    """`ceiling` is the greatest value the dimension can take; `ceiling_when` says what it takes to
    get there.
    """

    name: str
    title: str
    ceiling: float
    ceiling_when: str
    weak: bool


DIMENSIONS = tuple(
    DriftDimension(**row)
    for row in packaged.toml("claimlab_simulate.evolve.drift", "dimensions.toml")["dimensions"]
)
NAMES = tuple(d.name for d in DIMENSIONS)
CEILING = sum(d.ceiling for d in DIMENSIONS) / len(DIMENSIONS)


def compare(base: TextFeatures, now: TextFeatures) -> tuple[float, ...]:
    """The six distances between two texts, each from 0 (nothing moved) to its ceiling, in the order
    of NAMES.
    """
    return (
        abs(now.sentiment - base.sentiment) / 2,
        _new(base, now),
        abs(now.certainty - base.certainty) / 2,
        float(np.sqrt(np.mean((now.style - base.style) ** 2))),
        _unlike(base.times, now.times),
        _unlike(base.pairs, now.pairs),
    )


def drift_lite(
    base: Sequence[str | None],
    now: Sequence[str | None],
) -> pl.DataFrame:
    """One row per pair: the six dimensions and `drift`, their mean. A pair with a missing text is
    null throughout.
    """
    values = np.full((len(base), len(NAMES)), np.nan)
    # a bystander's hop leaves the pair as it was
    measured: dict[tuple[str, str], tuple[float, ...]] = {}
    for i, (a, b) in enumerate(zip(base, now, strict=True)):
        if a is not None and b is not None:
            if (a, b) not in measured:
                measured[a, b] = compare(read(a), read(b))
            values[i] = measured[a, b]
        if i % PAIRS_A_REPORT == 0:
            progress("measuring drift", i, len(base))
    progress("measuring drift", len(base), len(base))
    columns = {name: values[:, i] for i, name in enumerate(NAMES)}
    return pl.DataFrame(columns | {TOTAL: values.mean(axis=1)}).fill_nan(None)


def _new(base: TextFeatures, now: TextFeatures) -> float:
    """Share of what the text says now that the base did not say."""
    fresh = len(now.units - base.units)
    return fresh / len(now.units) if now.units else 0.0


def _unlike(a: frozenset[str], b: frozenset[str]) -> float:
    """1 less the Jaccard index; two empty sets are alike."""
    both = len(a | b)
    return 1 - len(a & b) / both if both else 0.0
