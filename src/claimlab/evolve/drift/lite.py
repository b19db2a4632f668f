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

from claimlab.core.progress import Progress, silent
from claimlab.evolve.drift.features import Features, Reader

CHUNK = 2_000


@dataclass(frozen=True)
class Dimension:
    """`ceiling` is the greatest value the dimension can take; `ceiling_when` says what it takes to
    get there.
    """

    name: str
    title: str
    ceiling: float
    ceiling_when: str
    weak: bool


DIMENSIONS = (
    Dimension(
        "sentiment", "Sentiment shift", 1.0, "from wholly negative to wholly positive", False
    ),
    Dimension(
        "new_information",
        "New information",
        1.0,
        "no content word, number or name is from the base",
        False,
    ),
    Dimension(
        "certainty",
        "Certainty shift",
        1.0,
        "from hedges only to boosters only (never quite reached)",
        True,
    ),
    Dimension(
        "style", "Stylistic shift", 1.0, "every mark of style from one end to the other", False
    ),
    Dimension(
        "temporal", "Temporal shift", 1.0, "expressions of time, and none of them shared", True
    ),
    Dimension(
        "paraphrase", "Paraphrase distance", 1.0, "no word or pair of words is shared", False
    ),
)
NAMES = tuple(d.name for d in DIMENSIONS)
TOTAL = "drift"
CEILING = sum(d.ceiling for d in DIMENSIONS) / len(DIMENSIONS)


def compare(base: Features, now: Features) -> tuple[float, ...]:
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
    *,
    reader: Reader | None = None,
    progress: Progress = silent,
) -> pl.DataFrame:
    """One row per pair: the six dimensions and `drift`, their mean. A pair with a missing text is
    null throughout.
    """
    reader = reader or Reader()
    values = np.full((len(base), len(NAMES)), np.nan)
    known: dict[
        tuple[str, str], tuple[float, ...]
    ] = {}  # a bystander's hop leaves the pair as it was
    for i, (a, b) in enumerate(zip(base, now, strict=True)):
        if a is not None and b is not None:
            if (a, b) not in known:
                known[a, b] = compare(reader.read(a), reader.read(b))
            values[i] = known[a, b]
        if i % CHUNK == 0:
            progress("measuring drift", i, len(base))
    progress("measuring drift", len(base), len(base))
    columns = {name: values[:, i] for i, name in enumerate(NAMES)}
    return pl.DataFrame(columns | {TOTAL: values.mean(axis=1)}).fill_nan(None)


def _new(base: Features, now: Features) -> float:
    """Share of what the text says now that the base did not say."""
    fresh = len(now.units - base.units)
    return fresh / len(now.units) if now.units else 0.0


def _unlike(a: frozenset[str], b: frozenset[str]) -> float:
    """1 less the Jaccard index; two empty sets are alike."""
    both = len(a | b)
    return 1 - len(a & b) / both if both else 0.0
