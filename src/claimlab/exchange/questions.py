"""Records as questions with letters to choose from, as evaluation harnesses read them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.exchange.format import Format, FormatSettings, Road, Written
from claimlab.tasks import Task, open_task, own_task

FILE = "samples.jsonl"
LOST = {
    "records": "of other splits, which the run does not hold",
    "side tables": "which DATA still has",
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Harness(Format):
    """The questions, and the file that tells a harness what to do with them."""

    records = (FILE,)
    accepts = frozenset({"task", "split"})
    back = (Road("cl.detect(DATA, predictions=LOG)", LOST),)
    template: str
    file: str  # "{}" is the name of the task

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        progress(self.name, 0, None)
        written = write_questions(dataset, folder, settings)
        name = "claimlab_" + (re.sub(r"\W+", "_", dataset.name).strip("_") or "dataset")
        template = packaged.text("claimlab.exchange", self.template)
        text = template.replace("{{ name }}", name)
        (folder / self.file.format(name)).write_text(text, encoding="utf-8")
        return written


def write_questions(dataset: Dataset, folder: Path, settings: FormatSettings) -> Written:
    """Write a question for every labelled record of the split to `samples.jsonl`; counts, and what
    was left out.
    """
    task = open_task(own_task(dataset, settings.task), dataset.records)
    part = _part(dataset, settings.split)
    rows = part.with_columns(answer=task.labels(part)).drop_nulls(["answer", "text"])
    classes = task.classes_in(part)
    if len(classes) < 2 or not rows.height:
        raise DataError(
            f"The records have no two classes of the task '{task.name}' to choose from.",
            "Name another `task` or `split`.",
        )
    if len(classes) > len(LETTERS):
        raise DataError(
            f"The task '{task.name}' has {len(classes)} classes; letters end at 26.",
            "Name another `task`.",
        )
    with (folder / FILE).open("w", encoding="utf-8", newline="\n") as file:
        for row in rows.iter_rows(named=True):
            file.write(json.dumps(_sample(row, task, classes), ensure_ascii=False) + "\n")
    unlabelled = part.height - rows.height
    notes = (
        [f"Left out: the side tables ({', '.join(sorted(dataset.tables))})."]
        if dataset.tables
        else []
    )
    return Written(
        {"samples": rows.height, **({"without_label": unlabelled} if unlabelled else {})}, notes
    )


def _part(dataset: Dataset, split: str | None) -> pl.DataFrame:
    """The records of a split: of "test" where there is one and none was named."""
    records = dataset.records
    splits = records["split"].drop_nulls().unique().to_list()
    wanted = split or ("test" if "test" in splits else None)
    if wanted is not None and wanted not in splits:
        raise DataError(
            f"'{dataset.name}' has no records in the split '{wanted}'.",
            "Check the name of the split.",
        )
    return records if wanted is None else records.filter(pl.col("split") == wanted)


def _sample(row: JsonObject, task: Task, classes: tuple[str, ...]) -> JsonObject:
    meta = json.loads(row["meta"] or "{}")
    about = {
        name: row[name]
        for name in ("language", "kind", "source", "authorship")
        if row[name] is not None
    }
    origin = {"synthetic": meta["synthetic"]} if "synthetic" in meta else {}
    choices = [
        f"{name}: {task.meaning[name]}" if name in task.meaning else name for name in classes
    ]
    return {
        "id": row["id"],
        "input": f"{task.question}\n\n{row['text']}",
        "choices": choices,
        "target": LETTERS[classes.index(row["answer"])],
        "metadata": {"language": "unknown", **about, **origin, "classes": list(classes)},
    }
