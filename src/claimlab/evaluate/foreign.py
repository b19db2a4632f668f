"""Predictions made elsewhere, beside the truth."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.record import to_side_table
from claimlab.detect.outside import predictions_about, run_name
from claimlab.evaluate.scored_run import ScoredRun, each_run
from claimlab.tasks import open_task


def open_foreign(
    file: Path, data: Dataset, *, task: str = "veracity", split: str | None = None
) -> list[ScoredRun]:
    """The run in `file` on the records of `data`: see `claimlab.files.predictions`."""
    opened = open_task(task, data.records)
    predictions = predictions_about(data, file, opened)
    return each_run(
        run_name(predictions, file),
        to_side_table("predictions", predictions),
        data,
        opened,
        split=split,
    )
