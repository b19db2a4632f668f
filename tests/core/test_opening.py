"""A dataset whose tables are not what they should be is refused in a sentence when it is opened or
read.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from claimlab.core.dataset import RECORDS, Dataset, read_manifest, seal
from claimlab.core.errors import SchemaError
from claimlab.core.record import meta_values


def folder(tmp_path: Path, change: pl.Expr | None = None, drop: str | None = None) -> Path:
    """A dataset whose records were changed, with hashes that fit."""
    path = tmp_path / "d"
    Dataset.build(
        "d", pl.DataFrame({"id": ["a", "b"], "text": ["x", "y"], "meta": ['{"k": 1}', None]})
    ).write(path)
    records = pl.read_parquet(path / RECORDS)
    records = records.drop(drop) if drop else records
    (records.with_columns(change) if change is not None else records).write_parquet(path / RECORDS)
    seal(path, read_manifest(path))
    return path


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="veracity"):
        Dataset.open(folder(tmp_path, drop="veracity"))


def test_a_column_of_another_type_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="text"):
        Dataset.open(folder(tmp_path, pl.lit(5).alias("text")))


@pytest.mark.parametrize("meta", ["not JSON", "[1, 2]"])
def test_meta_that_is_not_an_object_is_a_sentence(tmp_path: Path, meta: str) -> None:
    dataset = Dataset.open(folder(tmp_path, pl.lit(meta).alias("meta")))
    with pytest.raises(SchemaError, match="'meta' holds"):
        meta_values(dataset.records)
