"""Predictions of a trained detector in other processes: what it learned is written once, and rows
are shared.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.digest import write_parquet
from claimlab.core.engine import run_stage
from claimlab.core.engine.current import place, shares
from claimlab.core.engine.reads import digest_of, keep, reads
from claimlab.core.progress import Progress
from claimlab.detect.detector import DETECTORS, Detector, Prediction
from claimlab.detect.tables import restored, stored
from claimlab.tasks import Task, open_task

ROWS = 2_000  # records in a shard; of a quick detector ten times as many


def shared_predictions(
    detector: Detector, records: pl.DataFrame, size: int, progress: Progress
) -> list[Prediction]:
    """The predictions for all records, in order, asked for `size` records at a time as without
    shards; none where the run does not share its work, the detector may ask a model or a search, or
    does not say what it learned.
    """
    ours = DETECTORS.all().get(detector.name) is type(detector)  # a worker makes it by its name
    rows = max(1, (10 * ROWS if detector.quick else ROWS) // size) * size
    if (
        not shares()
        or detector.handles
        or not ours
        or not _known(detector.task)
        or records.height <= rows
    ):
        return []
    with place() as here:
        learned = here.absolute() / "learned"
        with atomic_folder(learned) as building:
            if not detector.keep(building):
                return []
            digest = digest_of(building)  # while no other user can write it
        common = {
            "detector": detector.name,
            "settings": detector.parameters(),
            "task": detector.task.name,
            "learned": reads(learned, digest),
            "size": size,
        }
        parts = [records[start : start + rows] for start in range(0, records.height, rows)]
        shards = [{**common, "rows": _written(part, here / "predicted")} for part in parts]
        outputs = run_stage(
            do_predictions, shards, folder=here, name="predictions", progress=progress
        )
        return [
            restored(raw)
            for file in outputs
            for raw in json.loads(file.read_text(encoding="utf-8"))
        ]


def _known(task: Task) -> bool:
    """Whether a worker can open the task by its name."""
    return replace(open_task(task.name), read=task.read) == task


def _written(rows: pl.DataFrame, folder: Path) -> dict[str, str]:
    content = io.BytesIO()
    write_parquet(rows, content)
    return keep(folder, content.getvalue(), "parquet")


def do_predictions(shard: Any, output: Path) -> None:
    """The predictions for some rows."""
    detector = DETECTORS.get(shard["detector"])(**shard["settings"])
    detector.take_up(Path(shard["learned"]))
    detector.task = open_task(shard["task"])
    records, size = pl.read_parquet(shard["rows"]), shard["size"]
    parts = [records[start : start + size] for start in range(0, records.height, size)]
    predictions = [stored(one) for part in parts for one in detector.predict(part)]
    output.write_text(json.dumps(predictions, ensure_ascii=False), encoding="utf-8")
