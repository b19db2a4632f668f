"""Predictions of a trained detector in other processes: what it learned is written once, and rows are shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.digest import digest_table, digest_tree
from claimlab.core.engine import run_stage
from claimlab.core.engine.current import place, shares
from claimlab.core.progress import Progress
from claimlab.detect.detector import DETECTORS, Detector, Prediction
from claimlab.detect.tables import restored, stored

ROWS = 20_000  # records in a shard


def shared_predictions(detector: Detector, records: pl.DataFrame, progress: Progress) -> list[Prediction]:
    """The predictions for all records, in order; none where the run does not share its work, the detector may ask a
    model or a search, or what it learned cannot be written."""
    ours = DETECTORS.all().get(detector.name) is type(detector)  # a worker opens it by its name
    if not shares() or detector.handles or not ours or records.height <= ROWS:
        return []
    with place() as here:
        learned = here.absolute() / "learned"
        with atomic_folder(learned) as building:
            if not detector.keep(building):
                return []
        common = {"detector": detector.name, "settings": detector.parameters(), "learned": str(learned)}
        common["digest"] = digest_tree(learned)
        parts = [records[start : start + ROWS] for start in range(0, records.height, ROWS)]
        shards = [{**common, "rows": _written(part, here.absolute() / "predicted")} for part in parts]
        outputs = run_stage(do_predictions, shards, folder=here, name="predictions", progress=progress)
        return [restored(raw) for file in outputs for raw in json.loads(file.read_text(encoding="utf-8"))]


def _written(rows: pl.DataFrame, folder: Path) -> str:
    """A file of the rows, named by what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{digest_table(rows)[:32]}.parquet"
    if not file.is_file():
        building = file.with_suffix(".building")
        rows.write_parquet(building)
        building.replace(file)
    return str(file)


def do_predictions(shard: Any, output: Path) -> None:
    """The predictions for some rows."""
    detector = DETECTORS.get(shard["detector"])(**shard["settings"])
    detector.take_up(Path(shard["learned"]))
    predictions = detector.predict(pl.read_parquet(shard["rows"]))
    output.write_text(json.dumps([stored(one) for one in predictions], ensure_ascii=False), encoding="utf-8")
