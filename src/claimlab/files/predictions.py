"""Predictions made elsewhere as a table: files with id and label, logs of Inspect, samples of
lm-evaluation-harness.

The two harnesses keep what `claimlab export --to inspect` (or lm-eval) gave them: the id of a
record, and its classes in the order in which they were offered. An answer that is none of the
letters is an answer that is missing.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table

IDS = ("id", "record_id")
LABELS = ("label", "prediction", "predicted", "answer", "value")
RUNS = ("run", "annotator")  # the decisions of a review: each annotator is a run
PREFIX = "score_"
ANSWERS = {"id": pl.String, "label": pl.String, "run": pl.String, "rationale": pl.String}
Answer = tuple[str, str | None, str, str | None]


def read_predictions(
    file: Path, classes: tuple[str, ...] = (), positive: str | None = None
) -> pl.DataFrame:
    """record_id, run, label, scores (JSON) and rationale of the predictions in `file`.

    A table has the columns id and label; `score` (of the class `positive`) or a `score_CLASS` per
    class; optionally run (or annotator) and rationale.
    """
    table = inspect_log(file)
    if table is None:
        table = lm_eval_samples(file)
    if table is None:
        table = user_table(file, *IDS, *LABELS, "score", *RUNS)
    run = next((name for name in RUNS if name in table.columns), None)
    ids, labels = _column(table, IDS, file), _column(table, LABELS, file)
    return pl.DataFrame(
        {
            "record_id": table[ids],
            "run": table[run] if run else [file.stem] * table.height,
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


def inspect_log(file: Path) -> pl.DataFrame | None:
    """The predictions in an Inspect log, `.eval` or JSON; null where the file is something else."""
    if file.suffix not in (".eval", ".json") or not file.is_file():
        return None
    log = _archive(file) if file.suffix == ".eval" else _json(file)
    if log is None:
        return None
    model = str(log["eval"].get("model", file.stem))
    return _table(file, (_inspect_row(sample, model) for sample in log["samples"]))


def _archive(file: Path) -> JsonObject:
    """A zip with a JSON object per sample."""
    try:
        with zipfile.ZipFile(file) as log:
            header = json.loads(log.read("header.json"))
            names = sorted(
                n for n in log.namelist() if n.startswith("samples/") and n.endswith(".json")
            )
            return {
                "eval": header["eval"],
                "samples": [json.loads(log.read(name)) for name in names],
            }
    except NotImplementedError:
        raise UnreadableFile(
            f"'{file.name}' is compressed in a way that this Python cannot read (Zstandard).",
            "Convert it to JSON with `inspect log convert`, or let Inspect write its logs as JSON.",
        ) from None
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
        raise UnreadableFile(
            f"'{file.name}' is not a complete Inspect log.",
            "Use the .eval file that `inspect eval` wrote at its end.",
        ) from None


def _json(file: Path) -> JsonObject | None:
    try:
        log = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # for the reader of tables to say what is wrong
    return (
        log
        if isinstance(log, dict) and isinstance(log.get("eval"), dict) and "samples" in log
        else None
    )


def _inspect_row(sample: JsonObject, model: str) -> Answer:
    epoch = sample.get("epoch", 1)
    scores = sample.get("scores") or {}
    answer = next((score.get("answer") for score in scores.values() if score.get("answer")), None)
    completion = (sample.get("output") or {}).get("completion") or None
    run = model if epoch == 1 else f"{model} ({epoch})"
    return str(sample["id"]), of_letter(answer, sample["metadata"]["classes"]), run, completion


def lm_eval_samples(file: Path) -> pl.DataFrame | None:
    """The predictions in the samples of lm-evaluation-harness; null where the file is something
    else.
    """
    if file.suffix != ".jsonl" or not file.is_file():
        return None
    with file.open(encoding="utf-8", errors="replace") as lines:
        try:
            first = json.loads(next(lines, "null"))
        except ValueError:
            return None
        if not isinstance(first, dict) or not {"doc", "filtered_resps"} <= first.keys():
            return None
        try:
            samples = [first, *(json.loads(line) for line in lines if line.strip())]
        except ValueError:
            raise UnreadableFile(
                f"'{file.name}' has a line that is not JSON.", "Write the samples again."
            ) from None
    return _table(file, (_lm_eval_row(sample, file.stem) for sample in samples))


def _lm_eval_row(sample: JsonObject, run: str) -> Answer:
    response = sample["filtered_resps"]
    while isinstance(response, list) and response:
        response = response[0]
    doc = sample["doc"]
    letter = response if isinstance(response, str) else None
    return str(doc["id"]), of_letter(letter, doc["metadata"]["classes"]), run, None


def _table(file: Path, rows: Iterator[Answer]) -> pl.DataFrame:
    try:
        return pl.DataFrame(list(rows), schema=ANSWERS, orient="row")
    except (KeyError, TypeError, AttributeError):
        raise DataError(
            f"'{file.name}' does not hold the samples of a claimlab export.",
            "Run a task that claimlab exported for Inspect or lm-evaluation-harness.",
        ) from None


def of_letter(answer: object, classes: Sequence[object]) -> str | None:
    """The class that a letter stands for, A for the first; null for anything else."""
    letter = str(answer or "").strip().strip("().").upper()
    place = ord(letter) - ord("A") if len(letter) == 1 else -1
    return str(classes[place]) if 0 <= place < len(classes) else None
