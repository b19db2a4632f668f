"""The tables of a dataset under the names that their exported files carry."""

from __future__ import annotations

import re

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError

RECORDS = "records"


def by_name(dataset: Dataset) -> dict[str, pl.DataFrame]:
    """The records first, then the side tables in order of their names; each name is fit for a file
    and a config.
    """
    wrong = [
        n
        for n in dataset.tables
        if n == RECORDS or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", n)
    ]
    if wrong:
        raise SchemaError(
            f"A side table cannot be exported under the name '{wrong[0]}'.",
            f"Name it in letters, digits, '-' and '_', and not '{RECORDS}'.",
        )
    return {RECORDS: dataset.records, **dict(sorted(dataset.tables.items()))}
