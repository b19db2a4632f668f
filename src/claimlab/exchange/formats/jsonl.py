"""JSON Lines: one file per table, one object per row.

Every object has every column, null where there is no value: any tool infers one schema from any
line, and null can never be mistaken for "". Times are ISO 8601 text (UTC); `meta` is JSON text, as
everywhere in claimlab.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from claimlab.core.errors import SchemaError
from claimlab.exchange.format import FormatSettings
from claimlab.exchange.tables import TextTables, from_text, to_text


class JsonLines(TextTables):
    name = "jsonl"
    summary = "One JSON Lines file per table, one object per row."

    def write_table(self, frame: pl.DataFrame, file: Path, settings: FormatSettings) -> None:
        _refuse_infinite(frame, file.stem)
        times = [to_text(frame[c]) for c, t in frame.schema.items() if t.is_temporal()]
        frame.with_columns(times).write_ndjson(file)

    def read_table(self, file: Path, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
        schema = {c: pl.String() if t.is_temporal() else t for c, t in types.items()}
        raw = pl.read_ndjson(file, schema=schema)
        return raw.with_columns(from_text(raw[c], t) for c, t in types.items() if t.is_temporal())


FORMAT = JsonLines()


def _refuse_infinite(frame: pl.DataFrame, table: str) -> None:
    """JSON has no NaN; written all the same it would come back as null, in silence."""
    for column, dtype in frame.schema.items():
        if dtype.is_float() and not frame[column].drop_nulls().is_finite().all():
            raise SchemaError(
                f"Column '{column}' of '{table}' holds NaN or infinity, which JSON cannot carry.",
                "Make a missing number null, or export to csv, hf or croissant.",
            )
