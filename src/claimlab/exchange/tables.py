"""The tables of a dataset as files of their own: the names that the files carry, and columns as
text and back, for formats that know only text. The type of each column is noted by name.

Times are ISO 8601 without a zone (UTC), lists are JSON. Numbers are written so that they read back
as the same number. A type that text cannot carry is refused by name rather than bent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, FormatSettings, Marker, Road, Written

RECORDS = "records"
_NAMES = (
    "String Boolean Date Null Float32 Float64 Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64"
)
_PLAIN: dict[str, type[pl.DataType]] = {name: getattr(pl, name) for name in _NAMES.split()}
_TIME = "%Y-%m-%dT%H:%M:%S%.f"


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


class TextTables(Format):
    """A format of one text file for each table: TABLE.NAME, with the types of columns noted."""

    back = (Road("cl.import_files(DIR)"),)

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        tables = by_name(dataset)
        names = {table: type_names(frame, table) for table, frame in tables.items()}
        for done, (table, frame) in enumerate(tables.items()):
            progress(self.name, done, len(tables))
            self.write_table(frame, folder / f"{table}.{self.name}", settings)
        progress(self.name, len(tables), len(tables))
        return Written(facts={"columns": names})

    def read(self, folder: Path, marker: Marker) -> Dataset:
        tables = {
            table: self.read_table(marker.file(folder, f"{table}.{self.name}"), types_of(names))
            for table, names in marker.fact("columns").items()
        }
        return marker.rebuild(folder, tables.pop(RECORDS), tables)

    def write_table(self, frame: pl.DataFrame, file: Path, settings: FormatSettings) -> None:
        raise NotImplementedError

    def read_table(self, file: Path, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
        raise NotImplementedError


def type_names(frame: pl.DataFrame, table: str) -> list[list[str]]:
    """[column, name of its type] for every column, in order: a list, because JSON objects have no
    order.
    """
    return [[column, _name(dtype, table, column)] for column, dtype in frame.schema.items()]


def types_of(names: Sequence[Sequence[str]]) -> dict[str, pl.DataType]:
    """The columns and types behind `type_names`."""
    return {column: dtype_of(name) for column, name in names}


def dtype_of(name: str) -> pl.DataType:
    """The type behind the name of a type."""
    if name.startswith("List(") and name.endswith(")"):
        return pl.List(dtype_of(name[5:-1]))
    if name.startswith("Datetime(") and name.endswith(")"):
        unit, _, zone = name[9:-1].partition(",")
        return pl.Datetime(unit, zone or None)  # type: ignore[arg-type]  # polars checks the unit
    try:
        return _PLAIN[name]()
    except KeyError:
        raise SchemaError(
            f"The export names a column type '{name}'.", "Upgrade with: pip install -U claimlab"
        ) from None


def to_text(values: pl.Series) -> pl.Series:
    """A column as text; null stays null."""
    if isinstance(values.dtype, pl.Datetime):
        utc = (
            values
            if values.dtype.time_zone is None
            else values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        )
        return utc.dt.to_string(_TIME)
    if isinstance(values.dtype, pl.List):
        cells = [None if v is None else json.dumps(v, ensure_ascii=False) for v in values.to_list()]
        return pl.Series(values.name, cells, dtype=pl.String)
    return values.cast(pl.String)


def from_text(text: pl.Series, dtype: pl.DataType) -> pl.Series:
    """The column that `to_text` was given."""
    try:
        if isinstance(dtype, pl.Datetime):
            naive = text.str.to_datetime(_TIME, time_unit=dtype.time_unit, strict=True)
            zone = dtype.time_zone
            return (
                naive
                if zone is None
                else naive.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
            )
        if isinstance(dtype, pl.Date):
            return text.str.to_date("%Y-%m-%d", strict=True)
        if isinstance(dtype, pl.Boolean):
            return text.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        if isinstance(dtype, pl.List):
            return pl.Series(
                text.name, [None if v is None else json.loads(v) for v in text], dtype=dtype
            )
        return text.cast(dtype, strict=True)
    except (ValueError, pl.exceptions.PolarsError) as error:
        raise SchemaError(
            f"Column '{text.name}' of the export is not {dtype}: {error}.",
            "Export the dataset again.",
        ) from None


def _name(dtype: pl.DataType, table: str, column: str, *, inside: bool = False) -> str:
    name = type(dtype).__name__
    if isinstance(dtype, pl.List) and not inside:
        return f"List({_name(dtype.inner, table, column, inside=True)})"  # type: ignore[arg-type]  # an instance here
    if isinstance(dtype, pl.Datetime) and not inside:
        return f"Datetime({dtype.time_unit},{dtype.time_zone or ''})"
    if name not in _PLAIN or (inside and dtype.is_temporal()):
        raise SchemaError(
            f"Column '{column}' of '{table}' is of a type that text cannot carry ({name}).",
            "Export to hf or croissant (both keep every type), or turn the column into text first.",
        )
    return name
