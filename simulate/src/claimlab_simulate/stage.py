"""A stage of claims that evolved as a step of a study: what they said after some hops, labelled by
how true a judge finds them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Unpack

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.run import Source
from claimlab_simulate.evolve.drift.front import Measuring, drift


def stage(
    data: Source,
    level: str = "evolved",
    *,
    output: str | Path,
    label: str = "verdict",
    seed: int = 0,
    **measuring: Unpack[Measuring],
) -> Dataset:
    """The claims at `level` (seed, middle, evolved, null or step-N) as a dataset, all of them to be
    tested on: a detector that is trained must be split after this step.
    """
    with tempfile.TemporaryDirectory() as place:
        drift([data], datasets=place, levels=level, stage_label=label, seed=seed, **measuring)
        claims = Dataset.open(Path(place) / level)
        claims.records = claims.records.with_columns(split=pl.lit("test"))
        claims.write(output)
        return claims
