"""Which settings of simulated cascades suit real ones, and how far the two are apart.

One half of the real cascades (whole events) chooses fan-out, threshold, reach and density for each
kind of network: those of the smallest mean Kolmogorov-Smirnov distance over size, depth, breadth
and structural virality. The other half tests them. Two more are given with each distance: how far
the first half is from the second, which no simulation can be expected to beat, and how far stars
are, in which all pass on the first post: the simplest cascade there is.

Cascades are collected because they grew: simulated ones smaller than the smallest real one are left
out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.deal import deal
from claimlab.core.stats.interval import unit_interval
from claimlab.core.stats.rule import Rule
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.draws import numbers
from claimlab_simulate.evolve.society.engine import Model, travel
from claimlab_simulate.evolve.society.network import Floats, Longs
from claimlab_simulate.evolve.society.telling import Fresh
from claimlab_simulate.evolve.validate.trees import (
    Trees,
    delayed,
    figures,
    hop_delays,
    real_trees,
    simulated_trees,
    up_to,
)

FIT_TO = ("size", "depth", "breadth", "virality")
FAN_OUTS = (1, 2, 3, 5, 10, 30)
THRESHOLDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95)
REACHES = (0.5, 0.75, 0.9, 1.0)  # quantiles of the real sizes
FEWEST_CASCADES = 20  # cascades in each half
DRAWS = 400
TRIALS = 60  # cascades for each setting that is tried


@dataclass(frozen=True)
class CascadeSettings:
    """The settings of simulated cascades."""

    mean_degree: float
    fan_out: int
    threshold: float
    reach: int


@dataclass(frozen=True)
class Fit:
    """What suits the first half best, and its mean distance; `small` is the share of simulated
    cascades below the smallest real one.
    """

    choice: CascadeSettings
    distance: float
    small: float


def distance(first: Floats, second: Floats) -> float:
    """Kolmogorov and Smirnov's: the largest difference of two distributions, from 0 to 1."""
    values = np.concatenate([first, second])
    shares = [
        np.searchsorted(np.sort(side), values, "right") / len(side) for side in (first, second)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


class Halves:
    """The real cascades, dealt by event: `fit` chooses, `test` judges."""

    def __init__(self, dataset: Dataset, seed: int) -> None:
        table = dataset.tables.get("cascade")
        if table is None or not table.height:
            raise DataError(
                f"'{dataset.name}' has no cascades: the table `cascade` is missing or empty.",
                "Load a dataset with propagation trees, such as twitter15 or pheme.",
            )
        trees = real_trees(table, dataset.records)
        groups = codes_of(dataset.records["group"])
        self.events = dataset.records["group"].drop_nulls().n_unique()
        side = deal(np.zeros_like(groups), groups, (0.5, 0.5), seed)
        measured = figures(trees)
        first = side[measured["tree"].to_numpy()] == 0
        self.fit, self.test = measured.filter(first), measured.filter(~first)
        if min(self.fit.height, self.test.height) < FEWEST_CASCADES:
            raise DataError(
                f"{measured.height:,} cascades are too few to fit on one half and test on the"
                " other.",
                f"Give at least {FEWEST_CASCADES} in each half, from two events or more.",
            )
        self.waits = hop_delays(trees.only(side[trees.tree] == 0))
        self.smallest = float(np.min(self.fit["size"].to_numpy()))
        self.deepest = int(np.max(self.fit["depth"].to_numpy()))
        self.reaches = sorted({int(np.quantile(self.fit["size"], q)) for q in REACHES})

    def describe(self) -> JsonObject:
        return {"fit": self.fit.height, "test": self.test.height, "events": self.events}

    def large(self, simulation: pl.DataFrame) -> pl.DataFrame:
        """The simulated cascades that could have been collected."""
        return simulation.filter(pl.col("size") >= self.smallest)

    def misfit(self, simulation: pl.DataFrame) -> float:
        """The mean distance from the first half."""
        each = [distance(simulation[name].to_numpy(), self.fit[name].to_numpy()) for name in FIT_TO]
        return float(np.mean(each))


def simulated(stage: Scene, choice: CascadeSettings, deepest: int, n: int, seed: int) -> Trees:
    """`n` cascades, as `evolve run` lets claims travel."""
    seeds = numbers(np.full(n, seed, dtype=np.uint64), np.arange(n))
    model = Model(stage.starts(seeds), seeds, agents=stage.ties.size)
    travel(model, Fresh(stage.ties, choice.fan_out), deepest, choice.reach, choice.threshold)
    return up_to(simulated_trees(model.visits()), choice.reach)


def choices(
    stage: Scene, halves: Halves, seed: int
) -> Iterator[tuple[CascadeSettings, pl.DataFrame]]:
    """Every setting on the grid with the figures of its cascades."""
    density, most = stage.ties.mean_degree, halves.reaches[-1]
    widest = int(stage.ties.degrees.max())
    fan_outs = [n for n in FAN_OUTS if n <= widest]
    for fan_out, threshold in product(fan_outs, THRESHOLDS):
        widely = CascadeSettings(density, fan_out, threshold, most)
        trees = simulated(stage, widely, halves.deepest, TRIALS, seed)
        for reach in halves.reaches:
            cascades = halves.large(figures(up_to(trees, reach)))
            if cascades.height >= FEWEST_CASCADES:
                yield replace(widely, reach=reach), cascades


def fitted(
    stages: Sequence[Scene], halves: Halves, cascades: int, seed: int
) -> tuple[Fit, pl.DataFrame] | None:
    """The settings that suit the first half best, and cascades made with them; null where too few
    grow as large as the smallest real one.
    """
    tried = [
        (halves.misfit(cascades), number, choice)
        for number, stage in enumerate(stages)
        for choice, cascades in choices(stage, halves, seed)
    ]
    if not tried:
        return None
    misfit, number, choice = min(tried, key=lambda trial: trial[0])
    trees = simulated(stages[number], choice, halves.deepest, cascades, seed + 1)
    simulation = figures(delayed(trees, halves.waits, seed))
    large = halves.large(simulation)
    return Fit(choice, misfit, 1 - large.height / cascades), large


def stars(halves: Halves, n: int, seed: int) -> pl.DataFrame:
    """Cascades as large as those of the first half, in which all pass on the first post."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice(halves.fit["size"].to_numpy(), n).astype(np.int64)
    tree = np.repeat(np.arange(n), sizes)
    first = np.searchsorted(tree, tree)
    root = first == np.arange(len(tree))
    trees = Trees(tree, np.where(root, -1, first), (~root).astype(np.int64), np.zeros(len(tree)))
    return figures(delayed(trees, halves.waits, seed))


def compared(
    halves: Halves, models: Mapping[str, pl.DataFrame], name: str, seed: int
) -> Iterator[JsonObject]:
    """One row for each model and measure; the verdict is on what its distance is above that of the
    two real halves.
    """
    real, fit = (half[name].drop_nulls().to_numpy() for half in (halves.test, halves.fit))
    if min(len(real), len(fit)) < FEWEST_CASCADES:
        return
    floor = distance(fit, real)
    for kind, simulation in models.items():
        values = simulation[name].drop_nulls().to_numpy()

        def above(rows: Longs, values: Floats = values) -> float:
            return distance(values, real[rows]) - distance(fit, real[rows])

        ends = unit_interval(len(real), above, seed=seed, draws=DRAWS)
        apart = distance(values, real)
        yield {
            "network": kind,
            "measure": name,
            "real": float(np.median(real)),
            "simulated": float(np.median(values)),
            "distance": apart,
            "halves": floor,
            "above": apart - floor,
            "interval": ends,
            "verdict": Rule().verdict(ends, 0.0) if ends else "not-measured",
        }
