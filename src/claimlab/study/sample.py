"""A random part of a dataset, whole groups at a time: a trial of a study before the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.run import Run, Source


@repeatable()
def sample(data: Source, size: int, *, output: str | Path | None = None, seed: int = 0) -> Dataset:
    """About `size` records of `data`: groups are drawn until there are as many, and stay whole."""
    with Run("sample", data, output, seed=seed) as run:
        dataset = run.dataset
        units = dataset.records.select(pl.coalesce("group", pl.lit("record ") + pl.col("id"))).to_series()
        names = units.unique(maintain_order=True)
        order = np.random.default_rng(seed).permutation(names.len())
        rank = pl.DataFrame({"unit": names.gather(order), "rank": range(names.len())})
        places = units.to_frame("unit").join(rank, on="unit", how="left", maintain_order="left")["rank"]
        last = places.sort()[min(size, places.len()) - 1] if places.len() else 0
        records = dataset.records.filter(places <= last)
        step = Lineage(
            step="sample",
            parameters={"size": size},
            seed=seed,
            inputs={dataset.name: dataset.digest()},
            counts={"before": len(dataset), "after": records.height},
        )
        return run.finish(dataset.derive(records, step, belonging(dataset.tables, records["id"])))
