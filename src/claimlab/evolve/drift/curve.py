"""Does drift rise fast and then flatten? The mean over traces at each hop, its early and late
slope, its ceiling.

Two ceilings are given. One is the measure's own, which no text can pass. The other is what
unrelated claims score against each other: a text that is as far from its base has lost what the
base said. A curve that ends below the second ceiling has kept some of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.interval import Interval, unit_interval
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.features import Reader
from claimlab.evolve.drift.grouping import LEAST as LEAST_TRACES
from claimlab.evolve.drift.lite import CEILING, TOTAL, drift_lite

SHARE = 1 / 3  # of the hops: the first third is early, the last third is late
LEAST = 6  # hops; fewer have no early and late part worth a slope
FLAT = 0.2  # a late slope under a fifth of the early one counts as flat
DRAWS = 500


@dataclass(frozen=True)
class Curve:
    """The mean drift at each hop, starting at hop 0, over the traces that reached it; and the shape
    of that curve.
    """

    hops: tuple[int, ...]
    mean: tuple[float, ...]
    n: tuple[int, ...]
    end: float | None  # mean over traces of each one's last hop
    early: float | None
    late: float | None
    ratio_interval: tuple[float, float] | None
    ceiling: float
    unrelated: float | None

    @property
    def ratio(self) -> float | None:
        """The late slope as a share of the early one; null where drift never rose."""
        return (
            None
            if self.early is None or self.late is None or self.early <= 0
            else self.late / self.early
        )

    @property
    def flattens(self) -> bool | None:
        return None if self.ratio is None else self.ratio < FLAT

    def to_json(self) -> JsonObject:
        return {
            "hops": list(self.hops),
            "mean": list(self.mean),
            "n": list(self.n),
            "early_slope": self.early,
            "late_slope": self.late,
            "ratio": self.ratio,
            "ratio_interval": self.ratio_interval,
            "flattens": self.flattens,
            "end": self.end,
            "ceiling": self.ceiling,
            "unrelated": self.unrelated,
        }


def curve(
    measured: pl.DataFrame,
    *,
    value: str = TOTAL,
    ceiling: float = CEILING,
    unrelated: float | None = None,
    start: float = 0.0,
    seed: int = 0,
) -> Curve:
    """`measured` has trace_id, depth and `value`. Every trace has the drift `start` at depth 0, its
    base claim.

    Slopes are taken over the same traces throughout, up to the hop that half of all traces reached:
    a curve must not bend because traces end. The means say at each hop how many traces got there.
    """
    # In a cascade a trace has several texts at one depth: their mean is the trace's value there.
    known = (
        measured.drop_nulls(value)
        .group_by("trace_id", pl.col("depth").alias("hop"), maintain_order=True)
        .agg(pl.col(value).mean())
        .sort("trace_id", "hop")
    )
    # A mean of floats depends on the order of its terms: groups keep the order of the rows, here
    # and below.
    means = (
        known.group_by("hop", maintain_order=True)
        .agg(pl.col(value).mean(), pl.len().alias("n"))
        .sort("hop")
    )
    n0 = known["trace_id"].n_unique()
    hops = (0, *means["hop"].to_list())
    mean = (start, *means[value].to_list())
    matrix = _whole(known, value, start)
    early = late = None
    interval = None
    if matrix is not None and len(matrix) >= LEAST_TRACES:
        early, late = _slopes(matrix.mean(axis=0))
        interval = _interval(matrix, seed)
    ends = known.group_by("trace_id", maintain_order=True).last()[value]
    end = float(ends.sum()) / ends.len() if ends.len() else None
    return Curve(
        hops, mean, (n0, *means["n"].to_list()), end, early, late, interval, ceiling, unrelated
    )


def unrelated_drift(
    bases: Sequence[str], *, seed: int = 0, reader: Reader | None = None
) -> float | None:
    """Mean drift between different base claims: each against the next in a shuffled ring."""
    different = sorted(set(bases))
    if len(different) < 2:
        return None
    ring = np.random.default_rng(seed).permutation(len(different))
    texts = [different[i] for i in ring]
    value = drift_lite(texts, [*texts[1:], texts[0]], reader=reader)[TOTAL].mean()
    return float(value) if isinstance(value, float) else None


def _whole(known: pl.DataFrame, value: str, start: float) -> npt.NDArray[np.float64] | None:
    """Traces by hops, hop 0 included, up to the hop that half of the traces reached; null when that
    is too early.
    """
    lengths = known.group_by("trace_id").agg(pl.col("hop").max())["hop"].sort(descending=True)
    last = int(lengths[(len(lengths) - 1) // 2]) if len(lengths) else 0
    if last < LEAST:
        return None
    part = known.filter(pl.col("hop") <= last)
    full = part.filter(pl.len().over("trace_id") == last).sort("trace_id", "hop")
    if not full.height:
        return None
    matrix = full[value].to_numpy().reshape(-1, last)
    return np.hstack([np.full((len(matrix), 1), start), matrix])


def _slopes(mean: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Least-squares slopes per hop over the first and the last third."""
    part = max(2, round(SHARE * (len(mean) - 1)))
    x = np.arange(part + 1)
    return float(np.polyfit(x, mean[: part + 1], 1)[0]), float(
        np.polyfit(x, mean[-part - 1 :], 1)[0]
    )


def _interval(matrix: npt.NDArray[np.float64], seed: int) -> Interval | None:
    """95% bootstrap interval of the late slope over the early one; null where drift often does not
    rise.
    """

    def ratio(traces: npt.NDArray[np.int64]) -> float:
        early, late = _slopes(matrix[traces].mean(axis=0))
        return late / early if early > 0 else float("nan")

    return unit_interval(len(matrix), ratio, seed=seed, draws=DRAWS)
