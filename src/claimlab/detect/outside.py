"""Predictions made elsewhere as a run: to be evaluated, judged, reviewed and compared like any
other.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import digest_file
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.core.run import Run, Source
from claimlab.core.words import several
from claimlab.detect.tables import scores_of
from claimlab.files.predictions import read_predictions
from claimlab.tasks import Task, open_task, own_task


def predictions_about(data: Dataset, file: Path, task: Task) -> pl.DataFrame:
    """The predictions in `file`, of which some at least must be about records of `data`."""
    predictions = read_predictions(file, task.classes_in(data.records), task.positive)
    if not data.records["id"].is_in(predictions["record_id"].implode()).any():
        raise DataError(
            f"No id in '{file.name}' is an id of '{data.name}'.",
            f"Its ids look like {data.records['id'][0]!r}: write the predictions with the dataset's"
            " own ids.",
        )
    return predictions


def run_name(predictions: pl.DataFrame, file: Path) -> str:
    """The run that all predictions belong to; else the name of the file."""
    names = predictions["run"].drop_nulls().unique().to_list()
    return str(names[0]) if len(names) == 1 else file.stem


@repeatable()
def import_predictions(
    data: Source,
    predictions: str | Path,
    *,
    output: str | Path | None = None,
    task: str | None = None,
    force: bool = False,
) -> Dataset:
    """Make a run of predictions that another tool made for records of `data`.

    `predictions` is a table with id and label (CSV, JSON lines, Parquet, Excel), an Inspect log
    (`.eval`) or samples of lm-evaluation-harness. The run holds the records that it has predictions
    for.
    """
    file = Path(predictions)
    with Run("detect", data, output, force=force) as run:
        opened = open_task(own_task(run.dataset, task), run.dataset.records)
        table = predictions_about(run.dataset, file, opened)
        records = run.dataset.records.filter(pl.col("id").is_in(table["record_id"].implode()))
        known = table.filter(pl.col("record_id").is_in(records["id"].implode()))
        step = Lineage(
            step="detect",
            parameters={
                "detector": run_name(known, file),
                "task": opened.name,
                "settings": {"predictions": file.name},
            },
            inputs={"records": run.dataset.digest(), "predictions": digest_file(file)},
            counts={"predictions": known.height, "left_out": table.height - known.height},
        )
        result = run.dataset.derive(
            records, step, {"predictions": to_side_table("predictions", known)}
        )
        others = table.height - known.height
        notes = (
            [f"Left out: {several(others, 'prediction')} for ids that the dataset does not hold."]
            if others
            else []
        )
        result.notes = [*result.notes, *notes]
        result.report = {"scores": scores_of(result, opened), "notes": notes, "budget": {}}
        return run.finish(result)
