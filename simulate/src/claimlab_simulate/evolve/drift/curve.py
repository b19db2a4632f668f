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
from claimlab_simulate.evolve.drift.hops import FEWEST_TRACES
from claimlab_simulate.evolve.drift.lite import CEILING, TOTAL, drift_lite

THIRD = 1 / 3  # of the hops: the first third is early, the last third is late
FEWEST_HOPS = 6  # hops; fewer have no early and late part worth a slope
FLAT_BELOW = 0.2  # a late slope under a fifth of the early one counts as flat
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
    noise: tuple[float, ...] = ()  # the mean of the null model at the same hops
    noise_end: float | None = None
    beyond: tuple[float, float] | None = None  # interval of the end less the end of the null model

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
        return None if self.ratio is None else self.ratio < FLAT_BELOW

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
            "null": list(self.noise),
            "null_end": self.noise_end,
            "beyond_null": self.beyond,
        }


def curve(measured: pl.DataFrame, *, unrelated: float | None = None, seed: int = 0) -> Curve:
    """`measured` has trace_id, depth and drift. No trace has drifted at depth 0, its base claim.

    Slopes are taken over the same traces throughout, up to the hop that half of all traces reached:
    a curve must not bend because traces end. The means say at each hop how many traces got there.
    """
    # In a cascade a trace has several texts at one depth: their mean is the trace's value there.
    by_hop = (
        measured.drop_nulls(TOTAL)
        .group_by("trace_id", hop="depth", maintain_order=True)
        .agg(pl.col(TOTAL).mean())
        .sort("trace_id", "hop")
    )
    # A mean of floats depends on the order of its terms: groups keep the order of the rows, here
    # and below.
    means = (
        by_hop.group_by("hop", maintain_order=True)
        .agg(pl.col(TOTAL).mean(), n=pl.len())
        .sort("hop")
    )
    matrix = _whole(by_hop)
    early = late = interval = None
    if matrix is not None and len(matrix) >= FEWEST_TRACES:
        early, late = _slopes(matrix.mean(axis=0))
        interval = _interval(matrix, seed)
    ends = by_hop.group_by("trace_id", maintain_order=True).last()[TOTAL]
    return Curve(
        hops=(0, *means["hop"]),
        mean=(0.0, *means[TOTAL]),
        n=(len(ends), *means["n"]),
        end=float(ends.sum()) / len(ends) if len(ends) else None,
        early=early,
        late=late,
        ratio_interval=interval,
        ceiling=CEILING,
        unrelated=unrelated,
    )


def unrelated_drift(bases: Sequence[str], *, seed: int = 0) -> float | None:
    """Mean drift between different base claims: each against the next in a shuffled ring."""
    different = sorted(set(bases))
    if len(different) < 2:
        return None
    ring = np.random.default_rng(seed).permutation(len(different))
    texts = [different[i] for i in ring]
    value = drift_lite(texts, [*texts[1:], texts[0]])[TOTAL].mean()
    return float(value) if isinstance(value, float) else None


def _whole(by_hop: pl.DataFrame) -> npt.NDArray[np.float64] | None:
    """Traces by hops, hop 0 included, up to the hop that half of the traces reached; null when that
    is too early.
    """
    lengths = by_hop.group_by("trace_id").agg(pl.col("hop").max())["hop"].sort(descending=True)
    last = int(lengths[(len(lengths) - 1) // 2]) if len(lengths) else 0
    if last < FEWEST_HOPS:
        return None
    part = by_hop.filter(pl.col("hop") <= last)
    full = part.filter(pl.len().over("trace_id") == last).sort("trace_id", "hop")
    if not full.height:
        return None
    matrix = full[TOTAL].to_numpy().reshape(-1, last)
    return np.pad(matrix, ((0, 0), (1, 0)))


def _slopes(mean: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Least-squares slopes per hop over the first and the last third."""
    part = max(2, round(THIRD * (len(mean) - 1)))
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
