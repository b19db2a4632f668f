"""The record table: one row per claim, article or post, the same columns for every dataset.

A missing value is null, never an empty string. Times are UTC without a zone. `tweet_id` is text,
because spreadsheets turn the numbers into floats. `meta` is a JSON object with whatever the source
had besides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import SchemaError
from claimlab.core.types import Json
from claimlab.core.words import several

_TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "time": pl.Datetime("us"),
    "whole": pl.Int32(),
    "count": pl.Int64(),
    "number": pl.Float64(),
    "flag": pl.Boolean(),
    "texts": pl.List(pl.String()),
}
KINDS = ("claim", "article", "post", "id-only")
VERACITIES = ("true", "false", "mixed", "unknown")
AUTHORSHIPS = ("HWT", "MGT", "MTT", "HAT")
SIDES = (
    "train",
    "dev",
    "test",
)  # of a split; a published dataset may have parts of its own besides
CLOSED = {"kind": KINDS, "veracity": VERACITIES, "authorship": AUTHORSHIPS}
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, default=str
)  # one for all rows: json.dumps makes its own


def tables_of(package: str) -> dict[str, dict[str, pl.DataType]]:
    """The columns of tables, with their types, as `tables.toml` of a room names them."""
    return {
        name: {column: _TYPES[kind] for column, kind in columns.items()}
        for name, columns in packaged.toml(package, "tables.toml").items()
    }


_TABLES = tables_of("claimlab.core")
SCHEMA = _TABLES.pop("records")

# What steps took out, and the side tables of the records.
SIDE_TABLES: dict[str, dict[str, pl.DataType]] = {
    "dropped": {**SCHEMA, "step": pl.String(), "reason": pl.String()},
    "doubtful": {**SCHEMA, "step": pl.String(), "reason": pl.String()},
    **_TABLES,
}


def to_records(frame: pl.DataFrame) -> pl.DataFrame:
    """Give `frame` exactly the record columns, in order: absent ones become null, "" becomes null,
    wrong ones raise.
    """
    return _conform(_blank_to_null(frame), SCHEMA, "the record table")


def slim(frame: pl.DataFrame) -> pl.DataFrame:
    """The same table; its columns without a value take no memory. What was read or filtered has 16
    bytes for each value that is missing, and most records leave most columns empty."""
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    return frame.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in empty)


def to_side_table(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Give `frame` the agreed columns of side table `name` first, then any of its own in their
    order.
    """
    schema = SIDE_TABLES[name]
    extra = [column for column in frame.columns if column not in schema]
    agreed = _conform(frame.drop(extra), schema, f"the table '{name}'")
    return agreed.with_columns(frame[column] for column in extra)


def validate(records: pl.DataFrame) -> None:
    """Raise `SchemaError` unless `records` keeps the contract: columns, types, unique ids, closed
    value lists.
    """
    check_columns(records)
    if records["id"].null_count():
        raise SchemaError(
            "Some records have no id.", "Give every record an id that is unique in its dataset."
        )
    if (
        records["id"].hash(0).n_unique() != records.height
        and records["id"].n_unique() != records.height
    ):
        repeated = records.filter(pl.col("id").is_duplicated())["id"].head(3).to_list()
        raise SchemaError(
            f"{several(records.height - records['id'].n_unique(), 'record')} with an id that is"
            f" already used, such as {repeated}.",
            "Give every record an id that is unique in its dataset.",
        )
    for column, allowed in CLOSED.items():
        values = records[column].drop_nulls().unique()
        wrong = sorted(set(values) - set(allowed))
        if wrong:
            raise SchemaError(
                f"Column '{column}' holds {wrong[:5]}.",
                f"Use only: {', '.join(allowed)}, or null where it is not known.",
            )


def check_columns(records: pl.DataFrame) -> None:
    """Raise `SchemaError` unless `records` has the record columns with their types, and no
    others.
    """
    if dict(records.schema) != SCHEMA:
        wrong = [c for c, t in SCHEMA.items() if records.schema.get(c) != t]
        raise SchemaError(
            f"The record table has wrong or missing columns: {', '.join(wrong) or 'extra ones'}.",
            "Make the dataset again, or build the table with claimlab.core.record.to_records().",
        )


def refuse_wrong_meta(records: pl.DataFrame) -> None:
    """Raise `SchemaError` unless every `meta` is the JSON text of an object, or null."""
    for name, text in records.select("id", "meta").drop_nulls("meta").iter_rows():
        try:
            fits = isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            fits = False
        if not fits:
            problem = f"The column 'meta' of record '{name}' is not a JSON object."
            raise SchemaError(
                problem, 'Write it as one, such as {"topic": "health"}, or leave it empty.'
            )


def meta_json(values: Mapping[str, Json]) -> str | None:
    """The JSON text for a `meta` cell: keys sorted, nulls and empty values left out, null when
    nothing is left.
    """
    stated = {k: v for k, v in values.items() if v is not None and v != ""}
    return _ENCODER.encode(stated) if stated else None


def meta_column(frame: pl.DataFrame, columns: list[str]) -> pl.Series:
    """A `meta` column made of `columns` of `frame`, row by row."""
    if not columns:
        return pl.Series("meta", [None] * frame.height, dtype=pl.String)
    rows = frame.select(sorted(columns)).iter_rows(named=True)
    return pl.Series("meta", [meta_json(row) for row in rows], dtype=pl.String)


def any_blank(column: pl.Series) -> bool:
    """Whether any value is nothing but whitespace. One that begins with a visible ASCII character
    is not, which is much cheaper to see than to search it."""
    doubtful = column.filter((column < "!") | (column > "~\U0010ffff"))
    return not doubtful.str.contains(r"\S").all()


def _blank_to_null(frame: pl.DataFrame) -> pl.DataFrame:
    text = [c for c, t in frame.schema.items() if t == pl.String and c in SCHEMA]
    blanks = [c for c in text if any_blank(frame[c])]
    return frame.with_columns(
        pl.when(pl.col(c).str.contains(r"\S")).then(pl.col(c)).alias(c) for c in blanks
    )


def _conform(frame: pl.DataFrame, schema: Mapping[str, pl.DataType], what: str) -> pl.DataFrame:
    unknown = [column for column in frame.columns if column not in schema]
    if unknown:
        raise SchemaError(
            f"{what.capitalize()} has no column {', '.join(map(repr, unknown))}.",
            "Put such values into the JSON column 'meta'.",
        )
    columns = []
    for name, dtype in schema.items():
        if name not in frame.columns:
            columns.append(pl.Series(name, [None], dtype=dtype).new_from_index(0, frame.height))
            continue
        try:
            columns.append(frame[name].cast(dtype, strict=True))
        except pl.exceptions.PolarsError as error:
            raise SchemaError(
                f"Column '{name}' of {what} cannot be read as {dtype}: {error}.",
                "Convert it before building the table.",
            ) from None
    return pl.DataFrame(columns)
