"""Predictions made elsewhere as a table: files with id and label, logs of Inspect, samples of lm-evaluation-harness."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError
from claimlab.files.harness import inspect_log, lm_eval_samples
from claimlab.files.read import user_table

IDS = ("id", "record_id")
LABELS = ("label", "prediction", "predicted", "answer")
PREFIX = "score_"


def read_predictions(file: Path, classes: tuple[str, ...] = (), positive: str | None = None) -> pl.DataFrame:
    """record_id, run, label, scores (JSON) and rationale of the predictions in `file`.

    A table has the columns id and label; `score` (of the class `positive`) or a `score_CLASS` per class; optionally
    run and rationale.
    """
    table = inspect_log(file)
    if table is None:
        table = lm_eval_samples(file)
    if table is None:
        table = user_table(file, *IDS, *LABELS, "score", "run")
    ids, labels = _column(table, IDS, file), _column(table, LABELS, file)
    return pl.DataFrame(
        {
            "record_id": table[ids],
            "run": table["run"] if "run" in table.columns else [file.stem] * table.height,
            "label": table[labels].set(table[labels].str.strip_chars() == "", None),
            "scores": _scores(table, classes, positive, file),
            "rationale": table["rationale"] if "rationale" in table.columns else [None] * table.height,
        },
        schema_overrides={"rationale": pl.String, "scores": pl.String},
    )


def _column(table: pl.DataFrame, names: tuple[str, ...], file: Path) -> str:
    for name in names:
        if name in table.columns:
            return name
    raise DataError(
        f"'{file.name}' has no column '{names[0]}' (it has: {', '.join(table.columns)}).",
        "Give at least the columns id and label.",
    )


def _scores(table: pl.DataFrame, classes: tuple[str, ...], positive: str | None, file: Path) -> list[str | None]:
    """Scores as a run keeps them: a JSON object per record; null where a number is missing."""
    columns = [c for c in table.columns if c.startswith(PREFIX)]
    if columns:
        rows = zip(*(_numbers(table[c], file) for c in columns), strict=True)
        names = [c.removeprefix(PREFIX) for c in columns]
        return [None if None in row else json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    if "score" not in table.columns or len(classes) != 2:
        return [None] * table.height
    wanted = positive if positive in classes else classes[1]
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
