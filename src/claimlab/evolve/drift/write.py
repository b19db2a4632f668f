"""A drift report on disk: `drift.json` holds every figure, the pages and pictures beside it are
views of them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.evolve.drift.fuse import TOTAL
from claimlab.evolve.drift.hops import groups_of
from claimlab.evolve.drift.measure import Drift
from claimlab.evolve.drift.views.page import VIEWER, report
from claimlab.evolve.drift.views.viewer import Societies, Society, to_page
from claimlab.evolve.society.network import Network
from claimlab.pages.folder import Contents

FILE = "drift.json"
HOPS, FUSE, FUSE_MEANS = "hops.parquet", "fuse-eval.parquet", "fuse-eval-means.parquet"
KIND = "drift report"


def contents(
    drifted: Drift, societies: Societies | None = None, *, traces: int, seed: int = 0
) -> Contents:
    """What the report folder holds; `traces` is how many the viewer shows."""
    page = report(drifted, viewer=VIEWER if traces else None)
    files: dict[str, str | pl.DataFrame] = {HOPS: with_fuse(drifted)}
    if drifted.fuse_scores is not None and drifted.fuse_means is not None:
        files |= {FUSE: drifted.fuse_scores, FUSE_MEANS: drifted.fuse_means}
    if traces:
        files[VIEWER] = to_page(drifted.hops, societies, most=traces, seed=seed)
    return Contents(KIND, [page], data={FILE: drifted.to_json()}, files=files)


def with_fuse(drifted: Drift) -> pl.DataFrame:
    """Every hop; those that were judged with the mean of their FUSE-EVAL scores, in columns that
    start with `fuse_`.
    """
    hops = drifted.hops.drop("votes")
    if drifted.fuse is None or drifted.fuse_hops is None:
        return hops
    names = (*drifted.fuse.reading.dimensions, TOTAL)
    judged = drifted.fuse.means().join(
        drifted.fuse_hops.select("pair", "run", "trace_id", "hop"), on="pair"
    )
    scores = judged.select(
        "run", "trace_id", "hop", *(pl.col(name).alias(f"fuse_{name}") for name in names)
    )
    return hops.join(scores, on=["run", "trace_id", "hop"], how="left", maintain_order="left")


def society_of(dataset: Dataset) -> Society | None:
    """The agents and ties that a run left beside its traces; null where it left none."""
    agents, edges = dataset.tables.get("agents"), dataset.tables.get("edges")
    if agents is None or edges is None or not agents.height:
        return None
    ids = agents["id"].to_list()
    number = {name: i for i, name in enumerate(ids)}
    known = edges.filter(pl.col("source").is_in(ids) & pl.col("target").is_in(ids))
    source, target = (
        np.array([number[n] for n in known[c].to_list()], dtype=np.int32)
        for c in ("source", "target")
    )
    return Society(ids, Network.of_edges(len(ids), source, target), groups_of(dataset))
