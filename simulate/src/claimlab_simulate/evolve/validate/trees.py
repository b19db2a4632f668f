"""Cascades as trees, and their figures.

Structural virality is the mean distance of two posts of a cascade: 2 in a star, more where claims
pass from one to the next. Time to half is when half of the posts were there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab_simulate.evolve.society.engine import Visits
from claimlab_simulate.evolve.society.network import Flags, Floats, Longs

MEASURES = {
    "size": "posts",
    "depth": "hops from the first post",
    "breadth": "most posts at one depth",
    "virality": "mean distance of two posts",
    "time to half": "minutes to half of the posts",
}


class Trees(NamedTuple):
    """One row for each post, tree by tree; `parent` is a row, -1 that of the first post."""

    tree: Longs
    parent: Longs
    depth: Longs
    delay: Floats

    def only(self, keep: Flags) -> Trees:
        """Without some posts; a post that stays keeps its parent."""
        row = np.cumsum(keep) - 1
        parent = np.where(self.parent < 0, -1, row[self.parent])
        return Trees(self.tree[keep], parent[keep], self.depth[keep], self.delay[keep])


def real_trees(cascade: pl.DataFrame, records: pl.DataFrame) -> Trees:
    """The side table `cascade`; trees are numbered as `records` are."""
    numbers = records.select(record_id="id").with_row_index("tree")
    posts = cascade.join(numbers, on="record_id").sort("tree", "depth", maintain_order=True)
    rows = posts.with_row_index("row").select("record_id", "row", parent="child")
    posts = posts.join(rows, on=["record_id", "parent"], how="left", maintain_order="left")
    first = posts["parent"].is_null()
    if posts["depth"].null_count() or (posts["row"].is_null() & ~first).any():
        raise DataError(
            "The table 'cascade' has posts without a depth, or whose parent is not in it.",
            "Make the dataset again.",
        )
    return Trees(
        posts["tree"].to_numpy().astype(np.int64),
        posts["row"].cast(pl.Int64).fill_null(-1).to_numpy(),
        posts["depth"].to_numpy().astype(np.int64),
        posts["delay"].to_numpy(),
    )


def simulated_trees(visits: Visits) -> Trees:
    begin = np.searchsorted(visits.claim, visits.claim)
    parent = np.where(visits.parent < 0, -1, begin + visits.parent)
    return Trees(visits.claim, parent, visits.depth, np.full(len(parent), np.nan))


def hop_delays(trees: Trees) -> Floats:
    """How long each post came after its parent, where that is known."""
    hops = trees.parent >= 0
    waits = trees.delay[hops] - trees.delay[trees.parent[hops]]
    stated: Floats = waits[~np.isnan(waits)]
    return stated


def delayed(trees: Trees, waits: Floats, seed: int) -> Trees:
    """Every hop takes one of `waits`, drawn at random."""
    if not len(waits):
        return trees
    delay = np.random.default_rng(seed).choice(waits, len(trees.tree))
    delay[trees.parent < 0] = 0.0
    for depth in range(1, int(trees.depth.max(initial=0)) + 1):
        rows = np.flatnonzero(trees.depth == depth)
        delay[rows] += delay[trees.parent[rows]]
    return trees._replace(delay=delay)


def figures(trees: Trees) -> pl.DataFrame:
    """`MEASURES` of every tree, in the order of their numbers."""
    below = np.ones(len(trees.tree))  # posts at or below each
    deepest = int(trees.depth.max(initial=0))
    for depth in range(deepest, 0, -1):
        rows = np.flatnonzero(trees.depth == depth)
        np.add.at(below, trees.parent[rows], below[rows])
    posts = pl.DataFrame({**trees._asdict(), "below": below}, nan_to_null=True)
    size = pl.len().over("tree")
    across = pl.col("below") * (size - pl.col("below"))  # pairs that the hop above a post joins
    posts = posts.with_columns(across=across, level=pl.len().over("tree", "depth"))
    measured = posts.group_by("tree").agg(
        size=pl.len().cast(pl.Float64),
        depth=pl.col("depth").max().cast(pl.Float64),
        breadth=pl.col("level").max().cast(pl.Float64),
        virality=2 * pl.col("across").sum() / (pl.len() * (pl.len() - 1)),
        **{"time to half": pl.col("delay").quantile(0.5, "lower")},
    )
    return measured.sort("tree").with_columns(pl.col("virality").fill_nan(0.0))


def up_to(trees: Trees, reach: int) -> Trees:
    """The first posts of every tree: those that a smaller reach would have left."""
    return trees.only(np.arange(len(trees.tree)) - np.searchsorted(trees.tree, trees.tree) < reach)
