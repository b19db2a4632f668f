"""Predictions made elsewhere as a run: to be evaluated, judged, reviewed and compared like any
other.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import digest_file
from claimlab.core.run import Run, Source
from claimlab.detect.strict.read import read_strictly
from claimlab.detect.tables import scores_of
from claimlab.tasks import open_task, own_task


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
    split: str | None = None,
    force: bool = False,
) -> Dataset:
    """Make a run of predictions that another tool made for records of `data`.

    `predictions` is a table with id (or text) and label, or a score for each class (CSV, JSON
    lines, Parquet, Excel), the run file of a shared task, the JSON of a Hugging Face pipeline, an
    Inspect log (`.eval`) or samples of lm-evaluation-harness. It is read strictly. The run holds
    the records of the test, or of the split that is named: one without an answer counts as wrong.
    """
    file = Path(predictions)
    with Run("detect", data, output, force=force) as run:
        opened = open_task(own_task(run.dataset, task), run.dataset.records)
        strict = read_strictly(run.dataset, file, opened, split)
        step = Lineage(
            step="detect",
            parameters={
                "detector": run_name(strict.predictions, file),
                "task": opened.name,
                "settings": {"predictions": file.name, **strict.stated()},
            },
            inputs={"records": run.dataset.digest(), "predictions": digest_file(file)},
            counts={"predictions": strict.predictions.height, "left_out": strict.left_out},
        )
        result = run.dataset.derive(strict.records, step, {"predictions": strict.predictions})
        result.notes = [*result.notes, *strict.notes]
        result.report = {
            "scores": scores_of(result, opened),
            "notes": strict.notes,
            "answers": strict.to_json(),
            "budget": {},
        }
        return run.finish(result)
