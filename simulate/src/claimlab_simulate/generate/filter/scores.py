"""Figures of texts that were computed elsewhere, such as BERTScore: a gate for each column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError
from claimlab.files.read import user_table
from claimlab_simulate.generate.filter.batch import Batch
from claimlab_simulate.generate.filter.reading import unmeasured, within
from claimlab_simulate.generate.filter.verdict import QualityGate

ID_COLUMNS = ("id", "record_id")


def read_scores(file: str | Path) -> pl.DataFrame:
    """Figures of texts by id, a column for each metric; an empty cell is not measured."""
    table = user_table(Path(file), *ID_COLUMNS)
    key = next((name for name in ID_COLUMNS if name in table.columns), None)
    if key is None or table.width < 2:
        raise DataError(
            f"'{file}' has no figures by id.", "Give the column id and one for each metric."
        )
    if table[key].is_duplicated().any():
        raise DataError(f"'{file}' has several rows of one id.", "Keep one row for each text.")
    figures = table.drop(key)
    numbers = figures.select(pl.all().cast(pl.Float64, strict=False))
    for name in figures.columns:
        wrong = table.filter(numbers[name].is_null() & figures[name].is_not_null())
        if wrong.height:
            raise DataError(
                f"'{file}' has no number in column '{name}' of id '{wrong[key][0]}', but"
                f" '{wrong[name][0]}'.",
                "Write a number there, or leave the cell empty where it was not measured.",
            )
    return numbers.insert_column(0, table[key].alias("id"))


def score_gates(batch: Batch, scores: pl.DataFrame) -> Iterator[QualityGate]:
    """A gate for each column; one without limits is information."""
    ids = scores["id"].to_list()
    for name in scores.columns[1:]:
        about = batch.table["scores"].get(name, {})
        values = dict(zip(ids, scores[name], strict=True))
        readings = []
        for text in batch.texts:
            value, limits = values.get(text.id), about.get(text.veracity or "", {})
            readings.append(
                unmeasured("the file of scores has no figure for it")
                if value is None
                else within(value, limits.get("at_least"), limits.get("at_most"), name)
            )
        gated = any(isinstance(limits, dict) for limits in about.values())
        yield QualityGate(name, "automatic", about.get("dimension", "scores"), readings, gated)
