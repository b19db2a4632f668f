"""Predictions made elsewhere: a table with id and label, and, where there are any, scores."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.evaluate.scored_run import ScoredRun, each_run
from claimlab.files.read import user_table
from claimlab.tasks.task import Task, open_task

IDS = ("id", "record_id")
LABELS = ("label", "prediction", "predicted", "answer")
PREFIX = "score_"


def open_foreign(file: Path, data: Dataset, *, task: str = "veracity", split: str | None = None) -> list[ScoredRun]:
    """The run in `file` (CSV, TSV, JSON lines, Parquet, Excel) on the records of `data`.

    Columns: id, label; `score` (of the task's positive class) or a `score_CLASS` per class; optionally run, rationale.
    """
    table = user_table(file, *IDS, *LABELS, "score", "run")
    opened = open_task(task, data.records)
    ids, labels = _column(table, IDS, file), _column(table, LABELS, file)
    predictions = pl.DataFrame(
        {
            "record_id": table[ids],
            "run": table["run"] if "run" in table.columns else [file.stem] * table.height,
            "label": table[labels].set(table[labels].str.strip_chars() == "", None),
            "scores": _scores(table, opened, data.records, file),
            "rationale": table["rationale"] if "rationale" in table.columns else [None] * table.height,
        },
        schema_overrides={"rationale": pl.String, "scores": pl.String},
    )
    known = set(data.records["id"].to_list())
    if not known & set(predictions["record_id"].to_list()):
        raise DataError(
            f"No id in '{file.name}' is an id of '{data.name}'.",
            f"Its ids look like {data.records['id'][0]!r}: write the predictions with the dataset's own ids.",
        )
    return each_run(file.stem, to_side_table("predictions", predictions), data, opened, split=split)


def _column(table: pl.DataFrame, names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if name in table.columns:
            return name
    raise DataError(
        f"'{file.name}' has no column '{names[0]}' (it has: {', '.join(table.columns)}).",
        "Give at least the columns id and label.",
    )


def _scores(table: pl.DataFrame, task: Task, records: pl.DataFrame, file: Path) -> list[str | None]:
    """Scores as a run keeps them: a JSON object per record; null where a number is missing."""
    columns = [c for c in table.columns if c.startswith(PREFIX)]
    classes = task.classes_in(records)
    if columns:
        rows = zip(*(_numbers(table[c], file) for c in columns), strict=True)
        names = [c.removeprefix(PREFIX) for c in columns]
        return [None if None in row else json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    if "score" not in table.columns or len(classes) != 2:
        return [None] * table.height
    wanted = task.positive if task.positive in classes else classes[1]
    other = next(c for c in classes if c != wanted)
    # A score outside 0 to 1 still ranks: the other class then gets its negative.
    numbers = _numbers(table["score"], file)
    shares = all(v is None or 0 <= v <= 1 for v in numbers)
    first, second = f"{{{json.dumps(wanted)}: ", f", {json.dumps(other)}: "
    return [None if v is None else f"{first}{v!r}{second}{round(1 - v, 12) if shares else -v!r}}}" for v in numbers]


def _numbers(values: pl.Series, file: Path) -> list[float | None]:
    numbers = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).to_list()
    strange = [v for v, n in zip(values.to_list(), numbers, strict=True) if v not in (None, "") and n is None]
    if strange:
        raise DataError(
            f"Column '{values.name}' of '{file.name}' holds {strange[0]!r}, which is not a number.", "Fix the file."
        )
    return [None if n is None or not math.isfinite(n) else n for n in numbers]
