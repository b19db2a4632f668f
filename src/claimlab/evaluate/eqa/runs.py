"""An evaluation run as the report needs it: scored like any run, and with random examples of right
and wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.progress import Progress, silent
from claimlab.core.record import to_side_table
from claimlab.core.types import JsonObject
from claimlab.evaluate.eqa.judgements import Judgement, about_run, read_judgements, review_command
from claimlab.evaluate.eqa.shifts import Tests, tests_of
from claimlab.evaluate.eqa.study import RunFile
from claimlab.evaluate.judge.reread import judged_in
from claimlab.evaluate.result import RunResult
from claimlab.evaluate.run import evaluate_run, steps
from claimlab.evaluate.scored_run import About, ScoredRun, about_of, each_run
from claimlab.pages.excerpt import excerpt
from claimlab.tasks import open_task

EXAMPLES = 25  # correct ones, and as many wrong ones
INPUT, RATIONALE = 600, 300  # characters shown


@dataclass(frozen=True)
class Run(ScoredRun):
    """A scored run with examples drawn at random, what its split tests, and what a review says of
    its predictions.
    """

    correct: list[JsonObject] = field(default_factory=list)
    wrong: list[JsonObject] = field(default_factory=list)
    tests: Tests = field(default_factory=Tests)
    judgements: Mapping[str, Judgement] = field(default_factory=dict)  # by record
    unused: int = 0  # judgements of other texts or predictions
    review: str = ""  # the command that starts a review of the examples

    @property
    def examples(self) -> list[JsonObject]:
        return [*self.correct, *self.wrong]

    @cached_property
    def result(self) -> RunResult | None:
        """Every score with its interval, and by every subgroup that the records have; null if no
        record is labelled.
        """
        return self.evaluate()

    def evaluate(self, progress: Progress = silent) -> RunResult | None:
        """Compute `result`, with progress."""
        if "result" not in self.__dict__:
            self.__dict__["result"] = (
                evaluate_run(self, step=steps([self], None, progress))
                if self.table.height
                else None
            )
        done: RunResult | None = self.__dict__["result"]
        return done

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


@dataclass(frozen=True)
class Scoring:
    """A study's settings for its runs: where they are, the task, the seed of the drawn examples,
    and its datasets.
    """

    home: Path
    target: str
    seed: int
    known: Sequence[Dataset] = ()


def read_runs(listed: RunFile, scoring: Scoring) -> list[Run]:
    """The runs in a dataset folder or a Parquet file: one for each value of the column `run`.

    A run on a part of one of the study's datasets is a run on it.
    """
    name, path = listed.name, scoring.home / listed.path
    own = Dataset.open(scoring.home / listed.dataset) if listed.dataset is not None else None
    predictions, records, about = _open(name, path, own)
    digest = home_of(records, scoring.known)
    task = open_task(scoring.target)
    lineage = records.lineage
    if path.is_dir():
        folder = Dataset.open(path)
        about, lineage = replace(about, judged=judged_in(folder, task)), folder.lineage
    scored = each_run(
        name, predictions, records, task, split=listed.split, about=about, digest=digest
    )
    training = _training(lineage, [records, *scoring.known])
    judged = {} if listed.review is None else read_judgements(scoring.home, listed.review)
    runs = []
    for run in (_with_examples(one, scoring.seed) for one in scored):
        judgements, unused = about_run(judged, run)
        drawn = [row["id"] for row in run.examples]
        command = review_command(listed, run, drawn, is_folder=path.is_dir()) if drawn else ""
        tests = tests_of(run, lineage, training)
        runs.append(replace(run, tests=tests, judgements=judgements, unused=unused, review=command))
    return runs


def _training(lineage: Sequence[Lineage], within_reach: Sequence[Dataset]) -> pl.DataFrame | None:
    """The rows that a run was trained and tuned on: of the dataset that its lineage names, if it is
    among those.
    """
    step = next((s for s in reversed(lineage) if s.step == "detect"), None)
    wanted = None if step is None else set(step.inputs.values())
    for dataset in within_reach:
        if wanted is None or dataset.digest() in wanted:
            return dataset.records.filter(pl.col("split").is_in(["train", "dev"]))
    return None


def home_of(part: Dataset, known: Sequence[Dataset]) -> str:
    """The digest of the dataset that `part` is, or is a part of (same ids, texts and verdicts);
    else its own.
    """
    same = ["id", "text", "veracity"]
    for whole in known:
        if part.digest() == whole.digest():
            break
        if not part.records.join(whole.records, on=same, how="anti", nulls_equal=True).height:
            return whole.digest()
    return part.digest()


def _open(name: str, path: Path, dataset: Dataset | None) -> tuple[pl.DataFrame, Dataset, About]:
    if path.is_dir():
        folder = Dataset.open(path)
        if "predictions" not in folder.tables:
            raise DataError(
                f"The run '{name}' at '{path}' has no table of predictions.",
                "Point at a folder that has one.",
            )
        predictions = to_side_table("predictions", folder.tables["predictions"])
        return predictions, dataset or folder, about_of(folder.lineage)
    if dataset is None:
        raise DataError(
            f"The run '{name}' is a file without records.",
            'Say whose predictions they are: dataset = "DIR"',
        )
    try:
        return to_side_table("predictions", pl.read_parquet(path)), dataset, About()
    except ClaimlabError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"The predictions '{path}' cannot be read: {error}.", "Check the path and the format."
        ) from None


def _with_examples(run: ScoredRun, seed: int) -> Run:
    right = run.table.filter(pl.col("said") == pl.col("truth"))
    wrong = run.table.filter(pl.col("said") != pl.col("truth"))
    scores = {f.name: getattr(run, f.name) for f in fields(ScoredRun)}
    return Run(**scores, correct=_draw(right, seed), wrong=_draw(wrong, seed))


def _draw(rows: pl.DataFrame, seed: int) -> list[JsonObject]:
    """`EXAMPLES` rows at random: input, output and truth."""
    order = np.random.default_rng(seed).permutation(rows.height)[:EXAMPLES]
    drawn = rows.sort("id")[order.tolist()]
    return [
        {
            "id": row["id"],
            "input": None if row["text"] is None else excerpt(row["text"], INPUT),
            "output": row["said"],
            "truth": row["truth"],
            "scores": None if row["scores"] is None else excerpt(row["scores"], 200),
            "rationale": None if row["rationale"] is None else excerpt(row["rationale"], RATIONALE),
        }
        for row in drawn.iter_rows(named=True)
    ]
