"""The inputs of a study's report: its datasets, their saved audits, and its evaluation runs.

A run is scored like any run, with random examples of right and wrong, what annotators decided about
these in a review, and the command that starts one. The shifts that the author puts in scope are
held against what the runs test: a promise without a test is a failure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from claimlab.audit.result import Audit, read_audits
from claimlab.core import packaged
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, silent
from claimlab.core.record import to_side_table
from claimlab.core.remote import is_remote
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.answers import speller
from claimlab.evaluate.board import rank_runs
from claimlab.evaluate.compare import compare_all, drops, join_seeds
from claimlab.evaluate.contamination.result import Contamination, read_contamination
from claimlab.evaluate.eqa.scope import SHIFTS, Tests, is_known_detector, tests_of
from claimlab.evaluate.eqa.study import InScope, RunFile, Shifts, Study
from claimlab.evaluate.judge.people import judged_in
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.run import evaluate_run, steps
from claimlab.evaluate.scored_run import About, ScoredRun, about_of, each_run
from claimlab.pages.excerpt import excerpt
from claimlab.tasks import open_task


@dataclass(frozen=True)
class Judgement:
    """One item of a review: what it came to (null while it is open), how, by whom; and what the
    annotators saw.
    """

    question: str
    value: str | None
    how: str
    annotators: str | None
    comments: str | None
    text: str | None
    said: str | None

    def words(self) -> str | None:
        """The decision in a line; null where there is none yet."""
        if self.value is None:
            return None if self.annotators is None else f"{self.how} ({self.annotators})"
        who = f" ({self.annotators})" if self.annotators else ""
        return f"{self.value}{who}" + (f" – {self.comments}" if self.comments else "")


def read_judgements(home: Path, folder: str) -> dict[str, Judgement]:
    """By record id, the items of the review in `folder` that are about one record."""
    from claimlab.review.project import (
        item_rows,
    )  # only where a review is named: a report needs no store
    from claimlab.review.review import Review
    from claimlab.review.shapes import Payload

    review = Review.open(folder if is_remote(folder) else home / folder)
    try:
        rows = {row["item"]: row for row in review.results().iter_rows(named=True)}
        shown = {
            row["id"]: Payload.model_validate(row["payload"]) for row in item_rows(review.folder)
        }
    finally:
        review.close()
    question = review.task.question
    return {
        row["record_id"]: Judgement(
            question,
            row["value"],
            row["how"],
            row["annotators"],
            row["comments"],
            shown[name].text,
            None if (model := shown[name].model) is None else model.label,
        )
        for name, row in rows.items()
        if row["record_id"] is not None and row["other_id"] is None
    }


def about_run(judged: Mapping[str, Judgement], run: ScoredRun) -> tuple[dict[str, Judgement], int]:
    """The judgements that are about this run: same text, and, where annotators saw a prediction,
    the same one; and how many are about its records, but about another text or prediction."""
    rows = {
        i: (text, label) for i, text, label in run.table.select("id", "text", "said").iter_rows()
    }
    known = {i: judgement for i, judgement in judged.items() if i in rows}
    if judged and not known:
        raise DataError(
            f"The review of the run '{run.name}' is about none of its records.",
            "Name the folder of a review of this run, or leave `review` out.",
        )
    spell = speller(run.classes)
    mine = {
        i: judgement
        for i, judgement in known.items()
        if judgement.text == rows[i][0]
        and (judgement.said is None or spell(judgement.said.strip()) == rows[i][1])
    }
    return mine, len(known) - len(mine)


def review_command(
    listed: RunFile, run: ScoredRun, records: Sequence[str], *, is_folder: bool
) -> str:
    """The command that starts a review of exactly these examples, to be run where the EQA file
    is.
    """
    words = packaged.toml("claimlab.evaluate.eqa", "review.toml")
    data = shlex.quote(listed.path if is_folder else str(listed.dataset))
    task = "label" if run.table["rationale"].is_null().all() else "rationale"
    folder = f"review-{slug(run.name)}"
    start = words["folder" if is_folder else "table"].format(data=data, task=task, folder=folder)
    return " ".join(
        [start, *(shlex.quote(words["record"].format(record=record)) for record in records)]
    )


EXAMPLES = 25  # correct ones, and as many wrong ones
INPUT, RATIONALE = 600, 300  # characters shown


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

    @property
    def examples(self) -> list[JsonObject]:
        return [*self.correct, *self.wrong]

    def judged(self, record: str) -> str | None:
        """What annotators decided about an example, in a line; null where there is nothing yet."""
        judgement = self.judgements.get(record)
        return (judgement.words() if judgement is not None else None) or None

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


def read_runs(listed: RunFile, scoring: Scoring) -> list[ExaminedRun]:
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


def _with_examples(run: ScoredRun, seed: int) -> ExaminedRun:
    right = run.table.filter(pl.col("said") == pl.col("truth"))
    wrong = run.table.filter(pl.col("said") != pl.col("truth"))
    scores = {f.name: getattr(run, f.name) for f in fields(ScoredRun)}
    return ExaminedRun(**scores, correct=_draw(right, seed), wrong=_draw(wrong, seed))


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


Outcome = Literal["tested", "not-tested", "out-of-scope", "left-open"]
OUTCOMES: dict[str, Outcome] = {"out of scope": "out-of-scope", "left open": "left-open"}
ELSEWHERE = "its predictions were made elsewhere, so that what it was trained on is not recorded"


@dataclass(frozen=True)
class Test:
    """One run that tests a shift: how it does, and what it scores there."""

    run: str
    how: str
    records: int
    macro_f1: float | None
    interval: Interval | None
    baseline: float | None  # the best trivial one on the same records

    @property
    def above_baseline(self) -> bool:
        low = self.macro_f1 if self.interval is None else self.interval[0]
        return low is not None and self.baseline is not None and low > self.baseline

    def score(self) -> str:
        if self.macro_f1 is None:
            return f"no macro-F1 (one class) on {several(self.records, 'record')}"
        ends = (
            "no interval"
            if self.interval is None
            else "{:.1f} to {:.1f}".format(*(100 * e for e in self.interval))
        )
        above = "above" if self.above_baseline else "NOT above"
        scored = f"macro-F1 {100 * self.macro_f1:.1f} ({ends}) on {several(self.records, 'record')}"
        return scored if self.baseline is None else f"{scored}, {above} the best trivial baseline"


@dataclass(frozen=True)
class ShiftResult:
    """`contradicted` has what the author says of runs that do not test the shift."""

    shift: str
    scope: str
    outcome: Outcome
    tests: list[Test]
    contradicted: list[str]
    why: str

    def sentence(self) -> str:
        words = f"{self.shift} ({SHIFTS[self.shift].words})"
        if self.outcome == "not-tested":
            return f"{words} is in scope, and no run tests it. {self.why}"
        if self.outcome == "tested":
            runs = "; ".join(f"'{excerpt(t.run, 60)}', {t.how}: {t.score()}" for t in self.tests)
            return f"{words} is tested by {runs}."
        return f"{words}: {self.scope}."


def held_against(shifts: Shifts, runs: Sequence[ExaminedRun]) -> list[ShiftResult]:
    """One result for each shift of the form."""
    return [_result(name, promise, runs) for name, promise in shifts.each().items()]


def _result(name: str, promise: InScope, runs: Sequence[ExaminedRun]) -> ShiftResult:
    tests = [_test(name, run) for run in runs if name in run.tests.shifts]
    if promise.scope != "in scope":
        return ShiftResult(name, promise.scope, OUTCOMES[promise.scope], tests, [], "")
    claims = [
        sentence for claim in promise.tested_by for sentence in _contradicted(name, claim, runs)
    ]
    if tests:
        return ShiftResult(name, promise.scope, "tested", tests, claims, "")
    reasons = [f"'{excerpt(run.name, 60)}': {run.tests.reason()}." for run in runs] or [
        "No run was given."
    ]
    todo = f"To test it, use {SHIFTS[name].todo} and run the detector on that split."
    why = " ".join([*dict.fromkeys(reasons), todo])
    return ShiftResult(name, promise.scope, "not-tested", [], claims, why)


def _test(name: str, run: ExaminedRun) -> Test:
    how = run.tests.shifts[name]
    how = how if is_known_detector(run) else f"{how}; {ELSEWHERE}"
    result = run.result
    if result is None:
        return Test(run.name, how, 0, None, None, None)
    floor = max((b.macro_f1 for b in result.baselines if b.macro_f1 is not None), default=None)
    return Test(
        run.name, how, result.scores.n, result.scores.macro_f1, result.intervals["macro_f1"], floor
    )


def _contradicted(name: str, claim: str, runs: Sequence[ExaminedRun]) -> Iterator[str]:
    """What is wrong with the author's word that the run or split `claim` tests a shift."""
    mine = [run for run in runs if _is_named(run, claim)]
    shown = excerpt(claim, 60)
    if not mine:
        yield f"'{shown}' is said to test {name}, but no run or split has this name."
    for run in mine:
        if name not in run.tests.shifts:
            whose = "" if claim == run.name else f"'{excerpt(run.name, 60)}': "
            yield f"'{shown}' is said to test {name}, but does not: {whose}{run.tests.reason()}."


def _is_named(run: ExaminedRun, claim: str) -> bool:
    about = run.about
    return claim in (run.name, about.divided_by, about.division) or run.name.startswith(
        f"{claim}: "
    )


@dataclass(frozen=True)
class Evidence:
    """`audits[i]` are the audits made on exactly the records of `datasets[i]`; the others are
    `strays`.
    """

    study: Study
    datasets: list[Dataset]
    audits: list[list[Audit]]
    strays: list[Audit] = field(default_factory=list)
    runs: list[ExaminedRun] = field(default_factory=list)
    contamination: list[Contamination] = field(default_factory=list)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The runs beside each other: compared, joined over seeds, and dropped from random to
        held-out splits.
        """
        runs = [run for run in self.runs if run.result is not None]
        results = [run.result for run in runs if run.result is not None]
        if not runs:
            return None
        boards, pairs = rank_runs(runs)
        compared = [replace(c, p_ranks=pairs.get((c.first, c.second))) for c in compare_all(runs)]
        return Evaluation(results, compared, join_seeds(runs), drops(runs), boards=boards)

    @cached_property
    def scope(self) -> list[ShiftResult]:
        """Every shift of the form, held against what the runs test; empty where the author wrote no
        form.
        """
        return [] if self.study.shifts is None else held_against(self.study.shifts, self.runs)

    def every_audit(self) -> list[Audit]:
        return [a for mine in self.audits for a in mine]


def gather(study: Study, home: Path, *, progress: Progress = silent) -> Evidence:
    """Open what the study names; paths are relative to `home`, the folder of the study file."""
    folders = study.data.datasets
    datasets = []
    for i, folder in enumerate(folders):
        progress("datasets", i, len(folders))
        datasets.append(Dataset.open(home / folder))
    progress("datasets", len(folders), len(folders))
    digests = [d.digest() for d in datasets]
    saved = [a for path in study.data.audits for a in read_audits(home / path)]
    by_dataset = [[a for a in saved if a.digest == digest] for digest in digests]
    strays = [a for a in saved if a.digest not in digests]
    runs: list[ExaminedRun] = []
    scoring = Scoring(home, study.data.target, study.inspection.seed, datasets)
    for i, listed in enumerate(study.runs):
        progress("runs", i, len(study.runs))
        for run in read_runs(listed, scoring):
            run.evaluate(progress)
            runs.append(run)
    progress("runs", len(study.runs), len(study.runs))
    known = [read_contamination(home / path) for path in study.data.contamination]
    return Evidence(study, datasets, by_dataset, strays, runs, known)
