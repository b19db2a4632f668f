"""Open runs with the true labels: a folder of `detect` with the judges' verdicts on it, or
predictions made elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.core.run import Source
from claimlab.detect.outside import predictions_about, run_name
from claimlab.evaluate.judge.people import judged_in
from claimlab.evaluate.scored_run import ScoredRun, about_of, each_run, task_of
from claimlab.tasks import open_task


def open_runs(
    run: Source,
    *,
    task: str | None = None,
    split: str | None = None,
    data: Dataset | None = None,
    name: str | None = None,
) -> list[ScoredRun]:
    """The runs in a run folder (one for each value of the column `run`), scored by the task that
    they were made for.
    """
    folder = Dataset.of(run)
    own_name = name or (folder.name if folder.path is None else folder.path.name)
    if "predictions" not in folder.tables:
        at = "" if folder.path is None else f" at '{folder.path}'"
        raise DataError(
            f"The run '{own_name}'{at} has no table of predictions.",
            "Point at a folder that has one.",
        )
    predictions = to_side_table("predictions", folder.tables["predictions"])
    about = about_of(folder.lineage, tuple(folder.notes))
    source = data or folder
    chosen = open_task(task or task_of(folder), source.records)
    about = replace(about, judged=judged_in(folder, chosen))
    return each_run(own_name, predictions, source, chosen, split=split, about=about)


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
