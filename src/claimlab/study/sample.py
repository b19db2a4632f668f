"""A random part of a dataset, group by group: a trial of a study before the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.run import Run, Source

# a sample has as many groups at least, where the data has: a split needs several for each of its
# sides
GROUPS = 10


@repeatable()
def sample(data: Source, size: int, *, output: str | Path | None = None, seed: int = 0) -> Dataset:
    """About `size` records of `data`: groups are drawn until there are as many, and stay whole, but
    for groups of more than a tenth of the sample, of which as many records are drawn."""
    with Run("sample", data, output, seed=seed) as run:
        dataset = run.dataset
        chosen = drawn(dataset.records, size, np.random.default_rng(seed))
        records = dataset.records.filter(chosen)
        step = Lineage(
            step="sample",
            parameters={"size": size},
            seed=seed,
            inputs={dataset.name: dataset.digest()},
            counts={"before": len(dataset), "after": records.height},
        )
        return run.finish(dataset.derive(records, step, belonging(dataset.tables, records["id"])))


def drawn(records: pl.DataFrame, size: int, rng: np.random.Generator) -> pl.Series:
    """Which records are drawn."""
    unit = pl.coalesce("group", pl.lit("record ") + pl.col("id")).alias("unit")
    order = pl.Series("order", rng.permutation(records.height))
    places = records.select(unit).with_columns(order)
    # groups in random order, and of each only so many records that a few groups do not fill it all
    names = places["unit"].unique(maintain_order=True)
    shuffled = names.gather(rng.permutation(names.len()))
    ranks = pl.DataFrame({"unit": shuffled}).with_row_index("rank")
    places = places.join(ranks, on="unit", how="left", maintain_order="left")
    most = max(1, size // GROUPS) if size < records.height else records.height
    place = pl.col("order").rank("ordinal").over("unit")
    places = places.with_columns(within=place <= most)
    taken = places.filter("within")["rank"].sort().head(size)
    last = taken[-1] if taken.len() else 0
    return places.select(pl.col("within") & (pl.col("rank") <= last)).to_series()
