"""Predictions made elsewhere as a table: files with id and label, logs of Inspect, samples of
lm-evaluation-harness.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.files.harness import inspect_log, lm_eval_samples
from claimlab.files.read import user_table

IDS = ("id", "record_id")
LABELS = ("label", "prediction", "predicted", "answer")
PREFIX = "score_"


def read_predictions(
    file: Path, classes: tuple[str, ...] = (), positive: str | None = None
) -> pl.DataFrame:
    """record_id, run, label, scores (JSON) and rationale of the predictions in `file`.

    A table has the columns id and label; `score` (of the class `positive`) or a `score_CLASS` per
    class; optionally run and rationale.
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
            "rationale": (
                table["rationale"] if "rationale" in table.columns else [None] * table.height
            ),
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


def _scores(
    table: pl.DataFrame, classes: tuple[str, ...], positive: str | None, file: Path
) -> list[str | None] | pl.Series:
    """Scores as a run keeps them: a JSON object per record; null where a number is missing."""
    columns = [c for c in table.columns if c.startswith(PREFIX)]
    if columns:
        rows = zip(*(_numbers(table[c], file) for c in columns), strict=True)
        names = [c.removeprefix(PREFIX) for c in columns]
        return [
            None if None in row else json.dumps(dict(zip(names, row, strict=True))) for row in rows
        ]
    if "score" not in table.columns or len(classes) != 2:
        return [None] * table.height
    wanted = positive if positive in classes else classes[1]
    other = next(c for c in classes if c != wanted)
    # A score outside 0 to 1 still ranks: the other class then gets its negative.
    numbers = _numbers(table["score"], file)
    shares = bool(numbers.is_between(0, 1).all())
    others = _remainders(numbers) if shares else -numbers
    first, second = f"{{{json.dumps(wanted)}: ", f", {json.dumps(other)}: "
    parts = [pl.lit(first), _written(numbers), pl.lit(second), _written(others), pl.lit("}")]
    return pl.select(pl.concat_str(parts)).to_series().set(numbers.is_null(), None)


def _written(numbers: pl.Series) -> pl.Series:
    """Each number as Python writes it: in one go where Polars writes it alike, one by one
    elsewhere.
    """
    size = numbers.abs()
    alike = ((size >= 1e-4) & (size < 1e16)) | (size == 0) | size.is_null()
    rows = (~alike).arg_true()
    return numbers.cast(pl.String).scatter(
        rows, [repr(number) for number in numbers.gather(rows).to_list()]
    )


def _remainders(shares: pl.Series) -> pl.Series:
    """`round(1 - share, 12)` of each, in one go; one by one only where the last digit is in
    doubt.
    """
    rest = 1 - shares.fill_null(0.0).to_numpy()
    scaled = rest * 1e12
    out = np.rint(scaled) / 1e12
    for row in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-2).tolist():
        out[row] = round(float(rest[row]), 12)
    return pl.Series(out)


def _numbers(values: pl.Series, file: Path) -> pl.Series:
    """Null where there is no number, or none that is finite."""
    words = values.cast(pl.String)
    numbers = words.str.strip_chars().cast(pl.Float64, strict=False)
    strange = values.filter(numbers.is_null() & words.is_not_null() & (words != ""))
    if len(strange):
        raise DataError(
            f"Column '{values.name}' of '{file.name}' holds {strange[0]!r}, which is not a number.",
            "Fix the file.",
        )
    return numbers.set(~numbers.is_finite(), None)
