"""Two datasets as one folder: this one is train, the other is test; the column `dataset` says
which.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.scores import Flags


def join(own: Dataset, other: Dataset) -> tuple[Dataset, Flags]:
    """Both datasets' records and side tables, and which rows are the other's. What is synthetic
    stays marked so.
    """
    clash = own.records.join(other.records, on="id", how="semi")["id"]
    if clash.len():
        raise DataError(
            f"{clash.len():,} record ids, such as '{clash[0]}', are in both datasets: a test set"
            " needs other records.",
            "Give another dataset, or split this one with another strategy.",
        )
    records = pl.concat([own.records, other.records])
    tables = {
        name: pl.concat(
            [d.tables[name] for d in (own, other) if name in d.tables], how="diagonal_relaxed"
        )
        for name in sorted({*own.tables, *other.tables})
    }
    notes = list(own.notes)
    if other.licence != own.licence:
        notes.append(
            f"The licence of the test records ({other.name}) is: {other.licence or 'not stated'}."
        )
    both = Dataset(
        name=own.name,
        records=records,
        tables=tables,
        card=own.card,
        licence=own.licence,
        synthetic=own.synthetic or other.synthetic,
        notes=notes,
        lineage=list(own.lineage),
    )
    return both, np.arange(records.height) >= own.records.height
