"""JSON Lines: one file per table, one object per row.

Every object has every column, null where there is no value: any tool infers one schema from any
line, and null can never be mistaken for "". Times are ISO 8601 text (UTC); `meta` is JSON text, as
everywhere in claimlab.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, Marker, Road, Settings, Written
from claimlab.exchange.tables import RECORDS, by_name, from_text, to_text, type_names, types_of


class JsonLines(Format):
    name = "jsonl"
    summary = "One JSON Lines file per table, one object per row."
    back = (Road("cl.import_files(DIR)"),)

    def write(
        self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent
    ) -> Written:
        tables = by_name(dataset)
        names = {table: type_names(frame, table) for table, frame in tables.items()}
        for done, (table, frame) in enumerate(tables.items()):
            progress("jsonl", done, len(tables))
            _refuse_infinite(frame, table)
            dated = frame.with_columns(
                to_text(frame[c]) for c, t in frame.schema.items() if t.is_temporal()
            )
            dated.write_ndjson(folder / f"{table}.jsonl")
        progress("jsonl", len(tables), len(tables))
        return Written(facts={"columns": names})

    def read(self, folder: Path, marker: Marker) -> Dataset:
        tables = {}
        for table, names in marker.fact("columns").items():
            types = types_of(names)
            schema = {c: pl.String() if t.is_temporal() else t for c, t in types.items()}
            raw = pl.read_ndjson(marker.file(folder, f"{table}.jsonl"), schema=schema)
            tables[table] = raw.with_columns(
                from_text(raw[c], t) for c, t in types.items() if t.is_temporal()
            )
        return marker.rebuild(folder, tables.pop(RECORDS), tables)


def _refuse_infinite(frame: pl.DataFrame, table: str) -> None:
    """JSON has no NaN; written all the same it would come back as null, in silence."""
    for column, dtype in frame.schema.items():
        if dtype.is_float() and not frame[column].drop_nulls().is_finite().all():
            raise SchemaError(
                f"Column '{column}' of '{table}' holds NaN or infinity, which JSON cannot carry.",
                "Make a missing number null, or export to csv, hf or croissant.",
            )


FORMAT = JsonLines()
