"""Which records of a dataset are meant: those that meet conditions, those that a run got wrong, or
the rows of a query.
"""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Sequence

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.record import VERACITIES

_QUERY = re.compile(r"\s*+(?:select|with)\b", re.IGNORECASE)
_FILE = re.compile(r"read_|scan_", re.IGNORECASE)
_CROSS = re.compile(r"\bcross\b|\bfrom\s+[\w.\"`]+(?:\s+(?:as\s+)?\w+)?\s*,", re.IGNORECASE)
MOST_SECONDS = 20.0  # of a query
MOST_PAIRS = 10_000_000  # rows of tables that are joined each with each
_GLANCE_SECONDS = 0.02
_stopped: deque[object] = deque(maxlen=64)
_CONDITION = re.compile(r"([\w.]+)\s*+(!=|>=|<=|=|>|<|~)\s*+(.*)")
_FORM = (
    "Write COLUMN=VALUE, or with !=, ~ (contains), >, <, >= or <=; 'null' is a missing value;"
    " meta.KEY is a column."
)


def queried(dataset: Dataset, sql: str, rows: int) -> pl.DataFrame:
    """The first rows of a query over the tables; Polars alone would read files, too."""
    if not _QUERY.match(sql) or _FILE.search(sql):
        raise UsageError(
            "A query only reads the tables of its folder.", "Write: select ... from records"
        )
    tables = {"records": dataset.records, **dataset.tables}
    named = [
        table.height for word in re.findall(r"\w+", sql) if (table := tables.get(word)) is not None
    ]
    if _CROSS.search(sql) and math.prod(named) > MOST_PAIRS:
        raise UsageError(
            f"The query joins each row with each: up to {math.prod(named):,} rows.",
            f"Join by a column (at most {MOST_PAIRS:,} rows without one).",
        )
    try:
        with pl.SQLContext(tables, register_globals=False) as context:
            return _within_time(context.execute(sql, eager=False).head(rows))
    except pl.exceptions.PolarsError as error:
        problem = str(error).partition("\n")[0].rstrip(".")
        todo = f"The tables are: {', '.join(tables)}."
        raise UsageError(f"The query cannot be answered: {problem}.", todo) from None


def _within_time(query: pl.LazyFrame) -> pl.DataFrame:
    running = query.collect(background=True)
    late = time.monotonic() + MOST_SECONDS
    while (answer := running.fetch()) is None:
        if time.monotonic() > late:
            running.cancel()
            _stopped.append(running)  # it answers once more, and complains where nothing listens
            raise UsageError(
                f"The query takes more than {MOST_SECONDS:g} seconds.", "Ask for less."
            )
        time.sleep(_GLANCE_SECONDS)
    return answer


def select(dataset: Dataset, where: Sequence[str], ids: Sequence[str], wrong: bool) -> pl.DataFrame:
    """The records that meet every condition; with `wrong`, also what was predicted for them, as
    `predicted`.
    """
    records = _wrong(dataset) if wrong else dataset.records
    for words in where:
        records = records.filter(_condition(words, records))
    if ids:
        for name in set(ids) - set(records["id"]):
            raise UnknownName("record", name, records["id"].to_list()[:10_000])
        records = records.filter(pl.col("id").is_in(list(ids)))
    return records


def _condition(words: str, records: pl.DataFrame) -> pl.Expr:
    match = _CONDITION.fullmatch(words.strip())
    if match is None:
        raise UsageError(f"`where` cannot be '{words}'.", _FORM)
    name, sign, value = match[1], match[2], match[3].strip("'\"")
    column, _, key = name.partition(".")
    if column not in records.columns or (key and column != "meta"):
        raise UnknownName("column", name, records.columns)
    cell = pl.col(column).str.json_path_match(f"$.{key}") if key else pl.col(column)
    if column == "date":
        cell = cell.dt.strftime("%Y-%m-%d")
    if value == "null" and sign in ("=", "!="):
        return cell.is_null() if sign == "=" else cell.is_not_null()
    if sign == "~":
        return cell.str.to_lowercase().str.contains(value.lower(), literal=True).fill_null(False)
    compare = {"=": "eq", "!=": "ne_missing", ">": "gt", "<": "lt", ">=": "ge", "<=": "le"}[sign]
    result: pl.Expr = getattr(cell, compare)(pl.lit(value))
    return result.fill_null(False)


def _wrong(dataset: Dataset) -> pl.DataFrame:
    """The records of a run whose prediction is not their label; a missing answer is wrong too."""
    predictions = dataset.tables.get("predictions")
    if predictions is None:
        raise UsageError(
            f"'{dataset.name}' holds no predictions.",
            "Pass the folder of a run: `detect(DIR, output=RUN)`.",
        )
    labels = set(predictions["label"].drop_nulls())
    truth = "veracity" if labels <= set(VERACITIES) else "label_raw"
    answers = predictions.select(id="record_id", predicted="label")
    joined = dataset.records.join(answers, on="id", how="inner", maintain_order="left")
    return joined.filter(
        pl.col(truth).is_not_null() & pl.col("predicted").ne_missing(pl.col(truth))
    )
