"""The logs of two harnesses that run tasks on models, sample by sample: Inspect (`.eval`, a zip
with a file for each sample, or JSON) and lm-evaluation-harness (JSON Lines). What is made of a
sample, a prediction or a score, is the caller's matter.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject


class InspectLog(NamedTuple):
    """One run of one model; null where the log names none."""

    model: str | None
    samples: Iterator[JsonObject]


def inspect_log(file: Path) -> InspectLog | None:
    """The run in an Inspect log; null where the file is something else.

    Its samples are read as they are asked for, so that a damaged one is met then.
    """
    suffix = file.suffix.lower()
    if suffix not in (".eval", ".json") or not file.is_file():
        return None
    return _archive(file) if suffix == ".eval" else _json(file)


def _archive(file: Path) -> InspectLog:
    """A zip with a JSON object per sample."""
    parts = _parts(file)
    header = next(parts)
    try:
        return InspectLog(_model(header["eval"]), parts)
    except (KeyError, TypeError, AttributeError):
        raise _incomplete(file) from None


def _parts(file: Path) -> Iterator[JsonObject]:
    """The header of the log, then its samples in the order of their names."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield json.loads(archive.read("header.json"))
            for name in sorted(archive.namelist()):
                if name.startswith("samples/") and name.endswith(".json"):
                    yield json.loads(archive.read(name))
    except NotImplementedError:
        raise UnreadableFile(
            f"'{file.name}' is compressed in a way that this Python cannot read (Zstandard).",
            "Convert it to JSON with `inspect log convert`, or let Inspect write its logs as JSON.",
        ) from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise _incomplete(file) from None


def _incomplete(file: Path) -> UnreadableFile:
    return UnreadableFile(
        f"'{file.name}' is not a complete Inspect log.",
        "Use the .eval file that `inspect eval` wrote at its end.",
    )


def _json(file: Path) -> InspectLog | None:
    try:
        log = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # for the reader of tables to say what is wrong
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or "samples" not in log:
        return None
    return InspectLog(_model(log["eval"]), iter(log["samples"] or ()))


def _model(run: JsonObject) -> str | None:
    model = run.get("model")
    return None if model is None else str(model)


def lm_eval_samples(file: Path, *keys: str) -> Iterator[JsonObject] | None:
    """The samples of lm-evaluation-harness; null where the first line of the file has no document,
    or not all of `keys`.
    """
    if file.suffix.lower() != ".jsonl" or not file.is_file():
        return None
    with file.open(encoding="utf-8", errors="replace") as lines:
        try:
            first = json.loads(next(lines, "null"))
        except ValueError:
            return None
    fits = isinstance(first, dict) and {"doc", *keys} <= first.keys()
    return _lines(file) if fits else None


def _lines(file: Path) -> Iterator[JsonObject]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        try:
            yield from (json.loads(line) for line in lines if line.strip())
        except ValueError:
            raise UnreadableFile(
                f"'{file.name}' has a line that is not JSON.", "Write the samples again."
            ) from None
