"""The runs of a study: each is scored like any run, and shown with random examples of right and
wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.evaluate.eqa.judgements import Judgement, about_run, read_judgements, review_command
from claimlab.evaluate.eqa.shifts import Tests, is_generative, tests_of
from claimlab.evaluate.eqa.study import EXAMPLES_SHOWN, RunFile, Study
from claimlab.evaluate.evaluation import evaluate_run, steps
from claimlab.evaluate.judge.people import judged_in
from claimlab.evaluate.result import RunResult
from claimlab.evaluate.scored_run import (
    RunOrigin,
    ScoredRun,
    about_of,
    each_run,
    last_step,
    predictions_in,
)
from claimlab.pages.blocks import excerpt
from claimlab.tasks import open_task, own_task

JUDGEMENT_FIELDS = (
    "question",
    "value",
    "how",
    "annotators",
    "comments",
)  # of a judgement, in eqa.json
CHARACTERS_SHOWN = {"input": 600, "scores": 200, "rationale": 300}  # characters


@dataclass(frozen=True)
class ExaminedRun(ScoredRun):
    """A scored run with examples drawn at random, what its split tests, and what a review says of
    its predictions.
    """

    correct: list[JsonObject] = field(default_factory=list)
    wrong: list[JsonObject] = field(default_factory=list)
    tests: Tests = field(default_factory=Tests)
    judgements: Mapping[str, Judgement] = field(default_factory=dict)  # by record
    unused: int = 0  # judgements of other texts or predictions
    review: str = ""  # the command that starts a review of the examples
    # every score with its interval, by every subgroup that the records have; null if no record is
    # labelled
    result: RunResult | None = None

    @property
    def examples(self) -> list[JsonObject]:
        return [*self.correct, *self.wrong]

    def judged(self, record: str) -> str | None:
        """What annotators decided about an example, in a line; null where there is nothing yet."""
        judgement = self.judgements.get(record)
        return (judgement.words() if judgement is not None else None) or None

    def to_json(self) -> JsonObject:
        return {
            **{name: getattr(self, name) for name in ("name", "dataset", "digest", "split")},
            "records": self.table.height,
            "answered": self.answered,
            "scores": self.scores(),
            "evaluation": self.result and asdict(self.result),
            "lower_bound": is_generative(self),
            "tests": asdict(self.tests),
            "correct": [{**row, "judgement": self.judgement(row)} for row in self.correct],
            "wrong": [{**row, "judgement": self.judgement(row)} for row in self.wrong],
        }

    def judgement(self, example: JsonObject) -> JsonObject | None:
        """What annotators decided about an example, as data; null where none did."""
        judgement = self.judgements.get(example["id"])
        return (
            None
            if judgement is None
            else {name: getattr(judgement, name) for name in JUDGEMENT_FIELDS}
        )

    def scores(self) -> dict[str, float | None]:
        """Accuracy and macro-F1 over every labelled record, one without an answer counted as wrong;
        and baselines. Nothing when no record is labelled, and no macro-F1 where all have one class.
        """
        if self.result is None:
            return {}
        floor = {f"{b.name}_f1": b.macro_f1 for b in self.result.baselines}
        return {
            "accuracy": self.result.scores.accuracy,
            "macro_f1": self.result.scores.macro_f1,
            **floor,
        }


def read_runs(
    listed: RunFile, study: Study, home: Path, datasets: Sequence[Dataset]
) -> list[ExaminedRun]:
    """The runs in a dataset folder or a Parquet file: one for each value of the column `run`.

    A run on a part of one of the study's datasets is a run on it.
    """
    path = home / listed.path
    folder = Dataset.open(path) if path.is_dir() else None
    records = folder if listed.dataset is None else Dataset.open(home / listed.dataset)
    if records is None:
        raise DataError(
            f"The run '{listed.name}' is a file without records.",
            'Say whose predictions they are: dataset = "DIR"',
        )
    task = open_task(own_task(records, study.data.target))
    lineage, about = records.lineage, RunOrigin()
    if folder is None:
        predictions = _predictions(path)
    else:
        predictions, lineage = predictions_in(folder, listed.name), folder.lineage
        about = replace(about_of(lineage), judged=judged_in(folder, task))
    scored = each_run(
        listed.name,
        predictions,
        records,
        task,
        split=listed.split,
        about=about,
        digest=home_of(records, datasets),
    )
    training = _training(lineage, [records, *datasets])
    judged = {} if listed.review is None else read_judgements(home, listed.review)
    seed = study.inspection.seed
    runs = []
    for run in scored:
        right = pl.col("said") == pl.col("truth")
        correct, wrong = (_draw(run.table.filter(rows), seed) for rows in (right, ~right))
        judgements, unused = about_run(judged, run)
        whole = {field.name: getattr(run, field.name) for field in fields(run)}
        ids = [row["id"] for row in (*correct, *wrong)]
        examined = ExaminedRun(
            **whole,
            correct=correct,
            wrong=wrong,
            tests=tests_of(run, lineage, training),
            judgements=judgements,
            unused=unused,
            review=review_command(listed, run, ids, is_folder=path.is_dir()) if ids else "",
            result=evaluate_run(run, step=steps([run], None)) if run.table.height else None,
        )
        runs.append(examined)
    return runs


def _training(lineage: Sequence[Lineage], within_reach: Sequence[Dataset]) -> pl.DataFrame | None:
    """The rows that a run was trained and tuned on: of the dataset that its lineage names, if it is
    among those.
    """
    step = last_step(lineage, "detect")
    wanted = None if step is None else set(step.inputs.values())
    for dataset in within_reach:
        if wanted is None or dataset.digest() in wanted:
            return dataset.records.filter(pl.col("split").is_in(["train", "dev"]))
    return None


def home_of(part: Dataset, datasets: Sequence[Dataset]) -> str:
    """The digest of the dataset that `part` is, or is a part of (same ids, texts and verdicts);
    else its own.
    """
    same = ["id", "text", "veracity"]
    for whole in datasets:
        if part.digest() == whole.digest():
            break
        if not part.records.join(whole.records, on=same, how="anti", nulls_equal=True).height:
            return whole.digest()
    return part.digest()


def _predictions(file: Path) -> pl.DataFrame:
    try:
        table = read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The predictions '{file}' cannot be read: {error}.", "Check the path and the format."
        ) from None
    return to_side_table("predictions", table)


def _draw(rows: pl.DataFrame, seed: int) -> list[JsonObject]:
    """`EXAMPLES` rows at random: input, output and truth."""
    order = np.random.default_rng(seed).permutation(rows.height)[:EXAMPLES_SHOWN]
    drawn = rows.sort("id")[order.tolist()].select(
        "id",
        input="text",
        output="said",
        truth="truth",
        scores="scores",
        rationale="rationale",
    )
    return [
        {
            name: excerpt(value, CHARACTERS_SHOWN[name])
            if name in CHARACTERS_SHOWN and value
            else value
            for name, value in row.items()
        }
        for row in drawn.iter_rows(named=True)
    ]
