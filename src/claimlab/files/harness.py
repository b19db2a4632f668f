"""What other evaluation tools write of their runs: logs of Inspect, samples of
lm-evaluation-harness.

Both keep what `claimlab export --to inspect` (or lm-eval) gave them: the id of a record, and its
classes in the order in which they were offered. An answer that is none of the letters is an answer
that is missing.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.types import JsonObject

SCHEMA = {"id": pl.String, "label": pl.String, "run": pl.String, "rationale": pl.String}
Row = tuple[str, str | None, str, str | None]


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


def _inspect_row(sample: Mapping[str, Any], model: str) -> Row:
    epoch = sample.get("epoch", 1)
    scores = sample.get("scores") or {}
    answer = next((score.get("answer") for score in scores.values() if score.get("answer")), None)
    completion = (sample.get("output") or {}).get("completion") or None
    run = model if epoch == 1 else f"{model} ({epoch})"
    return str(sample["id"]), _of_letter(answer, _classes(sample.get("metadata"))), run, completion


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


def _lm_eval_row(sample: Mapping[str, Any], run: str) -> Row:
    response = sample["filtered_resps"]
    while isinstance(response, list) and response:
        response = response[0]
    doc = sample["doc"]
    letter = response if isinstance(response, str) else None
    return str(doc["id"]), _of_letter(letter, _classes(doc.get("metadata"))), run, None


def _table(file: Path, rows: Iterator[Row]) -> pl.DataFrame:
    try:
        return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")
    except (KeyError, TypeError, AttributeError):
        raise DataError(
            f"'{file.name}' does not hold the samples of a claimlab export.",
            "Run a task that claimlab exported for Inspect or lm-evaluation-harness.",
        ) from None


def _classes(metadata: Any) -> Sequence[str]:
    return [str(name) for name in metadata["classes"]]


def _of_letter(answer: object, classes: Sequence[str]) -> str | None:
    """The class that a letter stands for, A for the first; null for anything else."""
    letter = str(answer or "").strip().strip("().").upper()
    place = ord(letter) - ord("A") if len(letter) == 1 else -1
    return classes[place] if 0 <= place < len(classes) else None
