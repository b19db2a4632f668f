"""Records and side tables from rows of objects, typed by the schema and not by what the first rows
happen to hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.record import SCHEMA, SIDE_TABLES

Row = Mapping[str, Any]
TEXT = pl.String()


def record_rows(rows: Sequence[Row]) -> pl.DataFrame:
    """`rows` as records, with the columns that the first one names."""
    return _typed(rows, {c: SCHEMA.get(c, TEXT) for c in (rows[0] if rows else ("id", "text"))})


def side_rows(table: str, rows: Iterable[Row]) -> pl.DataFrame:
    """`rows` as the side table `table`; columns that a row does not name are null."""
    return _typed(list(rows), SIDE_TABLES[table])


def answers(
    frame: pl.DataFrame,
    questions: Mapping[str, str],
    *,
    annotator: str | None = None,
    blank: Sequence[str] = (),
) -> pl.DataFrame:
    """People's answers on the records `id` as annotations, a row for each; `questions` says what
    each column answers.

    Null, the empty text and the values in `blank` mean that a question was not asked or not
    settled: no answer.
    """
    long = frame.unpivot(list(questions), index="id", variable_name="question")
    return long.filter(~pl.col("value").str.strip_chars().is_in(["", *blank])).select(
        record_id="id",
        annotator=pl.lit(annotator, pl.String),
        annotator_kind=pl.lit("human"),
        question=pl.col("question").replace_strict(questions),
        value="value",
    )


def _typed(rows: Sequence[Row], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(
        {c: pl.Series(c, [row.get(c) for row in rows], dtype=t) for c, t in schema.items()}
    )
