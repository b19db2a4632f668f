"""The texts of records, for detectors that read them."""

from __future__ import annotations

import polars as pl

from claimlab.core.errors import DataError


def texts_of(records: pl.DataFrame) -> pl.Series:
    """Every text, "" where a record has none; a sentence when no record has one."""
    texts = records["text"]
    if texts.len() and texts.null_count() == texts.len():
        raise DataError(
            "The records have no text.",
            "Use a detector that does not read text, or fetch the texts.",
        )
    return texts.fill_null("")
